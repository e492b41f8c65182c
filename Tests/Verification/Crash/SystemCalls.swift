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

  /// Answers whether nothing was lost.
  func run() throws -> Bool {
    let strace = ["/usr/bin/strace", "/bin/strace", "/usr/local/bin/strace"].first {
      FileManager.default.isExecutableFile(atPath: $0)
    }
    guard let strace else {
      say("calls: strace is not installed; skipped")
      return true
    }
    let cases = SystemCalls.cases
    let tally = try ProcessTally.of(cases, jobs: options.seeds.jobs) { each, files, tally in
      try SystemCalls.run(each.detail, strace, files, &tally)
    }
    tally.report(
      "calls: \(cases.count) processes traced, \(tally.killed) killed in a call, \(tally.failed) "
        + "ended by a failing one")
    // Where nothing was hit, nothing was tried.
    return tally.violations.isEmpty && tally.killed > 0 && tally.failed > 0
  }

  private static var cases: [ProcessCase<String>] {
    ["store", "server"].flatMap { role in
      calls.flatMap { call, count in
        faults.flatMap { fault in
          (1...count).map { number in
            let injection = "inject=\(call):\(fault):when=\(number)"
            return ProcessCase(role: role, story: injection, detail: injection)
          }
        }
      }
    }
  }

  private static func run(
    _ injection: String, _ strace: String, _ files: ProcessFiles, _ tally: inout ProcessTally
  ) throws {
    // The files exist before the call is hit.
    try files.run(limit: 5, killAfter: nil)
    let before = (files.killed, files.failed)
    try files.run(
      prefix: [strace, "-f", "-qq", "-o", "/dev/null", "-e", injection]
        + files.paths.flatMap { ["-P", $0] },
      limit: 60, killAfter: nil)
    tally.killed = files.killed - before.0
    tally.failed = files.failed - before.1
    files.look()
    try files.run(limit: 5, killAfter: nil)
    files.look()
    if files.failed > before.1 + tally.failed {
      tally.violations.append("\(injection): \(files.role): the next process fails")
    }
  }
}
