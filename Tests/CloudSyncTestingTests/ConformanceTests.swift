import Testing

@testable import CloudSyncTesting

@Suite("Conformance of delegates")
struct ConformanceTests {
  /// Proves PB-5, SC-165.
  @Test("Each mistake of a carelessly written delegate is found by name")
  func eachDelegateMistakeIsReportedByName() async throws {
    let suite = DelegateConformance("Hurried", zone: Notes.zone.zoneID) { try HurriedNotes($0) }
    let report = await suite.run(ConformanceCase.allCases.filter { $0 != .crashes })
    let mistakes: Set<DelegateDefect> = [
      .otherFailuresIgnored, .failedDeletionsIgnored, .batchFailuresNotQueuedAgain,
      .accountSwitchKeepsData,
    ]
    #expect(report.defects.isSuperset(of: mistakes), "\(report)")
    let failure = #expect(throws: ConformanceFailure.self) { try report.check() }
    for mistake in mistakes {
      #expect(failure?.description.contains("- \(mistake.rawValue): ") == true)
    }
  }

  /// Proves PB-5, SC-165.
  @Test("A delegate with one mistake gets a report of that mistake", arguments: Mistake.allCases)
  func singleMistakeIsReportedAlone(_ mistake: Mistake) async throws {
    let suite = DelegateConformance("Notes", zone: Notes.zone.zoneID) {
      try MistakenNotes($0, mistake)
    }
    let report = await suite.run([mistake.revealing])
    let found = report.findings + report.advice
    #expect(found.contains { $0.defect == mistake.defect }, "\(report)")
    #expect(found.count <= 2, "a single mistake looks like many: \(report)")
  }

  @Test(
    "The tasks of a scenario are settled when none is ready, also for those who are none of them",
    .timeLimit(.minutes(20)))
  func settledTasksAreNotAwaited() async {
    let executor = SerialTaskExecutor()
    await executor.settle()
    await Task(executorPreference: executor) { await executor.settle() }.value
    await executor.settle()
  }

  @Test("The defect of all save failures and its parts stand for each other when tolerated")
  func toleratedPartsStandForTheWhole() {
    let parts = DelegateDefect.ignoredSaveFailures
    let observations = parts.map { ConformanceTrial.Observation(defect: $0, detail: "lost") }
    func report(_ tolerated: Set<DelegateDefect>, _ count: Int) -> ConformanceReport {
      let scenario = ConformanceScenario(conformanceCase: .refusedSaves, step: "s") { _ in }
      var report = ConformanceReport(name: "App", tolerated: tolerated)
      let some = Array(observations.prefix(count))
      report.add(ScenarioOutcome(observations: some, stepCount: 0), of: scenario)
      report.finish()
      return report
    }
    #expect(report(parts, parts.count).conforms, "the parts, all of which are tolerated")
    #expect(report([.saveFailuresIgnored], 2).conforms, "parts of what is tolerated")
    #expect(!report([.quotaDropsEdits], parts.count).conforms)
    #expect(report(parts, parts.count).description.contains("saveFailuresIgnored (tolerated)"))
  }

  @Test("An app that needs an account is not tested without one")
  func appThatNeedsAccountIsNotTestedWithoutOne() {
    let names = [true, false].map { works in
      DelegateConformance("Notes", zone: Notes.zone.zoneID, worksSignedOut: works) {
        try HurriedNotes($0)
      }.scenarios(of: .accounts).map(\.step)
    }
    #expect(names[0] == names[1] + ["first sign-in"])
  }

  @Test(
    "The steps of crashes are all, or pairs from everywhere",
    arguments: [0, 7, 200, 201, 399, 4_000])
  func crashStepsAreFromEverywhere(_ count: Int) {
    let steps = DelegateConformance.crashSteps(of: count)
    #expect(steps.count == min(count, 200) && Set(steps).count == steps.count)
    #expect(steps.allSatisfy { (0..<count).contains($0) })
    let odd = steps.count { !$0.isMultiple(of: 2) }
    #expect(odd == steps.count / 2, "both sides of each call")
    let widest = zip(steps, steps.dropFirst()).map { $1 - $0 }.max() ?? 1
    #expect(widest <= max(1, count / 50))
  }

  @Test("A tolerated defect does not fail the check and stays in the report")
  func toleratedDefectStaysInReport() async throws {
    let suite = DelegateConformance(
      "Notes", zone: Notes.zone.zoneID, tolerating: [.quotaDropsEdits]
    ) { try MistakenNotes($0, .forgetsWhatDoesNotFit) }
    let report = await suite.run([.fullStorage])
    try report.check()
    #expect(report.description.contains("- quotaDropsEdits (tolerated): "))
  }
}
