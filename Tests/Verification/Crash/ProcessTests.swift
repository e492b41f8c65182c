import Foundation
import SimulationSupport
import VerificationSupport

/// The modes with child processes; each returns whether nothing was lost.
struct ProcessTests {
  let options: Options

  // MARK: Kills

  /// The longest time that a process may write, in microseconds.
  private static let lifetime = 60_000
  /// The number of kills before a new folder: old files take long to open.
  private static let killsPerFolder = 40

  /// Kills processes while they write, again and again on the same files.
  func kills() throws -> Bool {
    let count = max(2, (options.kills + Self.killsPerFolder - 1) / Self.killsPerFolder)
    var killed = 0
    var isGood = true
    for (index, role) in ProcessRole.allCases.enumerated() {
      let tests = stride(from: index, to: count, by: 2).map { number in
        let kills = options.kills * (number + 1) / count - options.kills * number / count
        return ProcessTest(role: role, name: "folder \(number)") { files in
          var random = SeededRandom(seed: UInt64(number))
          // A process that ended by itself before it was killed does not count.
          var round = 0
          while files.tally.killed < kills, round < kills * 2 + 10 {
            try files.run(killAfter: random.below(Self.lifetime))
            round += 1
            if round % 8 == 0 { files.look() }
          }
          files.look()
        }
      }
      let tally = try ProcessTest.run(tests, jobs: options.seeds.jobs)
      isGood = tally.report("kills (\(role)): \(tally.killed) processes killed") && isGood
      killed += tally.killed
    }
    return isGood && killed >= options.kills
  }

  // MARK: System calls

  /// Kinds of calls, each with how many of its calls are hit.
  private static let calls = [
    ("openat", 12), ("write", 25), ("pwrite64", 40), ("pread64", 20), ("fdatasync", 25),
    ("fsync", 6), ("ftruncate", 4), ("?rename,?renameat,?renameat2", 3), ("?unlink,?unlinkat", 3),
  ]
  private static let faults = ["signal=KILL", "error=EIO", "error=ENOSPC", "error=EINTR"]

  /// Kills a child in the midst of its nth system call of a kind, or has that call fail.
  ///
  /// Only calls on the child's own files count, so that no number is spent on what the loader does.
  func systemCalls() throws -> Bool {
    let strace = ["/usr/bin/strace", "/bin/strace", "/usr/local/bin/strace"].first {
      FileManager.default.isExecutableFile(atPath: $0)
    }
    guard let strace else {
      say("calls: strace is not installed; skipped")
      return true
    }
    let injections = Self.calls.flatMap { call, count in
      Self.faults.flatMap { fault in
        (1...count).map { "inject=\(call):\(fault):when=\($0)" }
      }
    }
    let tests = ProcessRole.allCases.flatMap { role in
      injections.map { injection in
        ProcessTest(role: role, name: injection) { files in
          // The files exist before the call is hit.
          try files.runUndisturbed()
          let words = [strace, "-f", "-qq", "-o", "/dev/null", "-e", injection]
          let paths = role.paths(in: files.folder)
          try files.run(prefix: words + paths.flatMap { ["-P", $0] }, limit: 60)
          files.look()
          try files.runUndisturbed()
        }
      }
    }
    let tally = try ProcessTest.run(tests, jobs: options.seeds.jobs)
    let isGood = tally.report(
      "calls: \(tests.count) processes traced, \(tally.killed) killed in a call, \(tally.failed) "
        + "ended by a failing one")
    // Where nothing was hit, nothing was tried.
    return isGood && tally.killed > 0 && tally.failed > 0
  }

  // MARK: Limits

  /// Lets children write until the disk is full, a file may not grow, or no more files may be open.
  func limits() throws -> Bool {
    let shell = (1...24).map { "-f \($0 * $0)" } + (3...12).map { "-n \($0)" }
    var disks = Array(stride(from: 64, to: 640, by: 36))
    if geteuid() != 0 || !Self.canMount() {
      say("limits: no small disk can be mounted here, as only root may; skipped")
      disks = []
    }
    let tests = ProcessRole.allCases.flatMap { role in
      disks.map { size in
        ProcessTest(role: role, name: "disk of \(size) KiB") { try Self.fillDisk(size, $0) }
      }
        + shell.map { limit in
          ProcessTest(role: role, name: "ulimit \(limit)") { files in
            try Self.fill(files, behind: ["/bin/sh", "-c", "ulimit \(limit); exec \"$@\"", "sh"])
            files.look()
            try files.runUndisturbed()
          }
        }
    }
    let tally = try ProcessTest.run(tests, jobs: options.seeds.jobs)
    let isGood = tally.report(
      "limits: \(tests.count) processes with a full disk, a short file or few descriptors, "
        + "\(tally.failed) of them stopped by it")
    return isGood && tally.failed > 0
  }

  private static func fill(_ files: ProcessFiles, behind prefix: [String] = []) throws {
    for _ in 0..<3 { try files.run(prefix: prefix, limit: 400) }
  }

  /// Fills a disk of `size` KiB, which is given more room afterwards.
  private static func fillDisk(_ size: Int, _ files: ProcessFiles) throws {
    guard try mount("size=\(size)k", on: files) else { return files.violation("no disk") }
    defer { unmount(files) }
    try fill(files)
    guard try mount("remount,size=16m", on: files) else { return files.violation("no more room") }
    files.look()
    try files.runUndisturbed()
  }

  private static func canMount() -> Bool {
    guard let files = try? ProcessFiles(.store), (try? mount("size=64k", on: files)) == true
    else { return false }
    return unmount(files)
  }

  private static func mount(_ options: String, on files: ProcessFiles) throws -> Bool {
    let words = ["mount", "-t", "tmpfs", "-o", options, "none", files.folder.path]
    return try Process.start(words).end() == 0
  }

  @discardableResult
  private static func unmount(_ files: ProcessFiles) -> Bool {
    (try? Process.start(["umount", files.folder.path]).end()) == 0
  }
}
