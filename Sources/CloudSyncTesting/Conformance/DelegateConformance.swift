public import CloudSync

/// Tests an app's sync under faults, conflicts, account changes and crashes, and reports lost data.
///
/// ```swift
/// let suite = DelegateConformance("Notes", zone: Notes.zone.zoneID) { try TestedNotes($0) }
/// try await suite.run().check()
/// ```
///
/// Each case has its own cloud and initially empty devices. The final content of the server is
/// examined through a new device. No case waits for real time.
public struct DelegateConformance: Sendable, CustomStringConvertible {
  /// The name of the app in the report.
  public let name: String

  /// The zone of the app's items.
  ///
  /// Cases that delete the zone are skipped for the default zone.
  public let zone: CKRecordZone.ID

  /// Whether the app's users can change an existing item.
  public let canEdit: Bool

  /// Whether the app's users can delete an item.
  public let canDelete: Bool

  /// Whether items can be created before the first sign-in.
  public let worksSignedOut: Bool

  /// Known defects of the app, which are reported without failing.
  public let tolerated: Set<DelegateDefect>

  let launch: @Sendable (AppSurroundings) async throws -> any ConformingApp

  /// Creates a suite for an app.
  ///
  /// - Parameters:
  ///   - name: the app's name.
  ///   - zone: the zone of the app's items; some cases delete it.
  ///   - canEdit: whether items can be changed; if not, two devices create different items of
  ///     the same name instead.
  ///   - canDelete: whether items can be deleted.
  ///   - worksSignedOut: whether items can be created before the first sign-in.
  ///   - tolerated: known defects of the app.
  ///   - launch: launches the app with the given folder, container and clock.
  public init(
    _ name: String, zone: CKRecordZone.ID, canEdit: Bool = true, canDelete: Bool = true,
    worksSignedOut: Bool = true, tolerating tolerated: Set<DelegateDefect> = [],
    launch: @escaping @Sendable (AppSurroundings) async throws -> any ConformingApp
  ) {
    self.name = name
    self.zone = zone
    self.canEdit = canEdit
    self.canDelete = canDelete
    self.worksSignedOut = worksSignedOut
    self.tolerated = tolerated
    self.launch = launch
  }

  /// Runs the cases, several scenarios at a time, and those about accounts one after the other.
  ///
  /// The same app gives the same report in every run, if its work runs where its callers run: that
  /// of the main actor or of an executor of the app's own runs beside the scenario. When the task
  /// is cancelled, no scenario begins any more, and the report does not conform.
  /// - Parameter cases: the cases to run; all by default.
  /// - Returns: the findings. An app that throws without a fault has a finding in that case.
  public func run(_ cases: [ConformanceCase] = ConformanceCase.allCases) async -> ConformanceReport
  {
    var report = ConformanceReport(name: name, tolerated: tolerated)
    if cases.contains(.goodDay) {
      await run(scenarios(of: .goodDay), &report)
      // The other cases would only repeat these findings.
      if !report.defects.isDisjoint(with: [.doesNotSync, .itemsInAnotherZone]) { return report }
    }
    await run(cases.filter { $0 != .goodDay }.flatMap(scenarios), &report)
    report.passed = cases.filter { applies($0) && report.hasPassed($0) }
    report.finish()
    return report
  }

  /// Runs one scenario, as the report of a finding names it.
  ///
  /// ```swift
  /// let report = try await suite.run(only: "refusedSaves/limitExceeded")
  /// ```
  ///
  /// - Parameter name: the case, a slash and the scenario.
  /// - Throws: `ConformanceFailure` when there is no such scenario, with the names of the case.
  public func run(only name: String) async throws -> ConformanceReport {
    let parts = name.split(separator: "/", maxSplits: 1).map(String.init)
    let one = parts.first.flatMap(ConformanceCase.init)
    var known = one.map { scenarios(of: $0) } ?? []
    if one == .crashes, let step = parts.last.flatMap({ Int($0) }), step >= 0 {
      known.append(crashScenario(at: step))
    }
    guard let scenario = known.first(where: { $0.name == name }) else {
      let names = one == nil ? ConformanceCase.allCases.map(\.rawValue) : known.map(\.name)
      throw ConformanceFailure(
        description: "There is no scenario \"\(name)\". Use one of \(names).")
    }
    var report = ConformanceReport(name: self.name, tolerated: tolerated)
    report.add(await outcome(of: scenario, ConflictEnds()), of: scenario)
    report.passed = [scenario.conformanceCase].filter { report.hasPassed($0) }
    report.finish()
    return report
  }

