import Foundation

/// For how long nothing was answered, by the kind of interruption.
struct Gaps {
  /// The number of each kind, the longest gap, and the longest part that was not inevitable.
  struct Figures {
    var count = 0
    var longest = Duration.zero
    var excess = Duration.zero
    /// Who had no answer in the gap of which the longest part was not inevitable, and what happened
    /// meanwhile.
    var circumstances = ""
    var commits = 0
  }

  /// The time in which a server was not there.
  typealias Absence = (server: Int, start: ContinuousClock.Instant, end: ContinuousClock.Instant)

  private(set) var figures: [Interruption: Figures] = [:]

  /// - Parameters:
  ///   - outages: The interruptions.
  ///   - absences: When each server was not there.
  ///   - probes: The answers of each server; of any, without a number.
  init(
    _ outages: [Outage],
    absences: [Absence],
    probes: [(server: Int?, answers: [ContinuousClock.Instant])]
  ) {
    for outage in outages {
      var kind = figures[outage.kind] ?? Figures()
      kind.count += 1
      kind.commits += outage.commits
      for probe in probes {
        // A kill of one server is none of the service.
        if outage.kind == .server, probe.server != nil { continue }
        for gap in Gaps.gaps(in: probe.answers, outage) {
          let isAbsent = absences.contains { absence in
            absence.server == probe.server && absence.start < gap.end && absence.end > gap.start
          }
          if isAbsent { continue }
          kind.longest = max(kind.longest, gap.end - gap.start)
          let excess = gap.end - gap.start - Gaps.inevitable(in: gap, outage)
          if excess <= kind.excess { continue }
          kind.excess = excess
          kind.circumstances = Gaps.circumstances(gap, probe.server, outages, absences)
        }
      }
      figures[outage.kind] = kind
    }
  }

  private typealias Gap = (start: ContinuousClock.Instant, end: ContinuousClock.Instant)

  /// The times without an answer that overlap an interruption.
  private static func gaps(in answers: [ContinuousClock.Instant], _ outage: Outage) -> [Gap] {
    zip(answers, answers.dropFirst()).filter { $0.1 >= outage.start && $0.0 <= outage.end }
      .map { (start: $0.0, end: $0.1) }
  }

  /// For how long of a gap nothing can have been answered: no longer than the gap overlaps the
  /// interruption.
  private static func inevitable(in gap: Gap, _ outage: Outage) -> Duration {
    let overlap = min(gap.end, outage.end) - max(gap.start, outage.start)
    return min(outage.inevitable, max(.zero, overlap))
  }

  /// What happened in a gap, with times in seconds from its beginning.
  private static func circumstances(
    _ gap: Gap, _ server: Int?, _ outages: [Outage], _ absences: [Absence]
  ) -> String {
    func times(_ start: ContinuousClock.Instant, _ end: ContinuousClock.Instant) -> String {
      String(
        format: "%.2f to %.2f", (start - gap.start) / .seconds(1), (end - gap.start) / .seconds(1))
    }
    let events =
      outages.filter { $0.start < gap.end && $0.end > gap.start }
      .map { "\($0.kind) \(times($0.start, $0.end))" }
      + absences.filter { $0.start < gap.end && $0.end > gap.start }
      .map { "server \($0.server) absent \(times($0.start, $0.end))" }
    return "no answer from \(server.map { "server \($0)" } ?? "any server") "
      + times(gap.start, gap.end) + " s; " + events.joined(separator: ", ")
  }
}
