import CloudSync
import Foundation
import Testing

@testable import SyncSupport
@testable import SyncedStore
@testable import TabStore

@Suite("Rows T and C: every failure is handled")
struct TabFailureTests {
  private static let zone = "saveZone ItsypadData"
  private static let save = "save \(testID(1))"
  private static let delete = "delete \(testID(1))"

  /// What the delegate queues when a save fails, by code; a code not named queues nothing.
  private static let queuedAfterSave: [CKError.Code: [String]] = [
    .unknownItem: [save], .zoneNotFound: [zone, save], .userDeletedZone: [zone, save],
    .batchRequestFailed: [save], .limitExceeded: [save], .serverRecordChanged: [save],
  ]

  /// Failures that are the engine's to repeat: nothing is queued and nobody is told.
  private static let repeated: Set<CKError.Code> = [
    .networkUnavailable, .networkFailure, .serviceUnavailable, .requestRateLimited,
    .notAuthenticated, .zoneBusy, .operationCancelled, .serverResponseLost,
    .accountTemporarilyUnavailable, .managedAccountRestricted,
  ]

  private static let codes = (1...37).compactMap(CKError.Code.init(rawValue:))

  /// Proves I15, SC-164.
  @Test("A failed save has its outcome for each of the 37 codes")
  func eachSaveErrorHasItsOutcome() async throws {
    #expect(Self.codes.count == 37)
    for code in Self.codes {
      let bench = try TabBench.signedIn()
      try bench.tabs.add(testTab(1))
      let record = try #require(await bench.batch().first)
      bench.clear()
      bench.sent(failed: [(record, CKError(code))])
      let queued = Self.queuedAfterSave[code] ?? []
      #expect(bench.pending == queued, "\(code)")
      #expect(bench.tabs.tab(testID(1)) != nil, "\(code) lost the tab")
      #expect(bench.tabs.isUnsent(testID(1)), "\(code) forgot that the tab is unsent")
      let isTold = !Self.repeated.contains(code) && queued.isEmpty
      #expect(
        bench.sync.status.activity.problems.map(\.code) == (isTold ? [code] : []), "\(code)")
    }
  }

  /// Proves SC-164.
  @Test("A failed deletion has its outcome for each of the 37 codes")
  func eachDeletionErrorHasItsOutcome() throws {
    let done: Set<CKError.Code> = [.unknownItem, .zoneNotFound, .userDeletedZone]
    let again: Set<CKError.Code> = [.batchRequestFailed, .limitExceeded, .serverRecordChanged]
    for code in Self.codes {
      let bench = try TabBench.signedIn()
      bench.fetched([TabBench.record(testTab(1))])
      try bench.tabs.close(testID(1))
      bench.clear()
      bench.sent(failedDeletions: [TabBench.recordID(testID(1)): CKError(code)])
      #expect(bench.pending == (again.contains(code) ? [Self.delete] : []), "\(code)")
      #expect(bench.tabs.unsentCount == (done.contains(code) ? 0 : 1), "\(code)")
      #expect(bench.knows(1) == !done.contains(code), "\(code)")
      let isQuiet = done.contains(code) || again.contains(code) || Self.repeated.contains(code)
      #expect(
        bench.sync.status.activity.problems.map(\.code) == (isQuiet ? [] : [code]), "\(code)")
    }
  }

  /// Proves FB-8.
  @Test("A change too large for any request is reported after a few tries, and an edit retries it")
  func oversizedChangeIsReportedUntilEdited() async throws {
    let bench = try TabBench.signedIn()
    try bench.tabs.add(testTab(1, "large"))
    let record = try #require(await bench.batch().first)
    for _ in 0..<3 {
      bench.clear()
      bench.sent(failed: [(record, CKError(.limitExceeded))])
      #expect(bench.pending == [Self.save])
    }
    bench.clear()
    bench.sent(failed: [(record, CKError(.limitExceeded))])
    #expect(bench.pending == [])
    #expect(bench.sync.status.activity.problems.map(\.code) == [CKError.Code.limitExceeded])
    try bench.tabs.updateContent(testID(1), "small", now: testDate(1))
    #expect(bench.pending == [Self.save])
    #expect(bench.sync.status.activity.problems.isEmpty)
  }

  /// Proves FB-5.
  @Test(
    "T: C: Without space a change is kept, and sent after a deletion frees space or a restart")
  func unsentChangeWaitsForSpace() async throws {
    let bench = try TabBench.signedIn()
    bench.fetched([TabBench.record(testTab(2))])
    try bench.tabs.add(testTab(1))
    let record = try #require(await bench.batch().first)
    bench.clear()
    bench.sent(failed: [(record, CKError(.quotaExceeded))])
    #expect(bench.pending == [])
    #expect(try TabBench(bench.folder).tabs.isUnsent(testID(1)))
    try bench.tabs.close(testID(2))
    bench.clear()
    bench.sent(deleted: [TabBench.recordID(testID(2))])
    #expect(bench.pending == [Self.save])
    bench.sent(saved: [record])
    #expect(bench.sync.status.activity.problems.isEmpty)
  }

  /// Proves CE-74, FB-4, SC-23, SC-24.
  @Test("Items that failed only because of another item in their batch are sent again")
  func failedBatchItemsAreSentAgain() async throws {
    let bench = try TabBench.signedIn()
    bench.fetched([TabBench.record(testTab(1)), TabBench.record(testTab(3))])
    try bench.tabs.updateContent(testID(1), "edited", now: testDate(10))
    try bench.tabs.add(testTab(2, "new"))
    try bench.tabs.close(testID(3))
    let batch = await bench.batch()
    bench.clear()
    let server = TabBench.record(testTab(1, "theirs", at: 5))
    bench.sent(
      failed: [
        (
          batch[0],
          CKError(.serverRecordChanged, userInfo: [CKRecordChangedErrorServerRecordKey: server])
        ),
        (batch[1], CKError(.batchRequestFailed)),
      ],
      failedDeletions: [TabBench.recordID(testID(3)): CKError(.batchRequestFailed)])
    #expect(
      bench.pending == ["save \(testID(1))", "save \(testID(2))", "delete \(testID(3))"])
    #expect(bench.sync.status.activity.sentAgain == 2)
  }

  /// Proves CE-72.
  @Test("A missing zone makes all its records be sent again")
  func missingZoneSendsEverythingAgain() async throws {
    let bench = try TabBench.signedIn()
    bench.fetched([TabBench.record(testTab(1)), TabBench.record(testTab(2))])
    try bench.tabs.updateContent(testID(1), "edited", now: testDate(10))
    let batch = await bench.batch()
    bench.clear()
    bench.sent(failed: [(batch[0], CKError(.zoneNotFound))])
    #expect(bench.pending == [], "a fetch has to tell first whether it was deleted")
    bench.createMissingZones()
    #expect(bench.pending == [Self.zone, "save \(testID(1))", "save \(testID(2))"])
    #expect(!bench.knows(1) && !bench.knows(2), "a tag of the lost zone was kept")
    bench.hand(.sentDatabaseChanges(.init(savedZones: [CKRecordZone(zoneID: TabBench.zone)])))
    await bench.sent(saved: bench.batch())
    // The zone was deleted on purpose, as the next fetch tells: nothing is made again.
    bench.zoneGone(.deleted)
    #expect(bench.list.pendingDatabaseChanges.isEmpty)
    #expect(bench.tabs.tabs.isEmpty)
    #expect(await bench.batch().isEmpty)
  }

  /// Proves SC-119.
  @Test("A purge found by a save is obeyed; a tab made after it makes the zone anew")
  func purgeFoundBySave() async throws {
    let bench = try TabBench.signedIn()
    bench.fetched([TabBench.record(testTab(1)), TabBench.record(testTab(2))])
    try bench.tabs.updateContent(testID(1), "edited", now: testDate(10))
    let batch = await bench.batch()
    bench.clear()
    bench.sent(failed: [(batch[0], CKError(.userDeletedZone))])
    #expect(bench.pending == [])
    #expect(bench.tabs.tabs.isEmpty)
    try bench.tabs.add(testTab(3))
    let next = await bench.batch()
    bench.clear()
    bench.sent(failed: [(next[0], CKError(.userDeletedZone))])
    #expect(bench.pending == [Self.zone, "save \(testID(3))"])
  }

  /// Proves SC-122, SC-159.
  @Test("A zone that cannot be created is reported and not retried forever")
  func failedZoneCreationIsReported() throws {
    for code in Self.codes {
      let bench = try TabBench.signedIn()
      let zone = CKRecordZone(zoneID: TabBench.zone)
      bench.hand(
        .sentDatabaseChanges(
          .init(failedZoneSaves: [.init(zone: zone, error: CKError(code))])))
      let isTold = !Self.repeated.contains(code)
      #expect(bench.sync.status.activity.problems.count == (isTold ? 1 : 0), "\(code)")
      bench.hand(.sentDatabaseChanges(.init(savedZones: [zone])))
      #expect(bench.sync.status.activity.problems.isEmpty, "\(code)")
    }
  }
}
