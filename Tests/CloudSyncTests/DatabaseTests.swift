import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import SimulationSupport
import Testing

@Suite("Databases")
struct DatabaseTests {
  private let zone = CKRecordZone.ID(zoneName: "Z")

  private func database(
    _ transport: ScriptedTransport, _ scope: CKDatabase.Scope = .private
  ) -> CKDatabase {
    CKContainer(identifier: "iCloud.test", transport: transport).database(with: scope)
  }

  private func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zone) }

  private func code(_ body: () async throws -> Void) async -> CKError.Code? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? CKError)?.code
    }
  }

  /// A server that knows the record "here", refuses to save "busy" and saves all others.
  private func records() -> ScriptedTransport {
    ScriptedTransport { (request) throws(CloudError) in
      switch request {
      case .fetchRecords(let fetch):
        .records(
          fetch.ids.map { id in
            guard id.name == "here" else {
              return ItemResult(id: id, .failure(CloudError(.unknownItem, "not there")))
            }
            return ItemResult(
              id: id,
              .success(
                Record(id: id, type: "T", changeTag: ChangeTag("1"), fields: ["a": .int64(1)])))
          })
      case .modifyRecords(let modify):
        .recordsModified(
          saved: modify.save.map { save in
            let server = Record(id: save.id, type: save.type, changeTag: ChangeTag("s"))
            guard save.id.name != "busy" else {
              let error = CloudError(.serverRecordChanged, "changed", serverRecord: server)
              return ItemResult(id: save.id, .failure(error))
            }
            var saved = server
            for change in save.changes { saved.fields[change.key] = change.field }
            return ItemResult(id: save.id, .success(saved))
          },
          deleted: modify.delete.map { ItemResult(id: $0, .success(Done())) })
      default: throw CloudError(.serverRejectedRequest, "unexpected")
      }
    }
  }

  /// Proves CS-45, CS-46.
  @Test("Fetches return one record, several records and errors for single records")
  func fetchesReturnRecordsAndSingleErrors() async throws {
    let transport = records()
    let database = database(transport, .public)
    #expect(try await database.record(for: id("here"))["a"] as? Int == 1)
    #expect(await code { _ = try await database.record(for: self.id("gone")) } == .unknownItem)
    let results = try await database.records(
      for: [id("here"), id("gone"), id("here")], desiredKeys: ["a"])
    #expect(results.count == 2)
    #expect(try results[id("here")]?.get().recordChangeTag == "1")
    let call = try #require(transport.calls.last)
    #expect(call.database == .public)
    #expect(
      call.request
        == .fetchRecords(
          FetchRecords(ids: [id("here").value, id("gone").value], fields: .keys(["a"]))))
    _ = try await database.records(for: [id("here")], desiredKeys: [])
    guard case .fetchRecords(let fetch) = transport.calls.last?.request else {
      Issue.record("no fetch")
      return
    }
    #expect(fetch.fields == .none)
  }

  /// Proves CS-45, CS-49, CS-107.
  @Test("A save sends the changes, updates the record object and reports conflicts")
  func saveUpdatesRecordAndReportsConflicts() async throws {
    let transport = records()
    let database = database(transport)
    let record = CKRecord(recordType: "T", recordID: id("new"))
    record["a"] = 5
    let saved = try await database.save(record)
    #expect(saved === record && record.recordChangeTag == "s" && record.changedKeys() == [])
    let busy = CKRecord(recordType: "T", recordID: id("busy"))
    busy["a"] = 6
    let results = try await database.modifyRecords(
      saving: [record, busy], deleting: [id("old")], savePolicy: .changedKeys, atomically: false)
    guard case .modifyRecords(let sent) = transport.calls.last?.request else {
      Issue.record("no request")
      return
    }
    #expect(sent.policy == .changedKeys && !sent.isAtomic && sent.delete == [id("old").value])
    #expect(sent.save.map(\.changes.count) == [0, 1])
    guard case .failure(let error as CKError) = results.saveResults[id("busy")] else {
      Issue.record("the conflict was not reported")
      return
    }
    #expect(error.code == .serverRecordChanged && error.clientRecord === busy)
    #expect(error.serverRecord?.recordChangeTag == "s" && busy.changedKeys() == ["a"])
    #expect((try? results.deleteResults[id("old")]?.get()) != nil)
    #expect(await code { try await database.save(busy) } == .serverRecordChanged)
  }

  /// Proves CS-68.
  @Test("An invalid request is refused before anything is sent")
  func invalidRequestIsRefusedBeforeSending() async throws {
    let transport = records()
    let database = database(transport)
    let many = (0..<401).map { self.id("r\($0)") }
    let record = CKRecord(recordType: "T", recordID: id("twice"))
    #expect(
      await code { try await database.modifyRecords(saving: [], deleting: many) } == .limitExceeded)
    #expect(await code { _ = try await database.records(for: many) } == .limitExceeded)
    #expect(
      await code { try await database.modifyRecords(saving: [record, record], deleting: []) }
        == .invalidArguments)
    #expect(
      await code {
        try await database.modifyRecords(saving: [record], deleting: [record.recordID])
      } == .invalidArguments)
    let nothing = try await database.modifyRecords(saving: [], deleting: [])
    #expect(nothing.saveResults.isEmpty && transport.calls.isEmpty)
    #expect(
      await code {
        try await database.modifyRecords(saving: [], deleting: Array(many.prefix(400)))
      } == nil)
  }

  @Test("A reply to another request, and a reply that leaves an item out, are errors")
  func mismatchedReplyIsError() async throws {
    let wrong = database(ScriptedTransport { (_) throws(CloudError) in .zones([]) })
    #expect(await code { _ = try await wrong.record(for: self.id("a")) } == .internalError)
    let short = database(ScriptedTransport { (_) throws(CloudError) in .records([]) })
    #expect(await code { _ = try await short.record(for: self.id("a")) } == .internalError)
    let down = database(
      ScriptedTransport { (_) throws(CloudError) in
        throw CloudError(.serviceUnavailable, "down", retryAfter: 3)
      })
    do {
      _ = try await down.allRecordZones()
    } catch {
      #expect((error as? CKError)?.retryAfterSeconds == 3)
    }
    #expect(await code { _ = try await down.allRecordZones() } == .serviceUnavailable)
  }

  /// Proves CS-32.
  @Test("Zones are saved, fetched and deleted, with an error for each that is missing")
  func zoneRequestsReportEachMissingZone() async throws {
    let transport = ScriptedTransport { (request) throws(CloudError) in
      switch request {
      case .modifyZones(let modify):
        .zonesModified(
          saved: modify.save.map { .init(id: $0, .success(Zone(id: $0, capabilities: .custom))) },
          deleted: modify.delete.map {
            .init(id: $0, .failure(CloudError(.zoneNotFound, "no zone")))
          })
      case .fetchZones(let ids):
        .zones(
          (ids ?? [.default]).map { .init(id: $0, .success(Zone(id: $0))) })
      default: throw CloudError(.serverRejectedRequest, "unexpected")
      }
    }
    let database = database(transport)
    let saved = try await database.save(CKRecordZone(zoneName: "Z"))
    #expect(saved.zoneID == zone && saved.capabilities.contains(.atomic))
    #expect(try await database.recordZone(for: zone).zoneID == zone)
    #expect(try await database.allRecordZones().map(\.zoneID) == [.default])
    #expect(
      await code { try await database.deleteRecordZone(withID: self.zone) } == .zoneNotFound)
    let results = try await database.modifyRecordZones(
      saving: [CKRecordZone(zoneName: "Y")], deleting: [zone])
    #expect(results.saveResults.count == 1 && results.deleteResults.count == 1)
  }

  /// Proves CE-10.
  @Test("Changes arrive in pages, with tokens, deletions and their reasons")
  func changesArriveInPagesWithDeletions() async throws {
    let record = Record(id: id("r").value, type: "T", changeTag: ChangeTag("1"))
    let transport = ScriptedTransport { (request) throws(CloudError) in
      switch request {
      case .fetchDatabaseChanges(let fetch):
        .databaseChanges(
          DatabaseChangesPage(
            modified: [ZoneID(name: "Z")],
            deleted: ZoneDeletionReason.allCases.map {
              ZoneDeletion(zone: ZoneID(name: "\($0)"), reason: $0)
            }, token: fetch.since ?? ChangeToken(bytes: [1]), moreComing: true))
      case .fetchZoneChanges(let fetch):
        .zoneChanges(
          ZoneChangesPage(
            zone: fetch.zone, modified: [record],
            deleted: [RecordDeletion(id: RecordID(name: "d", zone: fetch.zone), type: "T")],
            token: ChangeToken(bytes: [9]), moreComing: false))
      default: throw CloudError(.serverRejectedRequest, "unexpected")
      }
    }
    let database = database(transport)
    let zones = try await database.databaseChanges(since: nil, resultsLimit: 7)
    #expect(zones.modifications == [.init(zoneID: zone)] && zones.moreComing)
    #expect(zones.deletions.map(\.reason) == [.deleted, .purged, .encryptedDataReset])
    #expect(zones.deletions.map(\.purged) == [false, true, false])
    let again = try await database.databaseChanges(since: zones.changeToken)
    #expect(again.changeToken == zones.changeToken)
    let records = try await database.recordZoneChanges(
      inZoneWith: zone, since: zones.changeToken, desiredKeys: ["a"], resultsLimit: 3)
    #expect(try records.modificationResultsByID[id("r")]?.get().record.recordChangeTag == "1")
    #expect(records.deletions == [.init(recordID: id("d"), recordType: "T")])
    #expect(
      transport.calls.map(\.request) == [
        .fetchDatabaseChanges(FetchDatabaseChanges(since: nil, limit: 7)),
        .fetchDatabaseChanges(FetchDatabaseChanges(since: ChangeToken(bytes: [1]))),
        .fetchZoneChanges(
          FetchZoneChanges(
            zone: zone.value, since: ChangeToken(bytes: [1]), limit: 3, fields: .keys(["a"]))),
      ])
  }

  @Test("Subscriptions are saved, fetched and deleted, with the class of their kind")
  func subscriptionClassesMatchTheirKinds() async throws {
    let zoneSubscription = Subscription(
      id: SubscriptionID("z"), kind: .zone(zone.value, recordType: nil))
    let transport = ScriptedTransport { (request) throws(CloudError) in
      switch request {
      case .fetchSubscriptions(let ids):
        .subscriptions(
          ids?.map { .init(id: $0, .failure(CloudError(.unknownItem, "none"))) }
            ?? [.init(id: zoneSubscription.id, .success(zoneSubscription))])
      case .modifySubscriptions(let modify):
        .subscriptionsModified(
          saved: modify.save.map { .init(id: $0.id, .success($0)) },
          deleted: modify.delete.map { .init(id: $0, .success(Done())) })
      default: throw CloudError(.serverRejectedRequest, "unexpected")
      }
    }
    let database = database(transport)
    let subscription = CKDatabaseSubscription(subscriptionID: "d")
    subscription.notificationInfo = .init(shouldSendContentAvailable: true)
    let saved = try await database.save(subscription)
    #expect(saved is CKDatabaseSubscription && saved.value == subscription.value)
    #expect(try await database.allSubscriptions().first is CKRecordZoneSubscription)
    #expect(await code { _ = try await database.subscription(for: "x") } == .unknownItem)
    #expect(try await database.deleteSubscription(withID: "d") == "d")
  }

  /// Proves CS-44.
  @Test("Completion handlers give the same results as the async calls")
  func completionHandlersMatchAsyncCalls() async throws {
    let database = database(records())
    let fetched = await withCheckedContinuation { continuation in
      database.fetch(withRecordID: id("here")) { record, error in
        continuation.resume(returning: (record?.recordChangeTag, error == nil))
      }
    }
    #expect(fetched.0 == "1" && fetched.1)
    let failed = await withCheckedContinuation { continuation in
      database.fetch(withRecordID: id("gone")) { record, error in
        continuation.resume(returning: (record == nil, (error as? CKError)?.code))
      }
    }
    #expect(failed.0 && failed.1 == .unknownItem)
    let record = CKRecord(recordType: "T", recordID: id("new"))
    let modified = await withCheckedContinuation { continuation in
      database.modifyRecords(saving: [record], deleting: [id("old")]) { result in
        continuation.resume(returning: result)
      }
    }
    let results = try modified.get()
    #expect(results.saveResults.count == 1 && results.deleteResults.count == 1)
    let refused = await withCheckedContinuation { continuation in
      database.modifyRecords(saving: [record, record], deleting: []) { result in
        continuation.resume(returning: result)
      }
    }
    #expect(throws: CKError.self) { _ = try refused.get() }
  }

  /// Proves CS-44.
  @Test("Completion handlers of zones, subscriptions and changes get what the server answers")
  func completionHandlersOfZonesSubscriptionsAndChanges() async throws {
    let server = LoopbackServer()
    let container = CKContainer(
      identifier: "iCloud.test", transport: server.device("phone", signedInAs: "alice"))
    let database = container.privateCloudDatabase
    let (kept, gone) = (CKRecordZone(zoneName: "Kept"), CKRecordZone.ID(zoneName: "Gone"))
    typealias Zones = (
      saveResults: [CKRecordZone.ID: Result<CKRecordZone, any Error>],
      deleteResults: [CKRecordZone.ID: Result<Void, any Error>]
    )
    let zones = try await answer { (done: @escaping @Sendable (Result<Zones, any Error>) -> Void) in
      database.modifyRecordZones(
        saving: [kept, CKRecordZone(zoneID: gone)], deleting: [], completionHandler: done)
    }
    #expect(Set(zones.saveResults.keys.map(\.zoneName)) == ["Kept", "Gone"])
    let deleted = try await answer {
      (done: @escaping @Sendable (Result<Zones, any Error>) -> Void) in
      database.modifyRecordZones(saving: [], deleting: [gone], completionHandler: done)
    }
    #expect(deleted.saveResults.isEmpty && deleted.deleteResults.keys.map(\.zoneName) == ["Gone"])
    let found = try await answer { done in
      database.fetch(withRecordZoneIDs: [kept.zoneID, gone], completionHandler: done)
    }
    #expect(try found[kept.zoneID]?.get().zoneID.zoneName == "Kept")
    #expect(throws: CKError.self) { try found[gone]?.get() }
    typealias Subscriptions = (
      saveResults: [CKSubscription.ID: Result<CKSubscription, any Error>],
      deleteResults: [CKSubscription.ID: Result<Void, any Error>]
    )
    let saved = try await answer {
      (done: @escaping @Sendable (Result<Subscriptions, any Error>) -> Void) in
      database.modifySubscriptions(
        saving: ["all", "more"].map {
          let subscription = CKDatabaseSubscription(subscriptionID: $0)
          subscription.notificationInfo = CKSubscription.NotificationInfo()
          return subscription
        }, deleting: [], completionHandler: done)
    }
    #expect(saved.saveResults.keys.sorted() == ["all", "more"] && saved.deleteResults.isEmpty)
    for result in saved.saveResults.values { _ = try result.get() }
    let removed = try await answer {
      (done: @escaping @Sendable (Result<Subscriptions, any Error>) -> Void) in
      database.modifySubscriptions(saving: [], deleting: ["more"], completionHandler: done)
    }
    #expect(removed.saveResults.isEmpty && removed.deleteResults.keys.sorted() == ["more"])
    let subscriptions = try await answer { done in
      database.fetch(withSubscriptionIDs: ["all"], completionHandler: done)
    }
    #expect(try subscriptions["all"]?.get().subscriptionID == "all")
    server.close()
  }

  private func answer<Value: Sendable>(
    _ body: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      body { continuation.resume(with: $0) }
    }
  }

  @Test("A push becomes the matching notification class")
  func pushBecomesMatchingNotificationClass() throws {
    let push = CloudPush(
      container: "iCloud.test", database: .shared, subscription: SubscriptionID("s"))
    let dictionary = CKNotification.remoteNotificationDictionary(for: push, notificationID: "n")
    let notification = CKNotification(fromRemoteNotificationDictionary: dictionary)
    let database = try #require(notification as? CKDatabaseNotification)
    #expect(database.databaseScope == .shared && database.notificationType == .database)
    #expect(database.subscriptionID == "s" && database.containerIdentifier == "iCloud.test")
    #expect(CKRecordZoneNotification(fromRemoteNotificationDictionary: dictionary) == nil)
    var zonePush = push
    zonePush.zone = zone.value
    let zoneDictionary = CKNotification.remoteNotificationDictionary(
      for: zonePush, notificationID: "n")
    let zoneNotification = CKNotification(fromRemoteNotificationDictionary: zoneDictionary)
    #expect((zoneNotification as? CKRecordZoneNotification)?.recordZoneID == zone)
    let strangers: [[AnyHashable: Any]] = [
      [:], ["aps": ["alert": "hi"]], ["ck": "text"], ["ck": [:] as [String: Any]],
      ["ck": ["met": 5]],
    ]
    for stranger in strangers {
      #expect(CKNotification(fromRemoteNotificationDictionary: stranger) == nil, "\(stranger)")
    }
  }

  @Test("Too many zones or subscriptions, or one item twice, are refused before anything is sent")
  func repeatedItemsAreRefusedBeforeSending() async {
    let transport = records()
    let database = database(transport)
    let zones = (0..<401).map { CKRecordZone.ID(zoneName: "z\($0)") }
    let names = (0..<401).map { "s\($0)" }
    let (recordID, zoneID) = (id("twice"), CKRecordZone.ID(zoneName: "twice"))
    let subscription = CKDatabaseSubscription(subscriptionID: "twice")
    let limits = [
      await code { _ = try await database.recordZones(for: zones) },
      await code { _ = try await database.subscriptions(for: names) },
      await code { try await database.modifyRecordZones(saving: [], deleting: zones) },
      await code { try await database.modifySubscriptions(saving: [], deleting: names) },
    ]
    let limit: CKError.Code? = .limitExceeded
    #expect(limits == [limit, limit, limit, limit])
    let codes = [
      await code {
        try await database.modifyRecords(saving: [], deleting: [recordID, recordID])
      },
      await code {
        try await database.modifyRecordZones(
          saving: [CKRecordZone(zoneID: zoneID), CKRecordZone(zoneID: zoneID)], deleting: [])
      },
      await code {
        try await database.modifyRecordZones(
          saving: [CKRecordZone(zoneID: zoneID)], deleting: [zoneID])
      },
      await code {
        try await database.modifySubscriptions(saving: [subscription, subscription], deleting: [])
      },
      await code {
        try await database.modifySubscriptions(saving: [subscription], deleting: ["twice"])
      },
    ]
    let refusal: CKError.Code? = .invalidArguments
    #expect(codes == [refusal, refusal, refusal, refusal, refusal])
    #expect(transport.calls.isEmpty)
  }

  @Test("Changes of records are atomic and check the version unless the app says otherwise")
  func recordChangesAreAtomicByDefault() async throws {
    let transport = records()
    let database = database(transport)
    let record = CKRecord(recordType: "T", recordID: id("new"))
    let recordID = id("old")
    try await database.save(record)
    try await database.deleteRecord(withID: recordID)
    try await database.modifyRecords(saving: [record], deleting: [])
    await withCheckedContinuation { continuation in
      database.modifyRecords(saving: [], deleting: [recordID]) { _ in continuation.resume() }
    }
    let sent = transport.calls.compactMap { call -> ModifyRecords? in
      if case .modifyRecords(let request) = call.request { request } else { nil }
    }
    #expect(sent.map(\.isAtomic) == [true, true, true, true])
    #expect(sent.allSatisfy { $0.policy == .ifServerRecordUnchanged })
  }

  private func single<Value: Sendable>(
    _ body: (@escaping @Sendable (Value?, (any Error)?) -> Void) -> Void
  ) async throws -> Value? {
    try await withCheckedThrowingContinuation { continuation in
      body { value, error in
        if let error {
          continuation.resume(throwing: error)
        } else {
          continuation.resume(returning: value)
        }
      }
    }
  }

  @Test("Completion handlers of single items and of changes get what the server answers")
  func completionHandlersOfSingleItems() async throws {
    let server = LoopbackServer()
    let container = CKContainer(
      identifier: "iCloud.test", transport: server.device("phone", signedInAs: "alice"))
    let database = container.privateCloudDatabase
    let (zoneID, recordID) = (zone, id("r"))
    let savedZone: CKRecordZone? = try await single { done in
      database.save(CKRecordZone(zoneID: zoneID), completionHandler: done)
    }
    let record = CKRecord(recordType: "T", recordID: recordID)
    let saved: CKRecord? = try await single { done in
      database.save(record, completionHandler: done)
    }
    #expect(savedZone?.zoneID == zoneID && saved === record)
    let fetchedZone: CKRecordZone? = try await single { done in
      database.fetch(withRecordZoneID: zoneID, completionHandler: done)
    }
    let zones: [CKRecordZone]? = try await single { done in
      database.fetchAllRecordZones(completionHandler: done)
    }
    #expect(fetchedZone?.zoneID == zoneID && zones?.count == 2)
    let subscription = CKDatabaseSubscription(subscriptionID: "s")
    subscription.notificationInfo = CKSubscription.NotificationInfo()
    let watch: CKSubscription? = try await single { done in
      database.save(subscription, completionHandler: done)
    }
    let found: CKSubscription? = try await single { done in
      database.fetch(withSubscriptionID: "s", completionHandler: done)
    }
    let all: [CKSubscription]? = try await single { done in
      database.fetchAllSubscriptions(completionHandler: done)
    }
    #expect(watch?.subscriptionID == "s" && found?.subscriptionID == "s" && all?.count == 1)
    let results = try await answer { done in
      database.fetch(withRecordIDs: [recordID], completionHandler: done)
    }
    #expect(try results[recordID]?.get().recordChangeTag == record.recordChangeTag)
    let changed: [CKRecordZone.ID] = await withCheckedContinuation { continuation in
      database.fetchDatabaseChanges(since: nil) { result in
        continuation.resume(returning: ((try? result.get())?.modifications ?? []).map(\.zoneID))
      }
    }
    let changes: Int = await withCheckedContinuation { continuation in
      database.fetchRecordZoneChanges(inZoneWith: zoneID, since: nil) { result in
        continuation.resume(returning: (try? result.get())?.modificationResultsByID.count ?? -1)
      }
    }
    #expect(changed == [zoneID] && changes == 1)
    let gone: CKRecord.ID? = try await single { done in
      database.delete(withRecordID: recordID, completionHandler: done)
    }
    let ended: String? = try await single { done in
      database.delete(withSubscriptionID: "s", completionHandler: done)
    }
    let goneZone: CKRecordZone.ID? = try await single { done in
      database.delete(withRecordZoneID: zoneID, completionHandler: done)
    }
    #expect(gone == recordID && ended == "s" && goneZone == zoneID)
    #expect(try await database.allRecordZones().count == 1)
    #expect(try await database.allSubscriptions().isEmpty)
    server.close()
  }

  @Test("A limit of 0 leaves the size of a page to the server")
  func limitOfZeroIsNotSent() async throws {
    let token = ChangeToken(bytes: [1])
    let transport = ScriptedTransport { (request) throws(CloudError) in
      switch request {
      case .queryRecords: .queried(QueryPage(records: [], cursor: nil))
      case .fetchDatabaseChanges:
        .databaseChanges(
          DatabaseChangesPage(modified: [], deleted: [], token: token, moreComing: false))
      case .fetchZoneChanges(let fetch):
        .zoneChanges(
          ZoneChangesPage(
            zone: fetch.zone, modified: [], deleted: [], token: token, moreComing: false))
      default: throw CloudError(.serverRejectedRequest, "unexpected")
      }
    }
    let database = database(transport)
    let query = CKQuery(recordType: "T", predicate: NSPredicate(value: true))
    for limit in [0, 1] {
      _ = try await database.records(matching: query, resultsLimit: limit)
      let feed = CKFetchDatabaseChangesOperation()
      feed.resultsLimit = limit
      let changes = CKFetchRecordZoneChangesOperation(
        recordZoneIDs: [zone], configurationsByRecordZoneID: [zone: .init(resultsLimit: limit)])
      for operation in [feed, changes] as [CKDatabaseOperation] {
        await withCheckedContinuation { continuation in
          operation.completionBlock = { continuation.resume() }
          database.add(operation)
        }
      }
    }
    let limits = transport.calls.map { call -> Int? in
      switch call.request {
      case .queryRecords(let request): request.limit
      case .fetchDatabaseChanges(let request): request.limit
      case .fetchZoneChanges(let request): request.limit
      default: -1
      }
    }
    #expect(limits == [nil, nil, nil, 1, 1, 1])
  }
}
