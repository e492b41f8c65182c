import CloudSync
import CloudSyncTesting
import Foundation
import LoopbackServer
import Synchronization
import Testing

/// The observations and settings of a test about a storage.
private final class StorageLog: Sendable {
  struct Contents {
    var transactions = 0
    var savedNames: [String] = []
    var isClosed = false
    var failure: CloudError?
    var version: Int64?
    var losesTombstones = false
  }

  let contents = Mutex(Contents())

  /// The contents at this moment.
  var current: Contents { contents.withLock { $0 } }
}

/// A storage as an adopter writes it: it records the commits and keeps the rows in another storage.
private final class RecordingStorage: CloudStorage {
  private let log: StorageLog
  private let rows: MemoryStorage

  init(_ log: StorageLog, rows: MemoryStorage = MemoryStorage(identity: 7)) {
    self.log = log
    self.rows = rows
  }

  func transaction<Value>(_ body: () throws -> Value) throws -> Value {
    log.contents.withLock { $0.transactions += 1 }
    return try rows.transaction(body)
  }

  func commit(_ changes: [StorageChange]) throws {
    if let failure = log.contents.withLock({ $0.failure.take() }) { throw failure }
    let losesTombstones = log.current.losesTombstones
    try rows.commit(
      changes.filter { change in
        guard losesTombstones, case .putRecord(let row, _) = change else { return true }
        return row.record != nil
      })
    for case .putRecord(let row, _) in changes {
      log.contents.withLock { $0.savedNames.append(row.id.name) }
    }
  }

  func dataVersion() throws -> Int64? { log.current.version }
  func close() throws { log.contents.withLock { $0.isClosed = true } }

  func identity() throws -> UInt64 { try rows.identity() }
  func secret() throws -> StorageSecret { try rows.secret() }
  func account(named name: String) throws -> AccountRow? { try rows.account(named: name) }
  func account(_ user: UserID) throws -> AccountRow? { try rows.account(user) }
  func accounts() throws -> [AccountRow] { try rows.accounts() }
  func databases() throws -> [DatabaseRow] { try rows.databases() }
  func database(_ id: DatabaseID) throws -> DatabaseRow? { try rows.database(id) }
  func zone(_ zone: ZoneID, in database: DatabaseID) throws -> ZoneRow? {
    try rows.zone(zone, in: database)
  }
  func zones(in database: DatabaseID) throws -> [ZoneRow] { try rows.zones(in: database) }
  func zoneChanges(
    in database: DatabaseID, after sequence: UInt64, limit: Int
  ) throws -> [ZoneRow] {
    try rows.zoneChanges(in: database, after: sequence, limit: limit)
  }
  func record(_ id: RecordID, in database: DatabaseID) throws -> RecordRow? {
    try rows.record(id, in: database)
  }
  func recordChanges(
    of zone: ZoneID, in database: DatabaseID, after sequence: UInt64, limit: Int
  ) throws -> [RecordRow] {
    try rows.recordChanges(of: zone, in: database, after: sequence, limit: limit)
  }
  func links(to target: RecordID, in database: DatabaseID) throws -> [RecordLink] {
    try rows.links(to: target, in: database)
  }
  func subscription(_ id: SubscriptionID, in database: DatabaseID) throws -> Subscription? {
    try rows.subscription(id, in: database)
  }
  func subscriptions(in database: DatabaseID) throws -> [Subscription] {
    try rows.subscriptions(in: database)
  }
  func subscriptionHomes(of database: DatabaseID) throws -> [DatabaseID] {
    try rows.subscriptionHomes(of: database)
  }
  func receipt(_ key: ReceiptKey) throws -> Receipt? { try rows.receipt(key) }

  func recordType(_ id: RecordTypeID) throws -> RecordTypeRow? { try rows.recordType(id) }
  func recordTypes(
    of container: String, in environment: CloudEnvironment
  ) throws -> [RecordTypeRow] {
    try rows.recordTypes(of: container, in: environment)
  }
  func schema(of container: String, in environment: CloudEnvironment) throws -> SchemaRow? {
    try rows.schema(of: container, in: environment)
  }
  func prepareRecords(
    ofType type: String, in zone: ZoneID, of database: DatabaseID, limit: Int
  ) throws -> Bool {
    try rows.prepareRecords(ofType: type, in: zone, of: database, limit: limit)
  }
  func records(
    ofType type: String, in zone: ZoneID, of database: DatabaseID, after name: String?, limit: Int
  ) throws -> [RecordRow] {
    try rows.records(ofType: type, in: zone, of: database, after: name, limit: limit)
  }

  func assetContent(_ checksum: String, in range: Range<Int>) throws -> [UInt8]? {
    try rows.assetContent(checksum, in: range)
  }
  func upload(_ receipt: String) throws -> UploadRow? { try rows.upload(receipt) }
  func uploads(through time: Timestamp, limit: Int) throws -> [String] {
    try rows.uploads(through: time, limit: limit)
  }

