import Foundation
import VerificationSupport

/// Lets children write until the disk is full, a file may not grow, or no more files may be open.
struct Limits {
  private let options: Options

  init(_ options: Options) { self.options = options }

  private enum Limit: Sendable {
    /// A disk of that many KiB, which is given more room afterwards.
    case disk(Int)
    /// A limit that the shell's `ulimit` sets for one process.
    case shell(String)

    var words: [String] {
      guard case .shell(let text) = self else { return [] }
      return ["/bin/sh", "-c", "ulimit \(text); exec \"$@\"", "sh"]
    }
  }

  /// Runs all processes; returns whether nothing was lost.
  func run() throws -> Bool {
    let canMount = geteuid() == 0 && Limits.canMount()
    if !canMount { say("limits: no small disk can be mounted here, as only root may; skipped") }
    let disks = canMount ? (0..<16).map { Limit.disk(64 + $0 * 36) } : []
    let limits =
      disks + (1...24).map { .shell("-f \($0 * $0)") } + (3...12).map { .shell("-n \($0)") }
    let cases = ["store", "server"].flatMap { role in
      limits.map { ProcessCase(role: role, story: "\($0)", detail: $0) }
    }
    let tally = try ProcessTally.of(cases, jobs: options.seeds.jobs) { each, files, tally in
      try Limits.run(each.detail, files, &tally)
    }
    tally.report(
      "limits: \(cases.count) processes with a full disk, a short file or few descriptors, "
        + "\(tally.failed) of them stopped by it")
    return tally.violations.isEmpty && tally.failed > 0
  }

  private static func run(_ limit: Limit, _ files: ProcessFiles, _ tally: inout ProcessTally) throws
  {
    if case .disk(let size) = limit {
      guard mount(["-t", "tmpfs", "-o", "size=\(size)k", "none", files.folder.path]) else {
        return tally.violations.append("\(files.role) \(limit): no disk")
      }
    }
    defer { if case .disk = limit { _ = tool("umount", [files.folder.path]) } }
    for _ in 0..<3 { try files.run(prefix: limit.words, limit: 400, killAfter: nil) }
    tally.failed = files.failed
    if case .disk = limit {
      guard mount(["-o", "remount,size=16m", files.folder.path]) else {
        return tally.violations.append("\(files.role) \(limit): no more room")
      }
    }
    files.look()
    try files.run(limit: 5, killAfter: nil)
    if files.failed > tally.failed {
      tally.violations.append("\(files.role) \(limit): the next process fails")
    }
    files.look()
  }

  private static func canMount() -> Bool {
    guard let files = try? ProcessFiles("store"),
      mount(["-t", "tmpfs", "-o", "size=64k", "none", files.folder.path])
    else { return false }
    return tool("umount", [files.folder.path])
  }

  private static func mount(_ words: [String]) -> Bool { tool("mount", words) }

  private static func tool(_ name: String, _ words: [String]) -> Bool {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [name] + words
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }
}
