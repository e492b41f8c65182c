import CloudProtocol
import Records
import Synchronization

@testable import LoopbackServer

/// How many of the next transactions of a storage fail with a conflict.
final class Conflicts: Sendable {
  private let state = Mutex(
    (left: 0, delay: Duration.zero, failure: ServerFileError.Code?.none))

  var left: Int { state.withLock { $0.left } }
  func set(_ count: Int, delay: Duration) { state.withLock { $0 = (count, delay, nil) } }

  /// Lets all transactions fail as those of a file do; `nil` ends it.
  func fail(_ code: ServerFileError.Code?) { state.withLock { $0.failure = code } }

  fileprivate func take() throws {
    if let failure = state.withLock({ $0.failure }) {
      throw ServerFileError(failure, path: "p", "the storage fails")
    }
    let delay = state.withLock { state -> Duration? in
      guard state.left > 0 else { return nil }
      state.left -= 1
      return state.delay
    }
    guard let delay else { return }
    throw TransactionConflict(error: CloudError(.zoneBusy, "again"), reason: "busy", delay: delay)
  }
}

/// A storage in memory whose transactions conflict with those of other processes.
final class ConflictingStorage: CloudStorage {
  private let base = MemoryStorage()
  private let conflicts: Conflicts

  init(_ conflicts: Conflicts) { self.conflicts = conflicts }

  func transaction<Value>(_ body: () throws -> Value) throws -> Value {
    try conflicts.take()
    return try base.transaction(body)
  }

  func commit(_ changes: [StorageChange]) throws { try base.commit(changes) }
  func identity() throws -> UInt64 { try base.identity() }
  func secret() throws -> StorageSecret { try base.secret() }
  func account(named name: String) throws -> AccountRow? { try base.account(named: name) }
  func account(_ user: UserID) throws -> AccountRow? { try base.account(user) }
  func accounts() throws -> [AccountRow] { try base.accounts() }
  func databases() throws -> [DatabaseRow] { try base.databases() }
  func database(_ id: DatabaseID) throws -> DatabaseRow? { try base.database(id) }
  func zone(_ zone: ZoneID, in database: DatabaseID) throws -> ZoneRow? {
    try base.zone(zone, in: database)
  }
  func zones(in database: DatabaseID) throws -> [ZoneRow] { try base.zones(in: database) }
  func zoneChanges(
    in database: DatabaseID, after sequence: UInt64, limit: Int
  ) throws -> [ZoneRow] {
    try base.zoneChanges(in: database, after: sequence, limit: limit)
  }
  func record(_ id: RecordID, in database: DatabaseID) throws -> RecordRow? {
    try base.record(id, in: database)
  }
  func recordChanges(
    of zone: ZoneID, in database: DatabaseID, after sequence: UInt64, limit: Int
  ) throws -> [RecordRow] {
    try base.recordChanges(of: zone, in: database, after: sequence, limit: limit)
  }
  func links(to target: RecordID, in database: DatabaseID) throws -> [RecordLink] {
    try base.links(to: target, in: database)
  }
  func subscription(_ id: SubscriptionID, in database: DatabaseID) throws -> Subscription? {
    try base.subscription(id, in: database)
  }
  func subscriptions(in database: DatabaseID) throws -> [Subscription] {
    try base.subscriptions(in: database)
  }
  func subscriptionHomes(of database: DatabaseID) throws -> [DatabaseID] {
    try base.subscriptionHomes(of: database)
  }
  func receipt(_ key: ReceiptKey) throws -> Receipt? { try base.receipt(key) }
  func recordType(_ id: RecordTypeID) throws -> RecordTypeRow? { try base.recordType(id) }
  func recordTypes(
    of container: String, in environment: CloudEnvironment
  ) throws -> [RecordTypeRow] {
    try base.recordTypes(of: container, in: environment)
  }
  func schema(of container: String, in environment: CloudEnvironment) throws -> SchemaRow? {
    try base.schema(of: container, in: environment)
  }
  func prepareRecords(
    ofType type: String, in zone: ZoneID, of database: DatabaseID, limit: Int
  ) throws -> Bool {
    try base.prepareRecords(ofType: type, in: zone, of: database, limit: limit)
  }
  func records(
    ofType type: String, in zone: ZoneID, of database: DatabaseID, after name: String?, limit: Int
  ) throws -> [RecordRow] {
    try base.records(ofType: type, in: zone, of: database, after: name, limit: limit)
  }
  func assetContent(_ checksum: String, in range: Range<Int>) throws -> [UInt8]? {
    try base.assetContent(checksum, in: range)
  }
  func upload(_ receipt: String) throws -> UploadRow? { try base.upload(receipt) }
  func uploads(through time: Timestamp, limit: Int) throws -> [String] {
    try base.uploads(through: time, limit: limit)
  }
  func databaseNames() throws -> [DatabaseID] { try base.databaseNames() }
  func zoneNames(in database: DatabaseID) throws -> [ZoneID] { try base.zoneNames(in: database) }
  func forEachRecord(
    of zone: ZoneID, in database: DatabaseID, _ body: (RecordRow) throws -> Void
  ) throws {
    try base.forEachRecord(of: zone, in: database, body)
  }
  func recordTypes() throws -> [RecordTypeRow] { try base.recordTypes() }
  func schemas() throws -> [SchemaRow] { try base.schemas() }
  func assetChecksums() throws -> [String] { try base.assetChecksums() }
  func receiptKeys() throws -> [ReceiptKey] { try base.receiptKeys() }
}