  func databaseNames() throws -> [DatabaseID] { try rows.databaseNames() }
  func zoneNames(in database: DatabaseID) throws -> [ZoneID] { try rows.zoneNames(in: database) }
  func forEachRecord(
    of zone: ZoneID, in database: DatabaseID, _ body: (RecordRow) throws -> Void
  ) throws {
    try rows.forEachRecord(of: zone, in: database, body)
  }
  func recordTypes() throws -> [RecordTypeRow] { try rows.recordTypes() }
  func schemas() throws -> [SchemaRow] { try rows.schemas() }
  func assetChecksums() throws -> [String] { try rows.assetChecksums() }
  func receiptKeys() throws -> [ReceiptKey] { try rows.receiptKeys() }
}

/// Uses the public API through plain imports, as code outside this package does.
@Suite("A storage written outside of this package")
struct CustomStorageTests {
  private static func database(of device: LoopbackDevice) -> CKDatabase {
    CKContainer(identifier: "iCloud.test", transport: device).privateCloudDatabase
  }

  private static func note(_ name: String) -> CKRecord {
    let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name))
    record["title"] = name
    return record
  }

  /// Proves S3.
  @Test(arguments: StorageCheck.all)
  func theStoragePassesTheChecksOfEveryStorage(_ check: StorageCheck) throws {
    let suite = StorageConformance("recording") {
      let log = StorageLog()
      var stored: MemoryStorage?
      return { identity in
        let rows = stored ?? MemoryStorage(identity: identity)
        stored = rows
        return RecordingStorage(log, rows: rows)
      }
    }
    try suite.run(check)
  }

  @Test func aStorageThatLosesTombstonesIsReportedWithTheRules() throws {
    let suite = StorageConformance("forgetful", lifetime: .storage) {
      let log = StorageLog()
      log.contents.withLock { $0.losesTombstones = true }
      return { identity in RecordingStorage(log, rows: MemoryStorage(identity: identity)) }
    }
    let rule = "tombstones are removed up to a number, records are not"
    let check = try #require(suite.checks.first { $0.name == rule })
    let one = #expect(throws: ConformanceFailure.self) { try suite.run(check) }
    let text = try #require(one).description
    #expect(text.hasPrefix("forgetful: \(rule): expected b [c], found "))
    let all = #expect(throws: ConformanceFailure.self) { try suite.run() }
    let lines = try #require(all).description.split(separator: "\n").map(String.init)
    #expect(lines.contains(text) && lines.count > 1)
  }

  @Test func aStorageThatFailsIsReportedWithItsErrorAndClosed() throws {
    let log = StorageLog()
    let suite = StorageConformance("full", lifetime: .storage) {
      { identity in RecordingStorage(log, rows: MemoryStorage(identity: identity)) }
    }
    let comparison = "any changes leave the same rows as in memory, seed 1"
    for rule in ["a share refers to its root", comparison] {
      log.contents.withLock {
        $0.failure = CloudError(.quotaExceeded, "the disk is full")
        $0.isClosed = false
      }
      let check = try #require(suite.checks.first { $0.name == rule })
      let failure = #expect(throws: ConformanceFailure.self) { try suite.run(check) }
      let text = try #require(failure).description
      #expect(text.hasPrefix("full: \(rule): the storage threw ") && text.contains("disk is full"))
      #expect(log.current.isClosed)
    }
    let none = StorageConformance("none") { throw CancellationError() }
    let failure = #expect(throws: ConformanceFailure.self) { try none.run(StorageCheck.all[0]) }
    #expect(failure?.description.contains(": no data could be made: ") == true)
  }

  @Test func aServerRunsOnTheStorageAndClosesIt() async throws {
    let log = StorageLog()
    let server = try LoopbackServer(storage: RecordingStorage(log))
    let phone = Self.database(of: server.device("phone", signedInAs: "alice"))
    _ = try await phone.save(Self.note("first"))
    let tablet = Self.database(of: server.device("tablet", signedInAs: "alice"))
    let record = try await tablet.record(for: CKRecord.ID(recordName: "first"))
    #expect(record["title"] == "first")
    let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
    #expect(try await tablet.records(matching: query).matchResults.count == 1)
    #expect(log.current.savedNames == ["first"])
    #expect(log.current.transactions > 0)
    #expect(!log.current.isClosed)
    server.close()
    #expect(log.current.isClosed)
  }

  @Test func aFailedCommitFailsTheRequestAndChangesNothing() async throws {
    let log = StorageLog()
    let server = try LoopbackServer(storage: RecordingStorage(log))
    let database = Self.database(of: server.device("phone", signedInAs: "alice"))
    _ = try await database.save(Self.note("first"))
    log.contents.withLock { $0.failure = CloudError(.quotaExceeded, "the disk is full") }
    await #expect(throws: CKError.self) { _ = try await database.save(Self.note("second")) }
    #expect(log.current.savedNames == ["first"])
    _ = try await database.save(Self.note("second"))
    #expect(log.current.savedNames == ["first", "second"])
  }

  @Test func aStorageThatOtherProcessesChangeIsCheckedForTheirChanges() async throws {
    let log = StorageLog()
    log.contents.withLock { $0.version = 1 }
    let server = try LoopbackServer(storage: RecordingStorage(log))
    let database = Self.database(of: server.device("phone", signedInAs: "alice"))
    _ = try await database.save(Self.note("first"))
    let before = log.current.transactions
    _ = try server.checkForForeignChanges()
    #expect(log.current.transactions == before)
    log.contents.withLock { $0.version = 2 }
    _ = try server.checkForForeignChanges()
    #expect(log.current.transactions > before)
  }
}
