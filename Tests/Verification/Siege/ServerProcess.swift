import Foundation
import VerificationSupport

/// The besieged server, as a process that can be watched from outside.
final class ServerProcess {
  let keys: ServerRole.Keys
  private let process = Process()
  private let input = Pipe()
  private let folder: URL?

  /// Starts this very program in the role of the server.
  init(_ storage: Options.Storage) throws {
    var words = try SiegeCommand.childWords(["server"])
    switch storage {
    case .memory: folder = nil
    case .file:
      let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("cloudsync-siege-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      words.append(folder.appendingPathComponent("siege.sqlite").path)
      self.folder = folder
    }
    process.executableURL = URL(fileURLWithPath: words[0])
    process.arguments = Array(words.dropFirst())
    let output = Pipe()
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    var line: [UInt8] = []
    while line.last != 10 {
      let byte = output.fileHandleForReading.readData(ofLength: 1)
      guard !byte.isEmpty else { throw SiegeFault("the server did not start") }
      line += byte
    }
    guard let keys = ServerRole.Keys(line: String(decoding: line.dropLast(), as: UTF8.self)) else {
      throw SiegeFault("the server said something else than its keys")
    }
    self.keys = keys
  }

  /// The process, by its number.
  var id: Int32 { process.processIdentifier }

  /// Whether it still runs: the very process that was started.
  var isRunning: Bool { process.isRunning }

  /// The memory it occupies, in KiB; 0 where the system does not say it in files.
  var residentKilobytes: Int {
    guard let data = FileManager.default.contents(atPath: "/proc/\(id)/status") else { return 0 }
    let line = String(decoding: data, as: UTF8.self).split(separator: "\n")
      .first { $0.hasPrefix("VmRSS:") }
    return line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
      .flatMap { Int($0) } ?? 0
  }

  /// How many descriptors it holds; 0 where the system does not say it in files.
  var descriptorCount: Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/fd").count) ?? 0
  }

  /// The seconds of processor time it has used; 0 where the system does not say it in files.
  var processorSeconds: Double {
    guard let data = FileManager.default.contents(atPath: "/proc/\(id)/stat") else { return 0 }
    let words = String(decoding: data, as: UTF8.self).split(separator: " ").map(String.init)
    guard words.count > 14, let user = Double(words[13]), let system = Double(words[14]) else {
      return 0
    }
    return (user + system) / 100
  }

  /// Ends it and waits for its end; how it ended, 0 for well.
  func stop() -> Int32 {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
    if let folder { try? FileManager.default.removeItem(at: folder) }
    return process.terminationReason == .exit ? process.terminationStatus : -1
  }
}