  /// The number of concurrent scenarios, which mostly wait for the disk.
  private static let width = 4

  /// The most crashes in a run; more say as little as the steps between them.
  private static let mostCrashes = 200

  private func run(_ scenarios: [ConformanceScenario], _ report: inout ConformanceReport) async {
    let ends = ConflictEnds()
    let outcomes = await outcomes(of: scenarios, ends)
    for (scenario, outcome) in zip(scenarios, outcomes) { report.add(outcome, of: scenario) }
    // Without a crash, the scenario of crashes counts the steps at which the app can crash.
    guard let place = scenarios.firstIndex(where: { $0.conformanceCase == .crashes }),
      let found = outcomes[place], found.observations.isEmpty
    else { return }
    let crashes = Self.crashSteps(of: found.stepCount).map { crashScenario(at: $0) }
    for (scenario, outcome) in zip(crashes, await self.outcomes(of: crashes, ends)) {
      report.add(outcome, of: scenario)
    }
  }

  /// The steps at which the app crashes, one for each run: all of them, or pairs of neighbours
  /// from everywhere, since a step before a call is mostly followed by the one after it.
  static func crashSteps(of stepCount: Int) -> [Int] {
    guard stepCount > mostCrashes else { return Array(0..<max(0, stepCount)) }
    let (pairs, tried) = (stepCount / 2, mostCrashes / 2)
    return (0..<tried).flatMap { number in
      let first = 2 * (number * pairs / tried)
      return [first, first + 1]
    }
  }

  /// The outcomes in the order of the scenarios; `nil` for those that were cancelled.
  private func outcomes(
    of scenarios: [ConformanceScenario], _ ends: ConflictEnds
  ) async -> [ScenarioOutcome?] {
    let all = Array(zip(scenarios.indices, scenarios))
    // The change of an account is posted to the whole process, also to the apps of other scenarios.
    let alone = all.filter { $0.1.conformanceCase == .accounts }
    let others = all.filter { $0.1.conformanceCase != .accounts }
    var outcomes = await self.outcomes(of: others, Self.width, ends)
    outcomes.merge(await self.outcomes(of: alone, 1, ends)) { $1 }
    return scenarios.indices.map { outcomes[$0] }
  }

  /// The outcomes of numbered scenarios, of which at most `width` run at once.
  private func outcomes(
    of scenarios: [(Int, ConformanceScenario)], _ width: Int, _ ends: ConflictEnds
  ) async -> [Int: ScenarioOutcome] {
    await withTaskGroup(of: (Int, ScenarioOutcome?).self) { group in
      var outcomes: [Int: ScenarioOutcome] = [:]
      var left = scenarios[...]
      for _ in 0..<width {
        guard !Task.isCancelled, let (index, scenario) = left.popFirst() else { break }
        group.addTask { (index, await outcome(of: scenario, ends)) }
      }
      for await (index, found) in group {
        outcomes[index] = found
        if !Task.isCancelled, let (index, scenario) = left.popFirst() {
          group.addTask { (index, await outcome(of: scenario, ends)) }
        }
      }
      return outcomes
    }
  }

  /// The outcome of a scenario; `nil` if it was cancelled, since it then shows losses that the app
  /// did not cause.
  private func outcome(
    of scenario: ConformanceScenario, _ ends: ConflictEnds
  ) async -> ScenarioOutcome? {
    let trial = ConformanceTrial(self, ends)
    do {
      try await trial.perform(scenario.body)
    } catch let error as MissingZone {
      trial.report(.itemsInAnotherZone, "\(scenario.name): \(error)")
    } catch {
      // An error of the suite itself says what the app did.
      let text = (error is DeviceError ? "" : "the app threw ") + ConformanceTrial.text(of: error)
      trial.report(scenario.conformanceCase.mainDefect, "\(scenario.name): \(text)")
    }
    return Task.isCancelled ? nil : trial.outcome
  }

  /// The app's name.
  public var description: String { name }
}

/// The findings of one scenario.
struct ScenarioOutcome: Sendable {
  var observations: [ConformanceTrial.Observation] = []
  /// The number of steps at which the app could have crashed.
  var stepCount = 0
  var hasCrashed = false
}
