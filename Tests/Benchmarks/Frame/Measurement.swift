import VerificationSupport

/// The result of a benchmark.
struct Measurement: Codable, Sendable {
  /// The row of the table of goals, where it belongs to one.
  let row: String?
  /// The name without the row.
  let name: String
  /// The measured side.
  let subject: String
  /// The side that it was compared with.
  let reference: String
  /// Nanoseconds for one operation of the subject, the median.
  let subjectTime: Double
  /// Nanoseconds for one operation of the reference, the median.
  let referenceTime: Double
  /// The median over all pairs of the subject's time in units of the reference's.
  let ratio: Double
  /// The ratio below which a quarter of the pairs lie.
  let lowRatio: Double
  /// The ratio above which a quarter of the pairs lie.
  let highRatio: Double
  /// The ratio not to be above, where there is a goal.
  let goal: Double?
  /// The number of measured pairs.
  let rounds: Int
  /// The time below which 95 of 100 of the subject's lie.
  let slowSubjectTime: Double
  /// The unit of the times: nanoseconds, or bytes if memory was measured.
  let unit: MeasuredUnit

  /// Whether the goal was reached; `nil` where there is none.
  var isMet: Bool? { goal.map { ratio <= $0 } }
}

extension Benchmark {
  /// Runs both sides `rounds` times in pairs, each side first in every other pair, so that what
  /// disturbs the machine disturbs both.
  func measure(rounds asked: Int) async throws -> Measurement {
    let rounds = min(asked, rounds ?? asked)
    if warmsUp { _ = try await (subject.turn(), reference.turn()) }
    var subjectTimes: [Double] = []
    var referenceTimes: [Double] = []
    for round in 0..<rounds {
      if round.isMultiple(of: 2) { subjectTimes.append(try await subject.nanoseconds()) }
      referenceTimes.append(try await reference.nanoseconds())
      if !round.isMultiple(of: 2) { subjectTimes.append(try await subject.nanoseconds()) }
    }
    let ratios = zip(subjectTimes, referenceTimes).map { $0 / max($1, .leastNormalMagnitude) }
    return Measurement(
      row: row, name: question, subject: subject.name, reference: reference.name,
      subjectTime: quantile(0.5, of: subjectTimes),
      referenceTime: quantile(0.5, of: referenceTimes), ratio: quantile(0.5, of: ratios),
      lowRatio: quantile(0.25, of: ratios), highRatio: quantile(0.75, of: ratios), goal: goal,
      rounds: rounds, slowSubjectTime: quantile(0.95, of: subjectTimes), unit: unit)
  }
}

extension Side {
  /// The time of one operation in one turn.
  fileprivate func nanoseconds() async throws -> Double {
    try await turn() / .nanoseconds(1) / Double(max(1, operations))
  }
}
