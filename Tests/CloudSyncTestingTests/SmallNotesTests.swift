import CloudSyncTesting
import Testing

@Suite("Mistakes of a small app")
struct SmallNotesTests {
  private static func suite(
    _ merge: MergeKind, _ mistake: SmallMistake? = nil
  ) -> DelegateConformance {
    DelegateConformance("SmallNotes", zone: SmallNotes.zone.zoneID) {
      try SmallNotes($0, merge, mistake)
    }
  }

  /// Proves PB-5.
  @Test("A correct app with Apple's API alone passes; the rest is advice")
  func correctSmallAppsPassWithAdvice() async throws {
    for merge in MergeKind.allCases {
      let report = await Self.suite(merge).run()
      try report.check()
      #expect(report.defects.isEmpty && report.crashCount > 50, "\(report)")
      #expect(report.passed == ConformanceCase.allCases)
      #expect(report.advice.map(\.defect) == [.expiredTokenKeepsDeletedItems], "\(report)")
      #expect(report.description.contains("- expiredTokenKeepsDeletedItems (advice): "))
    }
  }

  /// Proves PB-5.
  @Test(
    "Each mistake is reported by its own name",
    arguments: SmallMistake.allCases.flatMap { mistake in mistake.merges.map { (mistake, $0) } })
  func smallMistakeHasItsOwnName(_ mistake: SmallMistake, _ merge: MergeKind) async throws {
    let report = await Self.suite(merge, mistake).run(mistake.cases)
    #expect(report.defects == mistake.defects, "\(report)")
    #expect(throws: ConformanceFailure.self) { try report.check() }
    let finding = try #require(report.findings.first { $0.defect == mistake.name })
    #expect(report.description.contains("    replay: \(finding.replay)"))
    // The line repeats the finding alone.
    let replayed = try await Self.suite(merge, mistake).run(only: finding.scenario)
    #expect(!replayed.defects.isEmpty && replayed.defects.isSubset(of: mistake.replayed))
  }

  @Test("Every mistake has a name that no other mistake has")
  func smallMistakesHaveDifferentNames() {
    #expect(Set(SmallMistake.allCases.map(\.name)).count == SmallMistake.allCases.count)
    #expect(Set(SmallMistake.allCases.map(\.defects)).count == SmallMistake.allCases.count)
    for mistake in SmallMistake.allCases { #expect(mistake.defects.contains(mistake.name)) }
  }

  @Test("An app that loses changes without a crash is not crashed, and the report says so")
  func appThatLosesChangesIsNotCrashed() async throws {
    let report = await Self.suite(.lastWriteWins, .overwritesUnsentChanges).run([.crashes])
    #expect(report.crashCount == 0)
    #expect(report.description.contains("0 cases passed, the app was not crashed"), "\(report)")
    #expect(report.description.contains("without a crash: other version of a"), "\(report)")
  }

  @Test("A suite with another zone than that of the app reports the zone, and nothing else")
  func otherZoneIsReported() async throws {
    let suite = DelegateConformance("SmallNotes", zone: CKRecordZone.ID(zoneName: "Wrong")) {
      try SmallNotes($0, .lastWriteWins, nil)
    }
    for cases in [ConformanceCase.allCases, [.removedZones], [.missingZones]] {
      let report = await suite.run(cases)
      #expect(report.defects == [.itemsInAnotherZone], "\(report)")
      #expect(
        report.findings.first?.details.first?.hasSuffix(
          "the suite was created with the zone Wrong, but after a sync the account has only: "
            + "SmallNotes") == true, "\(report)")
    }
  }

  @Test("Two runs of the same app give the same report, crashes included")
  func secondRunGivesTheSameReport() async throws {
    let cases: [ConformanceCase] = [.conflicts, .accounts, .crashes]
    let suite = Self.suite(.lastWriteWins, .savesLate)
    let first = await suite.run(cases)
    let second = await suite.run(cases)
    #expect(first.description == second.description && first.findings == second.findings)
    #expect(first.crashCount == second.crashCount && first.crashCount > 0)
    let crash = try #require(first.findings.first { $0.scenario.hasPrefix("crashes/") })
    let replayed = try await suite.run(only: crash.scenario)
    #expect(replayed.findings.map(\.defect) == [crash.defect])
    #expect(replayed.findings.first?.details == [crash.details[0]])
  }

