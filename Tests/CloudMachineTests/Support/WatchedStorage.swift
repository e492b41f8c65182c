import CloudMachine
import CloudProtocol
import Records

/// A storage that counts calls, compares reads with the announced plans, and fails on demand.
final class WatchedStorage: CloudStorage {
  struct Failure: Error {}

  let base: MemoryStorage
  /// How many calls came since the last reset, commits too.
  private(set) var calls = 0
  /// How many rows were handed out.
  private(set) var rows = 0
  /// How often all accounts were read.
  private(set) var accountReads = 0
  /// How many reads came after a commit in the same transaction.
  private(set) var lateReads = 0
  /// The call that fails, counted from 1; 0 for none.
  var failingCall = 0
  private var hasCommitted = false
  /// The announced plans; `nil` if reads are not compared with them.
  private var plans: [ReadPlan]?
  /// The reads that no plan names.
  private(set) var misses: [String] = []

  init(_ base: MemoryStorage) { self.base = base }

  func reset(failingCall: Int = 0) {
    calls = 0
    accountReads = 0
    rows = 0
    lateReads = 0
    self.failingCall = failingCall
  }

  func transaction<Value>(_ body: () throws -> Value) throws -> Value {
    hasCommitted = false
    return try base.transaction(body)
  }

  /// Compares all later reads with the plans.
  func comparePlans() { plans = [] }

  func foresee(_ plan: () -> ReadPlan) throws {
    plans?.append(plan())
  }

  private func expect(_ read: @autoclosure () -> String, _ isNamed: (ReadPlan) -> Bool) {
    if plans?.contains(where: isNamed) == false { misses.append(read()) }
  }

  private func count() throws {
    calls += 1
    if calls == failingCall { throw Failure() }
  }

  private func read<Value>(_ value: Value?) throws -> Value? {
    try count()
    if hasCommitted { lateReads += 1 }
    if value != nil { rows += 1 }
    return value
  }

  private func read<Value>(_ values: [Value]) throws -> [Value] {
    try count()
    if hasCommitted { lateReads += 1 }
    rows += values.count
    return values
  }

