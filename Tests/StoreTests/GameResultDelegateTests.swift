import CloudSync
import CloudSyncTesting
import Foundation
import LoopbackServer
import SyncSupport
import Synchronization
import Testing

@testable import GameResultStore
@testable import SyncedStore

/// The store's rules by themselves: events made by hand, an engine that reaches no server.
@Suite("Game results as a delegate")
struct GameResultDelegateTests {
  /// A store with results in its queue and an engine that can't begin.
  struct Scene {
    let folder = ResultFolder()
    let store: GameResultStore
    let engine: CKSyncEngine
    let results: [GameResult]

    init(_ numbers: ClosedRange<Int> = 1_960...1_962) throws {
      // Offline, so that the engine has no news of its own to tell.
      let link = LoopbackServer().device("phone", signedInAs: "ada")
      link.isOnline = false
      store = try GameResultStore(
        directory: folder.url,
        container: CKContainer(identifier: "iCloud.example.nowhere", transport: link),
        clock: SimulatedClock(), calendar: ResultDevice.calendar, now: { ResultDevice.noon })
      try store.store.start()
      engine = try #require(store.store.state.withLock { $0.run?.engine })
      results = try store.importResults(from: wordles(numbers)).added
      let zone = ResultRecord.zoneID
      store.store.state.withLock { state in
        state.table.takeZone(zone)
        state.run?.firstFetch = nil
        state.run?.pending.remove(
          pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: zone))])
      }
      store.follow()
      prepareRound()
    }

    /// Begins a round of sending, with all that waits.
    func prepareRound() {
      _ = store.uploads?.takeAll()
      let groups = store.state.withLock { state in
        state.held = []
        state.groups = []
        return store.nextGroups(&state)
      }
      store.store.state.withLock { state in
        state.table.effects.touched += groups.joined()
        state.act()
      }
    }

    func batch(
      _ scope: CKSyncEngine.SendChangesOptions.Scope = .all
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
      await store.store.nextBatch(scope, of: engine)
    }

    func send(_ event: CKSyncEngine.Event) {
      store.store.handle(event, of: engine)
      store.follow()
    }

    /// A send that failed for one record: the event, and then the error of the operation.
    @discardableResult
    func fail(
      _ record: CKRecord, _ code: CKError.Code, _ userInfo: [String: any Sendable] = [:]
    ) -> GameResultStore.SendReport {
      let error = CKError(code, userInfo: userInfo)
      send(
        .sentRecordZoneChanges(
          .init(failedRecordSaves: [.init(record: record, error: error)])))
      return report(record.recordID, error)
    }

    func report(_ id: CKRecord.ID, _ error: CKError) -> GameResultStore.SendReport {
      let items: [AnyHashable: any Error] = [id: error]
      let operation = CKError(.partialFailure, userInfo: [CKPartialErrorsByItemIDKey: items])
      return store.state.withLock { store.report([operation], isIdle: true, &$0) }
    }

    var waiting: Int { store.status.waiting }
  }

  static func id(_ result: GameResult) -> CKRecord.ID { ResultRecord.recordID(result.id) }

  @Test("A batch holds the current results in scope only, and is confirmed by change number")
  func batchHoldsCurrentResultsInScope() async throws {
    let scene = try Scene()
    #expect(await scene.batch(.recordIDs([])) == nil)
    let again = try Scene()
    let batch = try #require(await again.batch())
    #expect(batch.recordsToSave.compactMap { GameResult($0) } == again.results)
    // Deleted while under way: the confirmation of the save must not settle the deletion.
    try again.store.delete(again.results[0].id)
    again.send(.sentRecordZoneChanges(.init(savedRecords: batch.recordsToSave)))
    #expect(again.waiting == 1 && again.store.results.count == 2)
    again.send(
      .sentRecordZoneChanges(.init(deletedRecordIDs: [Self.id(again.results[0])])))
    #expect(again.waiting == 0)
  }

  @Test("G: The server wins a conflict, and the conflict is logged")
  func serverWinsLoggedConflict() async throws {
    let scene = try Scene(1_963...1_963)
    let record = try #require(await scene.batch()?.recordsToSave.first)
    let theirs = GameResult(
      id: scene.results[0].id, gameId: Game.wordle.id, gameName: "Wordle",
      date: ResultDevice.noon, score: 2, maxAttempts: 6, completed: true, sharedText: "theirs")
    scene.fail(
      record, .serverRecordChanged, [CKRecordChangedErrorServerRecordKey: theirs.record()])
    #expect(scene.store.results == [theirs])
    #expect(scene.waiting == 0 && scene.store.status.conflicts == 1)
    #expect(scene.engine.state.pendingRecordZoneChanges.isEmpty)
    #expect(
      scene.store.log.map(\.message) == [
        "Conflict for result \(theirs.id.uuidString), using server version."
      ])
  }

  @Test("A conflict is logged and counted after a thousand others, too")
  func conflictAfterAThousandIsLogged() async throws {
    let scene = try Scene(1_000...2_000)
    func fail(_ results: some Collection<GameResult>) {
      let failures = results.map { result in
        let theirs = GameResult(
          id: result.id, gameId: result.gameId, gameName: result.gameName, date: result.date,
          score: result.score, maxAttempts: result.maxAttempts, completed: result.completed,
          sharedText: "theirs")
        return CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave(
          record: result.record(),
          error: CKError(
            .serverRecordChanged, userInfo: [CKRecordChangedErrorServerRecordKey: theirs.record()]))
      }
      scene.send(.sentRecordZoneChanges(.init(failedRecordSaves: failures)))
    }
    fail(scene.results.dropLast())
    let last = try #require(scene.results.last)
    fail([last])
    #expect(
      scene.store.log.last?.message
        == "Conflict for result \(last.id.uuidString), using server version.")
    #expect(scene.store.status.conflicts == scene.results.count)
  }

  @Test("A conflict with an unreadable record also ends, and loses nothing: the result waits")
  func unreadableConflictLosesNothing() async throws {
    let scene = try Scene(1_963...1_963)
    let record = try #require(await scene.batch()?.recordsToSave.first)
    let theirs = scene.results[0].record()
    theirs["date"] = "?"
    scene.fail(record, .serverRecordChanged, [CKRecordChangedErrorServerRecordKey: theirs])
    #expect(scene.store.results == scene.results && scene.waiting == 1)
    #expect(scene.store.keptRecordNames == [theirs.recordID.recordName])
    scene.prepareRound()
    #expect(await scene.batch() == nil, "it is not sent over a version that can't be read")
  }

  /// What is left after a failed save: changes waiting here, the failure that ends
  /// the pass, whether it is tried again after a wait, whether the zone is asked for.
  struct Outcome: Equatable {
    var waiting = 1
    var failure: CKError.Code?
    var isPostponed = false
    var asksForZone = false
    var isFull = false
  }

  /// Proves I15, SC-164.
  @Test("G: Every error code has its outcome for a save", arguments: CKError.Code.allCases)
  func eachSaveErrorHasOutcome(_ code: CKError.Code) async throws {
    let scene = try Scene(1_963...1_963)
    let record = try #require(await scene.batch()?.recordsToSave.first)
    let report = scene.fail(record, code)
    let waiting = scene.waiting
    let state = scene.store.state.withLock {
      Outcome(
        waiting: waiting, failure: report.failure?.code,
        isPostponed: !$0.postponed.isEmpty,
        asksForZone: !scene.engine.state.pendingDatabaseChanges.isEmpty,
        isFull: $0.isStorageFull)
    }
    let expected: Outcome =
      switch code {
      case .networkUnavailable, .networkFailure, .serviceUnavailable, .requestRateLimited,
        .notAuthenticated, .operationCancelled, .zoneBusy, .serverResponseLost,
        .accountTemporarilyUnavailable, .managedAccountRestricted:
        Outcome(failure: code)
      case .zoneNotFound, .userDeletedZone: Outcome(asksForZone: true)
      case .serverRecordChanged, .unknownItem, .batchRequestFailed: Outcome()
      case .quotaExceeded: Outcome(isFull: true)
      case .limitExceeded, .internalError, .partialFailure, .badContainer, .missingEntitlement,
        .permissionFailure, .invalidArguments, .resultsTruncated, .serverRejectedRequest,
        .assetFileNotFound, .assetFileModified, .incompatibleVersion, .constraintViolation,
        .changeTokenExpired, .badDatabase, .tooManyParticipants, .alreadyShared,
        .referenceViolation, .participantMayNeedVerification,
        .assetNotAvailable, .participantAlreadyInvited:
        Outcome(isPostponed: true)
      }
    #expect(state == expected)
    #expect(scene.store.results == scene.results, "a result must never be lost to an error")
    // Three more times, and a change that is refused for itself is put aside, but kept.
    for _ in 0..<3 { scene.fail(record, code) }
    #expect(scene.waiting == 1)
    #expect(scene.store.status.refused == (expected.isPostponed ? 1 : 0))
  }

  /// Proves SC-164.
  @Test("G: Every error code has its outcome for a deletion", arguments: CKError.Code.allCases)
  func eachDeletionErrorHasOutcome(_ code: CKError.Code) async throws {
    let scene = try Scene(1_963...1_963)
    let id = Self.id(scene.results[0])
    // It was sent, or the deletion would end here.
    #expect(await scene.batch() != nil)
    try scene.store.delete(scene.results[0].id)
    scene.prepareRound()
    #expect(await scene.batch()?.recordIDsToDelete == [id])
    scene.send(.sentRecordZoneChanges(.init(failedRecordDeletes: [id: CKError(code)])))
    _ = scene.report(id, CKError(code))
    let isDone = [.unknownItem, .zoneNotFound, .userDeletedZone].contains(code)
    #expect(scene.waiting == (isDone ? 0 : 1))
    #expect(scene.store.results.isEmpty)
  }

  @Test("A missing zone that held results is fetched for the reason before it is created again")
  func missingZoneIsFetchedBeforeRecreation() async throws {
    let scene = try Scene(1_962...1_963)
    let records = try #require(await scene.batch()?.recordsToSave)
    scene.send(.sentRecordZoneChanges(.init(savedRecords: [records[0]])))
    let report = scene.fail(records[1], .zoneNotFound)
    #expect(report.needsFetch)
    #expect(scene.engine.state.pendingDatabaseChanges.isEmpty)
    // With the flag of a reset it needs no explanation.
    scene.fail(records[1], .zoneNotFound, [CKErrorUserDidResetEncryptedDataKey: true])
    #expect(scene.engine.state.pendingDatabaseChanges.count == 1 && scene.waiting == 2)
  }

  @Test("A deleted or purged zone clears all results, and a reset zone is sent all again")
  func deletedZoneClearsAndResetResends() async throws {
    for reason in [
      CKDatabase.DatabaseChange.Deletion.Reason.deleted, .purged, .encryptedDataReset,
    ] {
      let scene = try Scene()
      let records = try #require(await scene.batch()?.recordsToSave)
      scene.send(.sentRecordZoneChanges(.init(savedRecords: Array(records.dropLast()))))
      #expect(scene.waiting == 1)
      let other = CKRecordZone.ID(zoneName: "Another")
      scene.send(
        .fetchedDatabaseChanges(.init(deletions: [.init(zoneID: other, reason: reason)])))
      #expect(scene.store.results.count == 3, "another zone is another store's")
      scene.send(
        .fetchedDatabaseChanges(
          .init(deletions: [.init(zoneID: ResultRecord.zoneID, reason: reason)])))
      let isReset = reason == .encryptedDataReset
      #expect(scene.store.results.count == (isReset ? 3 : 0), "\(reason)")
      #expect(scene.waiting == (isReset ? 3 : 0), "\(reason)")
      #expect(scene.engine.state.pendingRecordZoneChanges.count == (isReset ? 3 : 0))
      #expect(scene.engine.state.pendingDatabaseChanges.count == (isReset ? 1 : 0))
    }
  }

  @Test("G: An account change clears everything at once, and a first sign-in clears nothing")
  func accountChangeClearsResultsAtOnce() async throws {
    let ada = CKRecord.ID(recordName: "_ada")
    let ben = CKRecord.ID(recordName: "_ben")
    let table: [([CKSyncEngine.Event.AccountChange.ChangeType], Int)] = [
      ([.signIn(currentUser: ada)], 3),
      ([.signIn(currentUser: ada), .signIn(currentUser: ada)], 3),
      ([.signIn(currentUser: ada), .signIn(currentUser: ben)], 0),
      ([.signIn(currentUser: ada), .signOut(previousUser: ada)], 0),
      (
        [
          .signIn(currentUser: ada), .switchAccounts(previousUser: ada, currentUser: ben),
        ], 0
      ),
      // Results from before the first sign-in belong to nobody.
      ([.switchAccounts(previousUser: ada, currentUser: ben)], 3),
    ]
    for (changes, count) in table {
      let scene = try Scene()
      for change in changes { scene.send(.accountChange(.init(changeType: change))) }
      #expect(scene.store.results.count == count && scene.waiting == count, "\(changes)")
      #expect(scene.store.streaks().count == min(count, 1))
      let files = try TraceSearch("Wordle").files(below: scene.folder.url)
      #expect(files.isEmpty == (count == 0), "\(files)")
    }
  }

  @Test("Events of an engine that was released change nothing")
  func eventsOfReleasedEngineAreIgnored() async throws {
    let scene = try Scene()
    let delegate = EngineDelegate(scene.store.store)
    var configuration = CKSyncEngine.Configuration(
      database: scene.store.database, stateSerialization: nil, delegate: delegate)
    configuration.automaticallySync = false
    let old = CKSyncEngine(configuration)
    scene.store.store.handle(
      .accountChange(.init(changeType: .signOut(previousUser: CKRecord.ID(recordName: "_ada")))),
      of: old)
    #expect(scene.store.results.count == 3)
  }

  @Test("A fetched version replaces the local one, and foreign and invalid records are ignored")
  func fetchedVersionReplacesLocalResult() async throws {
    let scene = try Scene(1_963...1_963)
    let broken = GameResultRecordTests.solved.record()
    broken["gameID"] = "?"
    let foreign = CKRecord(
      recordType: "Other",
      recordID: CKRecord.ID(recordName: UUID().uuidString, zoneID: ResultRecord.zoneID))
    let news = GameResultRecordTests.failed
    scene.send(
      .fetchedRecordZoneChanges(
        .init(
          modifications: [broken, foreign, news.record(), scene.results[0].record()].map {
            .init(record: $0)
          })))
    #expect(Set(scene.store.results) == [news, scene.results[0]])
    #expect(scene.waiting == 0, "the cloud has it already")
    #expect(
      scene.store.keptRecordNames
        == [broken.recordID.recordName, foreign.recordID.recordName].sorted())
    scene.send(
      .fetchedRecordZoneChanges(
        .init(deletions: [.init(recordID: Self.id(news), recordType: "GameResult")])))
    #expect(scene.store.results == scene.results)
  }

  @Test("A sent result that is deleted elsewhere is removed, and an unsent one of that ID stays")
  func remoteDeletionRemovesSentResult() async throws {
    for isSent in [true, false] {
      let scene = try Scene(1_963...1_963)
      if isSent { #expect(await scene.batch() != nil) }
      let id = Self.id(scene.results[0])
      scene.send(
        .fetchedRecordZoneChanges(
          .init(deletions: [.init(recordID: id, recordType: "GameResult")])))
      #expect(scene.store.results.isEmpty == isSent && scene.waiting == (isSent ? 0 : 1))
    }
  }

  @Test("A fetch from the start removes sent results that the cloud no longer has")
  func fullFetchRemovesMissingResults() async throws {
    let scene = try Scene(1_961...1_963)
    let records = try #require(await scene.batch()?.recordsToSave)
    scene.send(.sentRecordZoneChanges(.init(savedRecords: Array(records.prefix(2)))))
    for startsOver in [false, true] {
      scene.send(
        .willFetchRecordZoneChanges(.init(zoneID: ResultRecord.zoneID, startsOver: startsOver)))
      scene.send(.fetchedRecordZoneChanges(.init(modifications: [.init(record: records[0])])))
      scene.send(.didFetchRecordZoneChanges(.init(zoneID: ResultRecord.zoneID)))
      scene.send(.didFetchChanges(.init(context: .init(reason: .manual))))
      // The third one waits to be sent: the cloud can't show it.
      #expect(scene.store.results.count == (startsOver ? 2 : 3))
    }
    #expect(scene.waiting == 1)
  }

  @Test("G: Only pushes of the store's own subscription are accepted")
  func onlyOwnSubscriptionPushesCount() throws {
    let scene = try Scene()
    #expect(scene.store.receivedPush(subscriptionID: "user-data-zone-changes"))
    #expect(!scene.store.receivedPush(subscriptionID: "another"))
    #expect(!scene.store.receivedPush(subscriptionID: nil))
    let push: [AnyHashable: Any] = [
      "ck": ["cid": "c", "fet": ["sid": "user-data-zone-changes", "dbs": 2]]
    ]
    #expect(scene.store.didReceiveRemoteNotification(push))
    #expect(!scene.store.didReceiveRemoteNotification([:]))
  }
}
