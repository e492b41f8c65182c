extension DelegateConformance {
  /// The outcome of one run with a crash.
  private struct CrashOutcome: Sendable {
    var step = 0
    /// The number of steps of the run.
    var steps: Int
    var finding: (defect: DelegateDefect, detail: String)?
  }

  /// The number of concurrent runs, which mostly wait for the disk.
  private static let width = 4

  func crashes(_ report: inout ConformanceReport) async throws {
    let healthy = try await crash(at: nil)
    if let finding = healthy.finding { return report.add(finding.defect, finding.detail) }
    // Some apps take very many steps; a few hundred crashes say as much as thousands.
    let stride = max(1, healthy.steps / 200)
    var left = Array(Swift.stride(from: 0, to: healthy.steps, by: stride))[...]
    report.crashCount += left.count
    let outcomes = try await withThrowingTaskGroup(of: CrashOutcome.self) { group in
      var outcomes: [CrashOutcome] = []
      for step in left.prefix(Self.width) { group.addTask { try await crash(at: step) } }
      left = left.dropFirst(Self.width)
      while let outcome = try await group.next() {
        outcomes.append(outcome)
        if let step = left.popFirst() { group.addTask { try await crash(at: step) } }
      }
      return outcomes
    }
    for outcome in outcomes.sorted(by: { $0.step < $1.step }) {
      if let finding = outcome.finding { report.add(finding.defect, finding.detail) }
    }
  }

  /// Lives through a short story in which the app crashes once.
  private func crash(at step: Int?) async throws -> CrashOutcome {
    let cloud = world()
    let device = try await device("first", in: cloud)
    let other = try await self.device("second", in: cloud)
    try await other.write("1", as: "made elsewhere")
    try await other.settle()
    device.plan(crashAt: step)
    try await device.surely { try await device.write("1", as: "a") }
    if canDelete { try await device.surely { try await device.write("1", as: "deleted here") } }
    try await device.sync()
    try await device.recover()
    try await other.settle()
    try await other.write("1", as: "made later")
    try await other.settle()
    if canEdit { try await device.surely { try await device.write("2", as: "a") } }
    try await device.surely { try await device.write("1", as: "b") }
    if canDelete { try await device.surely { try await device.delete("deleted here") } }
    try await device.sync()
    try await device.recover()
    let plan = device.plan
    try await device.settle()
    try await device.recover()
    try await device.settle()
    var outcome = CrashOutcome(step: step ?? 0, steps: plan.steps)
    let expected = [
      "a": canEdit ? "2" : "1", "b": "1", "made elsewhere": "1", "made later": "1",
    ]
    for seen in [try await device.items(), try await witness(in: cloud)] {
      guard let difference = difference(seen, from: expected) else { continue }
      var kept = seen
      kept["deleted here"] = nil
      let cameBack = self.difference(kept, from: expected) == nil
      let place =
        step.map { "a crash at step \($0), \(plan.crashedIn ?? "which was not reached")" }
        ?? "without a crash"
      outcome.finding = (
        cameBack ? .crashBringsBackDeletedItems : .crashLosesEdits, "\(place): \(difference)"
      )
      break
    }
    return outcome
  }
}
