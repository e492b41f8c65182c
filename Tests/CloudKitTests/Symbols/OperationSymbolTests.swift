import CloudKit
import Testing

/// Handlers with the payload types spelt out, as apps pass events on.
private struct EventHandlers {
  var words: [String] = []

  mutating func handle(_ event: CKSyncEngine.Event.StateUpdate) -> CKSyncEngine.State.Serialization
  {
    event.stateSerialization
  }

  mutating func handle(_ event: CKSyncEngine.Event.AccountChange) {
    let change: CKSyncEngine.Event.AccountChange.ChangeType = event.changeType
    if case .signIn = change { words.append("in") }
  }

  mutating func handle(_ event: CKSyncEngine.Event.FetchedDatabaseChanges) {
    for deletion: CKDatabase.DatabaseChange.Deletion in event.deletions {
      let reason: CKDatabase.DatabaseChange.Deletion.Reason = deletion.reason
      words.append("\(reason)")
    }
  }

  mutating func handle(_ event: CKSyncEngine.Event.FetchedRecordZoneChanges) {
    words += event.deletions.map { $0.recordType }
  }

  mutating func handle(_ event: CKSyncEngine.Event.SentDatabaseChanges) {
    words += event.savedZones.map { $0.zoneID.zoneName }
  }

  mutating func handle(_ failure: CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave) {
    words.append("\(failure.error.code.rawValue)")
  }
}

@Suite("Symbols of operations, subscriptions and notifications, as apps use them")
struct OperationSymbolTests {
  private let database = container("phone", "iCloud.operation-symbols").privateCloudDatabase
  private let zone = CKRecordZone(zoneName: "Things")

