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
        guard let gap = Gaps.gap(in: probe.answers, outage) else { continue }
        let isAbsent = absences.contains { absence in
          absence.server == probe.server && absence.start < gap.end && absence.end > gap.start
        }
        if isAbsent { continue }
        let length = gap.end - gap.start
        kind.longest = max(kind.longest, length)
        kind.excess = max(kind.excess, length - outage.inevitable)
      }
      figures[outage.kind] = kind
    }
  }

  /// The longest time without an answer that overlaps an interruption.
  private static func gap(
    in answers: [ContinuousClock.Instant], _ outage: Outage
  ) -> (start: ContinuousClock.Instant, end: ContinuousClock.Instant)? {
    zip(answers, answers.dropFirst()).filter { $0.1 >= outage.start && $0.0 <= outage.end }
      .map { (start: $0.0, end: $0.1) }.max { $0.end - $0.start < $1.end - $1.start }
  }
}
