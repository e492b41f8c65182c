/// For how long nothing was answered, by the kind of interruption.
struct Gaps {
  /// The number of each kind, the longest gap, and the longest part that was not inevitable.
  struct Figures {
    var count = 0
    var longest = Duration.zero
    var excess = Duration.zero
    var commits = 0
  }

  private(set) var figures: [Interruption: Figures] = [:]

  /// - Parameters:
  ///   - outages: The interruptions.
  ///   - absences: When each server was not there.
  ///   - probes: The answers of each server; of any, without a number.
  init(
    _ outages: [Outage],
    absences: [(server: Int, start: ContinuousClock.Instant, end: ContinuousClock.Instant)],
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
          kind.excess = max(kind.excess, gap.end - gap.start - Gaps.inevitable(in: gap, outage))
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
}
