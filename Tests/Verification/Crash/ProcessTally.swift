import VerificationSupport

/// A case of child processes that are killed or fail: what they write, and the rest of the case.
struct ProcessCase<Detail: Sendable>: Sendable {
  /// `store` or `server`.
  var role: String
  /// The name of the case in a report.
  var story: String
  var detail: Detail
}

/// The combined results of child processes.
struct ProcessTally: Sendable {
  var killed = 0
  var failed = 0
  var acknowledged = 0
  var violations: [String] = []

  /// Runs `body` for each case on several threads, each in a folder of its own.
  static func of<Detail>(
    _ cases: [ProcessCase<Detail>], jobs: Int,
    _ body: @Sendable (ProcessCase<Detail>, ProcessFiles, inout ProcessTally) throws -> Void
  ) throws -> ProcessTally {
    try runOnThreads(jobs, count: cases.count, into: ProcessTally()) { number in
      let (each, story) = (cases[number], cases[number].story)
      var tally = ProcessTally()
      do {
        let files = try ProcessFiles(each.role)
        try body(each, files, &tally)
        tally.acknowledged = files.acknowledged.count
        tally.violations += files.violations.map { "\(story): \($0)" }
      } catch {
        tally.violations.append("\(story): \(each.role): no child can be run: \(error)")
      }
      return tally
    } combine: { sum, _, tally in
      sum.killed += tally.killed
      sum.failed += tally.failed
      sum.acknowledged += tally.acknowledged
      sum.violations += tally.violations
    }
  }

  /// Prints a line of figures and the first violations.
  func report(_ figures: String) {
    conclude("\(figures), \(acknowledged) changes acknowledged, \(violations.count) violations")
    for violation in violations.prefix(10) { say("  " + violation) }
  }
}