  private func run<Value: Sendable>(
    _ body: (@escaping (Result<Value, Error>) -> Void) -> CKDatabaseOperation
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      let operation = body { continuation.resume(with: $0) }
      operation.configuration.qualityOfService = .userInitiated
      database.add(operation)
    }
  }

  private func fill() async throws -> [CKRecord.ID] {
    try await database.save(zone)
    let type: CKRecord.RecordType = "Thing"
    let records = (1...3).map { CKRecord(recordType: type, recordID: .init("\($0)", in: zone)) }
    let action: CKRecord.ReferenceAction = .none
    records[1]["other"] = CKRecord.Reference(record: records[0], action: action)
    _ = try await database.modifyRecords(saving: records, deleting: [])
    return records.map { $0.recordID }
  }

  /// Proves E6.
  @Test("Fetches of records, zones and subscriptions call both kinds of blocks")
  func fetchOperationsCallBothKindsOfBlocks() async throws {
    let ids = try await fill()
    let records: [CKRecord.ID: CKRecord] = try await run { done in
      let operation = CKFetchRecordsOperation(recordIDs: ids)
      operation.desiredKeys = ["other"]
      var found: [CKRecord.ID: CKRecord] = [:]
      operation.perRecordResultBlock = { id, result in found[id] = try? result.get() }
      operation.fetchRecordsResultBlock = { result in done(result.map { found }) }
      return operation
    }
    #expect(Set(records.keys) == Set(ids))
    let zones: [CKRecordZone.ID: CKRecordZone] = try await run { done in
      let operation = CKFetchRecordZonesOperation(recordZoneIDs: [zone.zoneID])
      operation.fetchRecordZonesCompletionBlock = { zones, error in
        done(error.map { .failure($0) } ?? .success(zones ?? [:]))
      }
      return operation
    }
    #expect(zones.count == 1)
    let all: Int = try await run { done in
      let operation = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
      var count = 0
      operation.perRecordZoneResultBlock = { _, _ in count += 1 }
      operation.fetchRecordZonesResultBlock = { result in done(result.map { count }) }
      return operation
    }
    #expect(all == 2)
    let changed: [String] = try await run { done in
      let options = CKFetchRecordZoneChangesOperation.ZoneOptions()
      options.resultsLimit = 2
      let operation = CKFetchRecordZoneChangesOperation(
        recordZoneIDs: [zone.zoneID], optionsByRecordZoneID: [zone.zoneID: options])
      operation.fetchAllChanges = true
      var names: [String] = []
      operation.recordChangedBlock = { names.append($0.recordID.recordName) }
      operation.recordZoneFetchCompletionBlock = { _, _, _, _, _ in }
      operation.fetchRecordZoneChangesCompletionBlock = { error in
        done(error.map { .failure($0) } ?? .success(names))
      }
      return operation
    }
    #expect(changed == ["1", "2", "3"])
  }

  @Test("Calls with another configuration run from the main actor")
  @MainActor
  func configuredCallsRunOnMainActor() async throws {
    let group = CKOperationGroup()
    group.name = "import"
    let record = CKRecord(recordType: "Thing")
    var steps: [String] = []
    let saved = try await database.configuredWith(group: group) { database in
      steps.append("begun")
      return try await database.save(record)
    }
    #expect(saved.recordID == record.recordID && steps == ["begun"])
  }

  @Test("Subscriptions of all kinds are saved, fetched and distinguished")
  func subscriptionsOfAllKindsAreDistinguished() async throws {
    _ = try await fill()
    let info = CKSubscription.NotificationInfo()
    info.alertBody = "new"
    info.shouldSendContentAvailable = true
    info.desiredKeys = ["other"]
    let zoneSubscription = CKRecordZoneSubscription(zoneID: zone.zoneID, subscriptionID: "zone")
    let options: CKQuerySubscription.Options = [.firesOnRecordCreation, .firesOnRecordUpdate]
    let querySubscription = CKQuerySubscription(
      recordType: "Thing", predicate: NSPredicate(value: true), subscriptionID: "query",
      options: options)
    for subscription in [zoneSubscription, querySubscription] as [CKSubscription] {
      subscription.notificationInfo = info
    }
    let saved: Int = try await run { done in
      let operation = CKModifySubscriptionsOperation(
        subscriptionsToSave: [zoneSubscription, querySubscription], subscriptionIDsToDelete: nil)
      var count = 0
      operation.perSubscriptionSaveBlock = { _, result in
        if case .success = result { count += 1 }
      }
      operation.modifySubscriptionsResultBlock = { result in done(result.map { count }) }
      return operation
    }
    #expect(saved == 2)
    let found: [CKSubscription.ID: CKSubscription] = try await run { done in
      let operation = CKFetchSubscriptionsOperation(subscriptionIDs: ["zone", "query"])
      operation.fetchSubscriptionCompletionBlock = { found, error in
        done(error.map { .failure($0) } ?? .success(found ?? [:]))
      }
      return operation
    }
    #expect((found["zone"] as? CKRecordZoneSubscription)?.zoneID == zone.zoneID)
    let query = found["query"] as? CKQuerySubscription
    #expect(query?.recordType == "Thing" && query?.querySubscriptionOptions == options)
    #expect(query?.notificationInfo?.alertBody == "new" && query?.subscriptionType == .query)
  }

  @Test("A notification has the class that matches its payload")
  func notificationClassMatchesPayload() throws {
    func notification(_ part: String, _ content: [String: Any]) -> CKNotification? {
      let ck: [AnyHashable: Any] = ["cid": "iCloud.x", "nid": "1", part: content]
      return CKNotification(fromRemoteNotificationDictionary: ["ck": ck, "aps": [String: Any]()])
    }
    let zone = notification("fet", ["sid": "s", "zid": "Things", "zoid": "_me", "dbs": 2])
    #expect((zone as? CKRecordZoneNotification)?.recordZoneID?.zoneName == "Things")
    let query = notification(
      "qry", ["sid": "s", "zid": "Things", "zoid": "_me", "rid": "1", "fo": 1, "dbs": 2])
    #expect((query as? CKQueryNotification)?.recordID?.recordName == "1")
    #expect((query as? CKQueryNotification)?.queryNotificationReason == .recordCreated)
    let database = notification("met", ["sid": "s", "dbs": 3])
    #expect((database as? CKDatabaseNotification)?.databaseScope == .shared)
    #expect(database?.subscriptionID == "s" && database?.containerIdentifier == "iCloud.x")
    #expect(CKNotification(fromRemoteNotificationDictionary: ["aps": "x"]) == nil)
  }

  /// Proves CE-2.
  @Test("Events created by hand pass through an app's own handlers")
  func handmadeEventsReachAppHandlers() throws {
    var handlers = EventHandlers()
    let id = CKRecord.ID("1", in: zone)
    handlers.handle(.init(changeType: .signIn(currentUser: id)))
    handlers.handle(
      .init(
        modifications: [], deletions: [.init(zoneID: zone.zoneID, reason: .encryptedDataReset)]))
    handlers.handle(
      CKSyncEngine.Event.FetchedRecordZoneChanges(
        modifications: [], deletions: [.init(recordID: id, recordType: "Thing")]))
    handlers.handle(
      .init(savedZones: [zone], failedZoneSaves: [], deletedZoneIDs: [], failedZoneDeletes: [:]))
    handlers.handle(.init(record: CKRecord(recordType: "T"), error: CKError(.zoneBusy)))
    #expect(handlers.words == ["in", "encryptedDataReset", "Thing", "Things", "23"])
    let permission: CKShare.ParticipantPermission = .readWrite
    let share = CKShare(rootRecord: CKRecord(recordType: "T"))
    share.publicPermission = permission
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    share.encodeSystemFields(with: archiver)
    let coder = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
    #expect(CKShare(coder: coder).publicPermission == permission)
  }
}
