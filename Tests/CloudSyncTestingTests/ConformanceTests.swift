import Synchronization
import Testing
import VerificationSupport

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
    let count = Atomic(0)
    let task = Task(executorPreference: executor) {
      // Each task begins the next one before it ends.
      for _ in 0..<100 {
        await Task(executorPreference: executor) {}.value
        count.wrappingAdd(1, ordering: .relaxed)
      }
    }
    await executor.settle()
    #expect(count.load(ordering: .relaxed) == 100)
    await task.value
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

  private static func suite(_ habit: Habit) -> DelegateConformance {
    DelegateConformance("Notes", zone: SmallNotes.zone.zoneID) { try NotesWithHabit($0, habit) }
  }

  @Test("An unusual behavior that loses nothing is no defect", .timeLimit(.minutes(20)))
  func harmlessHabitIsNoDefect() async throws {
    for habit in [Habit.waitsForSync, .refusesDuringSync, .sleepsBesideSync] {
      try await Self.suite(habit).run([.goodDay, .changesDuringSends]).check()
    }
  }

  @Test(
    "The reason why a sync is not one is in the report, the same in every run",
    .timeLimit(.minutes(20)),
    arguments: [
      (Habit.throwsInSync, "lost a, b, c; the last sync on first threw <folder>/notes.json can't"),
      (.throwsInSync, "; the last sync on second threw <folder>/notes.json can't"),
      (.throwsAfterSync, "a sync without a fault threw <folder>/notes.json can't be read"),
      (.throwsInActions, "goodDay/items: the app threw <folder>/notes.json can't be read"),
      (.sleepsInSync, "goodDay/items: The app's sync() sleeps on the simulated clock"),
      (.hasTwoEngines, "goodDay/items: Two sync engines of this app sync"),
    ])
  func reasonOfFailedSyncIsReported(_ habit: Habit, _ reason: String) async {
    let report = await Self.suite(habit).run([.goodDay])
    #expect(report.defects == [.doesNotSync])
    #expect(report.description.contains(reason), "\(report)")
    #expect(await Self.suite(habit).run([.goodDay]).description == report.description)
  }

  @Test("An app that can't be crashed is reported, and not counted as crashed")
  func crashThatFailsIsReported() async throws {
    let report = try await Self.suite(.removesItsFolder).run(only: "crashes/0")
    #expect(report.description.contains("crashes/0: The folder of the app can't be copied: "))
    #expect(report.crashCount == 0, "\(report)")
  }

  @Test("A cancelled run has no findings, and does not conform")
  func cancelledRunDoesNotConform() async {
    let (begun, mayGo) = (Signal(), Signal())
    let suite = DelegateConformance("Notes", zone: SmallNotes.zone.zoneID) {
      begun.fire()
      await mayGo.wait()
      return try SmallNotes($0, .lastWriteWins, nil)
    }
    let run = Task { await suite.run([.goodDay, .lostAnswers, .crashes]) }
    await begun.wait()
    run.cancel()
    mayGo.fire()
    let report = await run.value
    #expect(report.findings.isEmpty && report.passed.isEmpty && !report.conforms)
    let failure = #expect(throws: ConformanceFailure.self) { try report.check() }
    #expect(
      failure?.description
        == "Notes was not tested: 0 cases passed, the app was not crashed; the run was cancelled")
  }

  @Test("No other scenario runs beside one about accounts, which notifies the whole process")
  func accountScenariosRunAlone() async {
    let clocks = Mutex<[SimulatedClock]>([])
    let suite = DelegateConformance("Notes", zone: SmallNotes.zone.zoneID) { surroundings in
      clocks.withLock { if $0.last !== surroundings.clock { $0.append(surroundings.clock) } }
      return try SmallNotes(surroundings, .lastWriteWins, nil)
    }
    let report = await suite.run([.accounts, .lostAnswers])
    // The launches of a scenario, which has a clock of its own, follow one another.
    #expect(clocks.withLock { $0.count } == 4, "\(report)")
  }

  @Test("A report lists the defects in their order, with four details of each at most")
  func reportListsDefectsInOrder() throws {
    let scenario = ConformanceScenario(conformanceCase: .accounts, step: "s") { _ in }
    let defects: [DelegateDefect] =
      [.crashLosesEdits, .quotaDropsEdits, .doesNotSync]
      + Array(repeating: .quotaDropsEdits, count: 5)
    var outcome = ScenarioOutcome()
    for (number, defect) in defects.enumerated() {
      outcome.observations.append(.init(defect: defect, detail: "lost \(number)"))
    }
    var report = ConformanceReport(name: "App", tolerated: [])
    report.add(outcome, of: scenario)
    report.finish()
    try assertSnapshot(
      of: report.description,
      matches: """
        App has 3 defects: 0 cases passed, the app was not crashed
        - doesNotSync: Items do not get from one device to another.
            lost 2
            replay: try await suite.run(only: "accounts/s")
        - quotaDropsEdits: A change refused for full storage is not saved when there is room.
            lost 1
            lost 3
            lost 4
            lost 5
            ... and 2 more
            replay: try await suite.run(only: "accounts/s")
        - crashLosesEdits: A crash loses changes that were made before it.
            lost 0
            replay: try await suite.run(only: "accounts/s")
        """)
  }
}