  @Test("The name of a scenario that does not exist is refused with the names that do")
  func unknownScenarioNameIsRefused() async throws {
    let suite = Self.suite(.lastWriteWins)
    let failure = await #expect(throws: ConformanceFailure.self) {
      try await suite.run(only: "fullStorage/quotas")
    }
    #expect(failure?.description.contains("\"fullStorage/quota\"") == true)
    await #expect(throws: ConformanceFailure.self) { try await suite.run(only: "nothing") }
    #expect(try await suite.run(only: "fullStorage/quota").passed == [.fullStorage])
    for (name, count) in [("crashes/3", 1), ("crashes/99999", 0), ("crashes/none", 0)] {
      let report = try await suite.run(only: name)
      #expect(report.passed == [.crashes] && report.crashCount == count, "\(name): \(report)")
    }
  }
}

extension SmallMistake {
  /// The defect that is this mistake.
  fileprivate var name: DelegateDefect {
    switch self {
    case .ignoresServerRecordChanged: .serverRecordChangedIgnored
    case .ignoresZoneNotFound: .zoneNotFoundIgnored
    case .ignoresAllSaveFailures: .saveFailuresIgnored
    case .dropsPendingChangesOnAccountChange: .signInDropsEdits
    case .neverSavesItsState: .stateNeverSaved
    case .forgetsItsDeletions: .deletionsNotSent
    case .forgetsFetchedDeletions: .fetchedDeletionsIgnored
    case .keepsOldAccountsData: .accountSwitchKeepsData
    case .savesLate: .crashLosesEdits
    case .overwritesUnsentChanges: .fetchOverwritesUnsentEdits
    case .neverSyncs: .doesNotSync
    case .stopsAfterZoneNotFound: .zoneRemovalStopsSync
    case .stopsAfterAccountChange: .returningAccountLacksData
    case .makesItsZoneOnce: .zoneNotMadeAgain
    case .ignoresZonesThatStartOver: .expiredTokenLosesChanges
    case .savesDeletionsLate: .crashBringsBackDeletedItems
    case .revivesNotesDeletedTwice: .conflictsDoNotConverge
    case .takesItsTextForAnother: .lostAnswersLoseEdits
    }
  }

  /// The cases that show it: one where that is enough, and crashes only where they are needed.
  fileprivate var cases: [ConformanceCase] {
    switch self {
    case .savesLate, .overwritesUnsentChanges, .savesDeletionsLate: [.crashes]
    case .neverSyncs: [.goodDay]
    case .stopsAfterZoneNotFound: [.missingZones]
    case .stopsAfterAccountChange: [.accounts]
    case .makesItsZoneOnce: [.removedZones]
    case .ignoresZonesThatStartOver: [.expiredTokens]
    case .revivesNotesDeletedTwice: [.conflicts]
    case .takesItsTextForAnother: [.lostAnswers]
    case .ignoresServerRecordChanged, .ignoresZoneNotFound, .ignoresAllSaveFailures,
      .dropsPendingChangesOnAccountChange, .neverSavesItsState, .forgetsItsDeletions,
      .forgetsFetchedDeletions, .keepsOldAccountsData:
      ConformanceCase.allCases.filter { $0 != .crashes }
    }
  }

  /// The ways to merge with which it is tried: both where a conflict shows the mistake.
  fileprivate var merges: [MergeKind] {
    switch self {
    case .ignoresServerRecordChanged, .revivesNotesDeletedTwice: MergeKind.allCases
    case .takesItsTextForAnother: [.keepsBothTexts]
    default: [.lastWriteWins]
    }
  }

  /// The defects in the report: that of the mistake, and what follows from it.
  fileprivate var defects: Set<DelegateDefect> {
    switch self {
    case .forgetsItsDeletions:
      [
        name, .conflictsDoNotConverge, .changeDuringSendLost, .failedDeletionsIgnored,
        .lostAnswersLoseEdits, .crashLosesEdits,
      ]
    case .forgetsFetchedDeletions: [name, .conflictsDoNotConverge]
    case .stopsAfterZoneNotFound: [name, .zoneNotFoundIgnored]
    case .stopsAfterAccountChange: [name, .doesNotSync]
    default: [name]
    }
  }

  /// The defects that one scenario can show; alone it can't show that all errors are ignored.
  fileprivate var replayed: Set<DelegateDefect> {
    switch self {
    case .ignoresAllSaveFailures:
      [
        .serverRecordChangedIgnored, .zoneNotFoundIgnored, .batchFailuresNotQueuedAgain,
        .otherFailuresIgnored, .permanentFailuresIgnored, .quotaDropsEdits,
      ]
    case .stopsAfterAccountChange: defects
    default: [name]
    }
  }
}
