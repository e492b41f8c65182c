import Foundation
import VerificationSupport

/// Lets children write until the disk is full, a file may not grow, or no more files may be open.
struct Limits {
  private let options: Options

  init(_ options: Options) { self.options = options }

  private struct Result: Sendable {
    var failed = 0
    var acknowledged = 0
    var violations: [String] = []
  }

  private enum Limit: Sendable {
    /// A disk of that many KiB, which is given more room afterwards.
    case disk(Int)
    /// What the shell's `ulimit` takes away from one process.
    case shell(String)

    var words: [String] {
      guard case .shell(let text) = self else { return [] }
      return ["/bin/sh", "-c", "ulimit \(text); exec \"$@\"", "sh"]
    }
  }

  /// Answers whether nothing was lost.
  func run() async -> Bool {
    let canMount = geteuid() == 0 && Limits.canMount()
    if !canMount { say("limits: no small disk can be mounted here, as only root may; skipped") }
    var cases: [(role: String, limit: Limit)] = []
    for role in ["store", "server"] {
      if canMount { for size in 0..<16 { cases.append((role, .disk(64 + size * 36))) } }
      for blocks in 1...24 { cases.append((role, .shell("-f \(blocks * blocks)"))) }
      for files in 3...12 { cases.append((role, .shell("-n \(files)"))) }
    }
    let results = await atOnce(options.jobs, of: cases.count) { [cases] number in
      Limits.run(cases[number].role, cases[number].limit)
    }
    let violations = results.flatMap(\.violations)
    let failed = results.reduce(0) { $0 + $1.failed }
    conclude(
      "limits: \(cases.count) processes with a full disk, a short file or few descriptors, "
        + "\(failed) of them stopped by it, \(results.reduce(0) { $0 + $1.acknowledged }) changes "
        + "acknowledged, \(violations.count) violations")
    for violation in violations.prefix(10) { say("  " + violation) }
    return violations.isEmpty && failed > 0
  }

  private static func run(_ role: String, _ limit: Limit) -> Result {
    var result = Result()
    do {
      let site = try Site(role)
      if case .disk(let size) = limit {
        guard mount(["-t", "tmpfs", "-o", "size=\(size)k", "none", site.folder.path]) else {
          result.violations.append("\(role) \(limit): no disk")
          return result
        }
      }
      defer { if case .disk = limit { _ = tool("umount", [site.folder.path]) } }
      for _ in 0..<3 { try site.run(prefix: limit.words, limit: 400, killAfter: nil) }
      result.failed = site.failed
      if case .disk = limit {
        guard mount(["-o", "remount,size=16m", site.folder.path]) else {
          result.violations.append("\(role) \(limit): no more room")
          return result
        }
      }
      site.look()
      try site.run(limit: 5, killAfter: nil)
      if site.failed > result.failed {
        result.violations.append("\(role) \(limit): the next process fails")
      }
      site.look()
      result.acknowledged = site.acknowledged.count
      result.violations += site.violations.map { "\(limit): \($0)" }
    } catch {
      result.violations.append("\(role) \(limit): no child can be run: \(error)")
    }
    return result
  }

  private static func canMount() -> Bool {
    guard let site = try? Site("store"),
      mount(["-t", "tmpfs", "-o", "size=64k", "none", site.folder.path])
    else { return false }
    return tool("umount", [site.folder.path])
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
