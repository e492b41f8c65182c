import CloudSync
import Foundation
import LoopbackServer
import SimulationSupport
import VerificationSupport

/// A folder that one child after the other writes in, and what they said was safe.
final class ProcessFiles {
  let folder: URL
  let role: String
  private(set) var acknowledged: Set<String> = []
  private(set) var violations: [String] = []
  private(set) var killed = 0
  /// The number of processes that ended because of a failure.
  private(set) var failed = 0
  private var round = 0

  init(_ role: String) throws {
    self.role = role
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("cloudsync-crash-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// The files a child may touch.
  var paths: [String] {
    let names =
      role == "store"
      ? ["state", "state.new", "state.lock"]
      : ["cloud.sqlite", "cloud.sqlite-wal", "cloud.sqlite-shm", "cloud.sqlite-journal"]
    return [folder.path] + names.map { folder.appendingPathComponent($0).path }
  }

  /// Runs a child behind the words of `prefix`, kills it after a while, and notes what it said.
  ///
  /// It ends by itself after `limit` changes.
  func run(prefix: [String] = [], limit: Int = 100_000, killAfter microseconds: Int?) throws {
    let words =
      try prefix
      + CrashCommand.childWords(["child", role, folder.path, String(round), String(limit)])
    round += 1
    let process = Process()
    process.executableURL = URL(fileURLWithPath: words[0])
    process.arguments = Array(words.dropFirst())
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    // Where it traps for lack of descriptors, no second program is to look into it.
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["SWIFT_BACKTRACE": "enable=no"]) { $1 }
    try process.run()
    let reader = output.fileHandleForReading
    var text = Data()
    if let microseconds {
      // Counted from when it starts to write: before that there is little to lose.
      text += reader.availableData
      usleep(UInt32(microseconds))
      kill(process.processIdentifier, SIGKILL)
    }
    text += try reader.readToEnd() ?? Data()
    process.waitUntilExit()
    if process.terminationReason == .uncaughtSignal {
      killed += 1
    } else if process.terminationStatus != 0 {
      failed += 1
    }
    // What stands before a line's end was said as a whole.
    let lines = String(decoding: text, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false)
    acknowledged.formUnion(lines.dropLast().map(String.init).filter(ProcessFiles.isName))
  }

  /// Whether a child says that this is safe; the system may say something in its place.
  private static func isName(_ line: String) -> Bool {
    let parts = line.split(separator: "-", omittingEmptySubsequences: false)
    return parts.count == 2 && parts.allSatisfy { Int($0) != nil }
  }

  /// Opens what the children left, and looks for all they said.
  func look() {
    do {
      let missing = acknowledged.subtracting(try role == "store" ? stored() : served())
      if !missing.isEmpty {
        violations.append("\(role): \(missing.count) acknowledged changes are lost")
      }
    } catch {
      // Where nothing was ever written there is nothing to open.
      if !acknowledged.isEmpty { violations.append("\(role): does not open: \(error)") }
    }
  }

  private func stored() throws -> Set<String> {
    let store = try FileStateStore(url: folder.appendingPathComponent("state"))
    return Set(StoredNames.of(try store.load()))
  }

  private func served() throws -> Set<String> {
    let server = try LoopbackServer(path: folder.appendingPathComponent("cloud.sqlite").path)
    defer { server.close() }
    return Set(try CrashClient.texts(of: server).keys)
  }
}
