import CloudKit
import Testing

@Suite("Symbols of CKContainer and CKDatabase, as apps use them")
struct DatabaseSymbolTests {
  private let phone = container("phone", "iCloud.database-symbols")

  /// Proves CS-53.
  @Test("A container gives its status, user, databases and account notification")
  func containerGivesStatusUserAndDatabases() async throws {
    #expect(phone.containerIdentifier == "iCloud.database-symbols")
    switch try await phone.accountStatus() {
    case .available: break
    case .noAccount, .restricted, .couldNotDetermine, .temporarilyUnavailable:
      Issue.record("an account is signed in")
    @unknown default: Issue.record("?")
    }
    let status = await withCheckedContinuation { continuation in
      phone.accountStatus { status, error in
        continuation.resume(returning: error == nil ? status : .couldNotDetermine)
      }
    }
    let user = try await phone.userRecordID()
    let twin: CKRecord.ID? = await withCheckedContinuation { continuation in
      phone.fetchUserRecordID { id, _ in continuation.resume(returning: id) }
    }
    #expect(status == .available && user == twin)
    #expect(phone.database(with: .private) === phone.privateCloudDatabase)
    #expect(phone.sharedCloudDatabase.databaseScope == .shared)
    #expect(phone.publicCloudDatabase.databaseScope == CKDatabase.Scope(rawValue: 1))
    let observer = NotificationCenter.default.addObserver(
      forName: .CKAccountChanged, object: nil, queue: nil
    ) { _ in }
    NotificationCenter.default.removeObserver(observer)
  }

  /// Proves CS-44, E6.
  @Test("Zones, records, feeds and subscriptions work through async calls and handlers")
  func asyncCallsAndHandlersReachDatabase() async throws {
    let database = phone.privateCloudDatabase
    let zone = try await database.save(CKRecordZone(zoneName: "Calls"))
    #expect(zone.capabilities.contains(.atomic))
    let zones = try await database.allRecordZones()
    #expect(zones.contains { $0.zoneID == zone.zoneID })
    _ = try await database.recordZone(for: zone.zoneID)
    let (saved, deleted) = try await database.modifyRecordZones(
      saving: [CKRecordZone(zoneName: "More")], deleting: [])
    #expect(saved.count == 1 && deleted.isEmpty)
    try await database.deleteRecordZone(withID: CKRecordZone.ID(zoneName: "More"))
    let records = (1...3).map { number in
      let record = CKRecord(recordType: "Call", recordID: .init("\(number)", in: zone))
      record[.count] = number
      return record
    }
    _ = try await database.modifyRecords(saving: records, deleting: [])
    let byID = try await database.records(for: records.map(\.recordID))
    #expect(try byID[records[0].recordID]?.get()[.count] as? Int == 1)
    let query = CKQuery(recordType: "Call", predicate: NSPredicate(format: "count >= %d", 2))
    query.sortDescriptors = [NSSortDescriptor(key: "count", ascending: false)]
    let (matches, cursor) = try await database.records(
      matching: query, inZoneWith: zone.zoneID, resultsLimit: 1)
    #expect(try matches.map { try $0.1.get()[.count] as? Int } == [3])
    let (rest, end) = try await database.records(
      continuingMatchFrom: try #require(cursor), resultsLimit: 5)
    #expect(rest.map { $0.0.recordName } == ["2"] && end == nil)
    let changes = try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: nil)
    #expect(changes.modificationResultsByID.count == 3 && !changes.moreComing)
    let zoneChanges = try await database.databaseChanges(since: nil)
    #expect(zoneChanges.modifications.contains { $0.zoneID == zone.zoneID })
    try await database.deleteRecord(withID: records[2].recordID)
    let later = try await database.recordZoneChanges(
      inZoneWith: zone.zoneID, since: changes.changeToken, desiredKeys: [], resultsLimit: 10)
    #expect(later.deletions.map(\.recordType) == ["Call"])
    let subscription = CKDatabaseSubscription(subscriptionID: "all")
    let info = CKSubscription.NotificationInfo()
    info.shouldSendContentAvailable = true
    subscription.notificationInfo = info
    try await database.save(subscription)
    let known = try await database.subscription(for: "all")
    #expect(known.subscriptionType == .database && known is CKDatabaseSubscription)
    #expect(try await database.allSubscriptions().count == 1)
    try await database.deleteSubscription(withID: "all")
    let fetched: CKRecord? = await withCheckedContinuation { continuation in
      database.fetch(withRecordID: records[0].recordID) { record, _ in
        continuation.resume(returning: record)
      }
    }
    let found: [CKRecord]? = await withCheckedContinuation { continuation in
      database.perform(query, inZoneWith: zone.zoneID) { records, _ in
        continuation.resume(returning: records)
      }
    }
    #expect(fetched != nil && found?.count == 1)
    try await database.deleteRecordZone(withID: zone.zoneID)
  }

  /// Proves CS-150.
  @Test("In the public database anyone can read and only the creator can write")
  func publicDatabaseAllowsWritesOnlyByCreator() async throws {
    let record = CKRecord(recordType: "Post")
    record[.title] = "hello"
    try await phone.publicCloudDatabase.save(record)
    let stranger = container("s", "iCloud.database-symbols", account: "stranger")
      .publicCloudDatabase
    let read = try await stranger.record(for: record.recordID)
    #expect(read.title == "hello")
    read.title = "changed"
    do {
      try await stranger.save(read)
      Issue.record("a stranger changed a record")
    } catch let error as CKError { #expect(error.code == .permissionFailure) }
    let nobody = container("n", "iCloud.database-symbols", account: "")
    #expect(try await nobody.accountStatus() == .noAccount)
    _ = try await nobody.publicCloudDatabase.record(for: record.recordID)
  }
}
