import CloudSync
import CloudSyncTesting
import Foundation
import LoopbackServer

/// A folder that one child after the other writes in, and what they said was safe.
final class Site {
  let folder: URL
  let role: String
  private(set) var acknowledged: Set<String> = []
  private(set) var violations: [String] = []
  private(set) var killed = 0

  init(_ role: String) throws {
    self.role = role
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("cloudsync-crash-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// Runs a child behind the words of `prefix`, kills it after a while, and notes what it said.
  func run(round: Int, prefix: [String] = [], killAfter microseconds: Int?) throws {
    guard let program = Bundle.main.executablePath else { return }
    let words = prefix + [program, "child", role, folder.path, String(round)]
    let process = Process()
    process.executableURL = URL(fileURLWithPath: words[0])
    process.arguments = Array(words.dropFirst())
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
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
    if process.terminationReason == .uncaughtSignal { killed += 1 }
    // What stands before a line's end was said as a whole.
    let lines = String(decoding: text, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false)
    acknowledged.formUnion(lines.dropLast().map(String.init).filter { $0 != "open" })
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
    let entries = try store.load()?.entries ?? []
    return Set(entries.map { String(decoding: $0.prefix { $0 != 32 }, as: UTF8.self) })
  }

  private func served() throws -> Set<String> {
    let server = try LoopbackServer(path: folder.appendingPathComponent("cloud.sqlite").path)
    defer { server.close() }
    return Set(try CrashClient.names(server))
  }
}
