import Foundation
import VerificationSupport

/// A folder that one child after the other writes in, and what they said was safe.
final class ProcessFiles {
  let role: ProcessRole
  private(set) var tally = ProcessTally()
  private let temporaryFolder: TemporaryFolder
  private var acknowledged: Set<String> = []
  private var round = 0

  init(_ role: ProcessRole) throws {
    self.role = role
    temporaryFolder = try TemporaryFolder("crash")
  }

  var folder: URL { temporaryFolder.url }

  /// Adds a violation.
  func violation(_ text: String) { tally.violations.append("\(role): \(text)") }

  /// Runs a child behind the words of `prefix`, and notes what it said and how it ended.
  ///
  /// It ends by itself after `limit` changes, and is killed `microseconds` after it began to write.
  func run(
    prefix: [String] = [], limit: Int = 100_000, killAfter microseconds: Int? = nil
  ) throws {
    let status = try run(prefix, limit, microseconds)
    if status < 0 { tally.killed += 1 }
    if status > 0 { tally.failed += 1 }
  }

  /// Runs a child that nothing disturbs, and then looks for all that was safe.
  func runUndisturbed() throws {
    if try run([], 5, nil) > 0 { violation("a process that nothing disturbs fails") }
    look()
  }

  /// Answers the exit code, or the signal with a minus sign.
  private func run(
    _ prefix: [String], _ limit: Int, _ microseconds: Int?
  ) throws -> Int32 {
    let words =
      try prefix
      + CrashCommand.childWords(["child", role.rawValue, folder.path, "\(round)", "\(limit)"])
    round += 1
    let output = Pipe()
    // Where it traps for lack of descriptors, no second program is to look into it.
    let process = try Process.start(
      words, environment: ["SWIFT_BACKTRACE": "enable=no"], output: output)
    let reader = output.fileHandleForReading
    var text = Data()
    if let microseconds {
      // Counted from when it starts to write: before that there is little to lose.
      text += reader.availableData
      usleep(UInt32(microseconds))
      kill(process.processIdentifier, SIGKILL)
    }
    text += try reader.readToEnd() ?? Data()
    // What stands before a line's end was said as a whole.
    let lines = String(decoding: text, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false)
    acknowledged.formUnion(lines.dropLast().map(String.init).filter(Self.isName))
    tally.acknowledged = acknowledged.count
    return process.end()
  }

  /// Whether a child says that this is safe; the system may say something in its place.
  private static func isName(_ line: String) -> Bool {
    let parts = line.split(separator: "-", omittingEmptySubsequences: false)
    return parts.count == 2 && parts.allSatisfy { Int($0) != nil }
  }

  /// Opens what the children left, and looks for all they said.
  func look() {
    do {
      let missing = acknowledged.subtracting(try role.names(in: folder))
      if !missing.isEmpty { violation("\(missing.count) acknowledged changes are lost") }
    } catch {
      // Where nothing was ever written there is nothing to open.
      if !acknowledged.isEmpty { violation("does not open: \(error)") }
    }
  }
}

/// The results of child processes.
struct ProcessTally: Sendable {
  var killed = 0
  /// The number of processes that ended because of a failure.
  var failed = 0
  var acknowledged = 0
  var violations: [String] = []

  /// Prints a line of figures and the first violations; returns whether there are none.
  func report(_ figures: String) -> Bool {
    conclude("\(figures), \(acknowledged) changes acknowledged, \(violations.count) violations")
    for violation in violations.prefix(10) { say("  " + violation) }
    return violations.isEmpty
  }
}

/// A test of the child processes of one folder.
struct ProcessTest: Sendable {
  var role: ProcessRole
  /// The name of the test in a report.
  var name: String
  /// Starts the processes, disturbs them, and looks for what they said.
  var body: @Sendable (ProcessFiles) throws -> Void

  /// Runs tests on several threads; returns their combined results.
  static func run(_ tests: [ProcessTest], jobs: Int) throws -> ProcessTally {
    try runOnThreads(jobs, count: tests.count, into: ProcessTally()) { number in
      let files = try ProcessFiles(tests[number].role)
      do {
        try tests[number].body(files)
      } catch {
        files.violation("no child can be run: \(error)")
      }
      return files.tally
    } combine: { sum, number, tally in
      sum.killed += tally.killed
      sum.failed += tally.failed
      sum.acknowledged += tally.acknowledged
      sum.violations += tally.violations.map { "\(tests[number].name): \($0)" }
    }
  }
}
