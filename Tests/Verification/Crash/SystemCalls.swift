import Foundation
import VerificationSupport

/// Kills a child in the midst of its nth system call of a kind, or has that call fail.
///
/// Only calls on the child's own files count, so that no number is spent on what the loader does.
struct SystemCalls {
  private let options: Options
  /// Kinds of calls, each with how many of its calls are hit.
  private static let calls = [
    ("openat", 12), ("write", 25), ("pwrite64", 40), ("pread64", 20), ("fdatasync", 25),
    ("fsync", 6), ("ftruncate", 4), ("?rename,?renameat,?renameat2", 3), ("?unlink,?unlinkat", 3),
  ]
  private static let faults = ["signal=KILL", "error=EIO", "error=ENOSPC", "error=EINTR"]

  init(_ options: Options) { self.options = options }

  private struct Result: Sendable {
    var killed = 0
    var failed = 0
    var acknowledged = 0
    var violations: [String] = []
  }

  private struct Case: Sendable {
    var role: String
    var injection: String
  }

  /// Answers whether nothing was lost.
  func run() async -> Bool {
    let strace = ["/usr/bin/strace", "/bin/strace", "/usr/local/bin/strace"].first {
      FileManager.default.isExecutableFile(atPath: $0)
    }
    guard let strace else {
      say("calls: strace is not installed; skipped")
      return true
    }
    let cases = SystemCalls.cases
    let results = await atOnce(options.jobs, of: cases.count) {
      SystemCalls.run(cases[$0], strace)
    }
    let violations = results.flatMap(\.violations)
    let killed = results.reduce(0) { $0 + $1.killed }
    let failed = results.reduce(0) { $0 + $1.failed }
    conclude(
      "calls: \(cases.count) processes traced, \(killed) killed in a call, \(failed) ended by a "
        + "failing one, \(results.reduce(0) { $0 + $1.acknowledged }) changes acknowledged, "
        + "\(violations.count) violations")
    for violation in violations.prefix(10) { say("  " + violation) }
    // Where nothing was hit, nothing was tried.
    return violations.isEmpty && killed > 0 && failed > 0
  }

  private static var cases: [Case] {
    ["store", "server"].flatMap { role in
      calls.flatMap { call, count in
        faults.flatMap { fault in
          (1...count).map { Case(role: role, injection: "inject=\(call):\(fault):when=\($0)") }
        }
      }
    }
  }

  private static func run(_ hit: Case, _ strace: String) -> Result {
    var result = Result()
    do {
      let site = try Site(hit.role)
      // Something is there before it gets difficult.
      try site.run(limit: 5, killAfter: nil)
      let before = (site.killed, site.failed)
      try site.run(
        prefix: [strace, "-f", "-qq", "-o", "/dev/null", "-e", hit.injection]
          + site.paths.flatMap { ["-P", $0] },
        limit: 60, killAfter: nil)
      result.killed = site.killed - before.0
      result.failed = site.failed - before.1
      site.look()
      try site.run(limit: 5, killAfter: nil)
      site.look()
      if site.failed > before.1 + result.failed {
        result.violations.append("\(hit.injection): \(hit.role): the next process fails")
      }
      result.acknowledged = site.acknowledged.count
      result.violations += site.violations.map { "\(hit.injection): \($0)" }
    } catch {
      result.violations.append("\(hit.injection): no child can be run: \(error)")
    }
    return result
  }
}
