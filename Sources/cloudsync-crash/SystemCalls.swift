import Foundation

/// Kills a child in the midst of its nth system call of a kind, or has that call fail.
struct SystemCalls {
  private let options: Options
  private static let calls = ["write", "pwrite64", "fdatasync", "fsync", "rename", "openat"]
  private static let faults = ["signal=KILL", "error=EIO", "error=ENOSPC", "error=EINTR"]
  private static let upTo = 25

  init(_ options: Options) { self.options = options }

  /// Answers whether nothing was lost.
  func run() async -> Bool {
    let strace = ["/usr/bin/strace", "/bin/strace", "/usr/local/bin/strace"].first {
      FileManager.default.isExecutableFile(atPath: $0)
    }
    guard let strace else {
      print("calls: strace is not installed; skipped")
      return true
    }
    var cases: [(role: String, inject: String)] = []
    for role in ["store", "server"] {
      for call in SystemCalls.calls {
        for fault in SystemCalls.faults {
          for number in 1...SystemCalls.upTo {
            cases.append((role, "inject=\(call):\(fault):when=\(number)"))
          }
        }
      }
    }
    let violations = await atOnce(options.jobs, of: cases.count) { [cases] number -> [String] in
      let (role, inject) = cases[number]
      do {
        let site = try Site(role)
        // Something is there before it gets difficult.
        try site.run(round: 0, killAfter: 3_000)
        try site.run(
          round: 1, prefix: [strace, "-f", "-qq", "-o", "/dev/null", "-e", inject],
          killAfter: nil)
        site.look()
        try site.run(round: 2, killAfter: 3_000)
        site.look()
        return site.violations.map { "\(inject): \($0)" }
      } catch {
        return ["\(inject): no child can be run: \(error)"]
      }
    }.flatMap { $0 }
    print("calls: \(cases.count) processes with a system call hit, \(violations.count) violations")
    for violation in violations.prefix(10) { print("  " + violation) }
    return violations.isEmpty
  }
}