  func identity() throws -> UInt64 { try base.identity() }
  func secret() throws -> StorageSecret { try base.secret() }
  func account(named name: String) throws -> AccountRow? {
    expect("account \(name)") { $0.accounts.contains(name) }
    return try read(base.account(named: name))
  }
  func account(_ user: UserID) throws -> AccountRow? {
    expect("account \(user)") { $0.users.contains(user) }
    return try read(base.account(user))
  }
  func accounts() throws -> [AccountRow] {
    accountReads += 1
    return try read(base.accounts())
  }
  func databaseNames() throws -> [DatabaseID] { try read(base.databaseNames()) }
  func zoneNames(in database: DatabaseID) throws -> [ZoneID] {
    try read(base.zoneNames(in: database))
  }
  func forEachRecord(
    of zone: ZoneID, in database: DatabaseID, _ body: (RecordRow) throws -> Void
  ) throws {
    try count()
    try base.forEachRecord(of: zone, in: database, body)
  }
  func recordTypes() throws -> [RecordTypeRow] { try read(base.recordTypes()) }
  func schemas() throws -> [SchemaRow] { try read(base.schemas()) }
  func assetChecksums() throws -> [String] { try read(base.assetChecksums()) }
  func receiptKeys() throws -> [ReceiptKey] { try read(base.receiptKeys()) }
  func databases() throws -> [DatabaseRow] { try read(base.databases()) }
  func database(_ id: DatabaseID) throws -> DatabaseRow? {
    expect("database \(id)") { $0.databases.contains(id) }
    return try read(base.database(id))
  }
  func zone(_ zone: ZoneID, in database: DatabaseID) throws -> ZoneRow? {
    expect("zone \(zone)") { $0.zones[database]?.contains(zone) == true }
    return try read(base.zone(zone, in: database))
  }
  func zones(in database: DatabaseID) throws -> [ZoneRow] { try read(base.zones(in: database)) }
  func zoneChanges(
    in database: DatabaseID, after sequence: UInt64, limit: Int
  ) throws -> [ZoneRow] {
    expect("zones after \(sequence), \(limit)") {
      $0.page == ReadPlan.Page(zone: nil, database: database, after: sequence, limit: limit)
    }
    return try read(base.zoneChanges(in: database, after: sequence, limit: limit))
  }
  func record(_ id: RecordID, in database: DatabaseID) throws -> RecordRow? {
    expect("record \(id)") { plan in
      (plan.records + plan.newRecords).contains { records in
        records.zone == id.zone && records.database == database && records.names.contains(id.name)
      }
    }
    return try read(base.record(id, in: database))
  }
  func recordChanges(
    of zone: ZoneID, in database: DatabaseID, after sequence: UInt64, limit: Int
  ) throws -> [RecordRow] {
    let found = try base.recordChanges(of: zone, in: database, after: sequence, limit: limit)
    expect("records after \(sequence), \(limit)") { plan in
      guard let page = plan.page, page.zone == zone, page.database == database,
        let planned = try? base.recordChanges(
          of: zone, in: database, after: page.sequence, limit: page.limit)
      else { return false }
      return found.allSatisfy(planned.contains)
        && (found.count == limit || planned.count < page.limit)
    }
    return try read(found)
  }
  func links(to target: RecordID, in database: DatabaseID) throws -> [RecordLink] {
    expect("links to \(target)") { plan in
      plan.links.contains { links in
        links.zone == target.zone && links.database == database && links.names.contains(target.name)
      }
    }
    return try read(base.links(to: target, in: database))
  }
  func subscription(_ id: SubscriptionID, in database: DatabaseID) throws -> Subscription? {
    expect("subscription \(id)") { $0.subscriptions.contains(database) }
    return try read(base.subscription(id, in: database))
  }
  func subscriptions(in database: DatabaseID) throws -> [Subscription] {
    expect("subscriptions") { $0.subscriptions.contains(database) }
    return try read(base.subscriptions(in: database))
  }
  func subscriptionHomes(of database: DatabaseID) throws -> [DatabaseID] {
    expect("homes of subscriptions") { $0.subscriptionHomes == database }
    return try read(base.subscriptionHomes(of: database))
  }
  func recordType(_ id: RecordTypeID) throws -> RecordTypeRow? {
    expect("type \(id)") { $0.recordTypes.contains(id) }
    return try read(base.recordType(id))
  }
  func recordTypes(
    of container: String, in environment: CloudEnvironment
  ) throws -> [RecordTypeRow] { try read(base.recordTypes(of: container, in: environment)) }
  func schema(of container: String, in environment: CloudEnvironment) throws -> SchemaRow? {
    try read(base.schema(of: container, in: environment))
  }
  /// Not counted: it is done once for each type, not for each request.
  func prepareRecords(
    ofType type: String, in zone: ZoneID, of database: DatabaseID, limit: Int
  ) throws -> Bool {
    try base.prepareRecords(ofType: type, in: zone, of: database, limit: limit)
  }
  func records(
    ofType type: String, in zone: ZoneID, of database: DatabaseID, after name: String?, limit: Int
  ) throws -> [RecordRow] {
    expect("records of \(type) after \(name ?? "")") {
      $0.typePage
        == ReadPlan.TypePage(type: type, zone: zone, database: database, after: name, limit: limit)
    }
    return try read(base.records(ofType: type, in: zone, of: database, after: name, limit: limit))
  }
  func assetContent(_ checksum: String, in range: Range<Int>) throws -> [UInt8]? {
    try read(try base.assetContent(checksum, in: range).map { [$0] } ?? []).first
  }
  func upload(_ receipt: String) throws -> UploadRow? { try read(base.upload(receipt)) }
  func uploads(through time: Timestamp, limit: Int) throws -> [String] {
    try read(base.uploads(through: time, limit: limit))
  }
  func receipt(_ key: ReceiptKey) throws -> Receipt? {
    expect("receipt \(key)") { $0.receipt == key }
    return try read(base.receipt(key))
  }
  func commit(_ changes: [StorageChange]) throws {
    try count()
    try base.commit(changes)
    hasCommitted = true
    // A storage may also fail once it has taken the changes in.
    try count()
  }
}
