import Testing

@testable import CloudSyncTesting

@Suite("Conformance of delegates")
struct ConformanceTests {
  /// Proves PB-5, SC-165.
  @Test("Each mistake of a carelessly written delegate is found by name")
  func eachDelegateMistakeIsReportedByName() async throws {
    let suite = DelegateConformance("Hurried", zone: Notes.zone.zoneID) { try HurriedNotes($0) }
    let report = await suite.run()
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
    .timeLimit(.minutes(10)))
  func settledTasksAreNotAwaited() async {
    let executor = SerialTaskExecutor()
    await executor.settle()
    await Task(executorPreference: executor) { await executor.settle() }.value
    await executor.settle()
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
