import CloudProtocol
package import Records

/// A cloud's rows in memory: for simulations, tests and servers that need no disk.
///
/// Not thread-safe, as the port allows. Reading, writing and a page of a feed cost the same
/// whatever the number of records. `snapshot()` costs nothing; the first write to a zone after
/// one copies that zone.
package final class MemoryStorage: CloudStorage {
  /// Everything stored, as one value.
  struct State {
    var identity: UInt64
    var secret: StorageSecret
    var accounts: [UserID: AccountRow] = [:]
    var usersByName: [String: UserID] = [:]
    var databases: [DatabaseID: MemoryDatabase] = [:]
    var receipts: [ReceiptOwner: MemoryReceipts] = [:]
    var schemas = MemorySchemas()
    var files = MemoryFiles()
  }

  /// Whose receipts are counted together.
  struct ReceiptOwner: Hashable {
    var user: UserID
    var device: String
  }

  var state: State
  /// Changes committed in the running transaction that nobody has looked at yet.
  private var unapplied: [StorageChange] = []
  private var isInTransaction = false
  /// The state before the running transaction, once it was needed.
  private var before: State?

  /// An empty storage; `identity` should differ from that of every other one.
  ///
  /// Without a `secret` it gets one that can be guessed, which is the same in every run.
  package init(identity: UInt64 = 1, secret: StorageSecret? = nil) {
    state = State(
      identity: identity, secret: secret ?? StorageSecret(guessableFrom: identity))
  }

  private init(_ state: State) { self.state = state }

  /// A storage with the same rows, which goes its own way from here.
  package func snapshot() -> MemoryStorage { MemoryStorage(current) }

  /// Puts back what `snapshot` held, with its identity.
  package func restore(_ snapshot: MemoryStorage) {
    unapplied = []
    state = snapshot.current
  }

  /// Runs `body`; a transaction within one is part of it.
  package func transaction<Value>(_ body: () throws -> Value) throws -> Value {
    if isInTransaction { return try body() }
    isInTransaction = true
    defer {
      isInTransaction = false
      unapplied = []
      before = nil
    }
    do {
      let value = try body()
      before = nil
      for change in unapplied { state.apply(change) }
      return value
    } catch {
      if let before { state = before }
      throw error
    }
  }

  /// Applies `changes`, at the end of the transaction when one runs.
  package func commit(_ changes: [StorageChange]) throws {
    if isInTransaction {
      unapplied += changes
    } else {
      for change in changes { state.apply(change) }
    }
  }

  /// The state with all that was committed.
  ///
  /// Keeping the old one for a rollback makes the next write copy, so it is done only when a
  /// transaction reads after it committed.
  var current: State {
    applyCommitted()
    return state
  }

  /// Brings `state` to what was committed.
  func applyCommitted() {
    if unapplied.isEmpty { return }
    if before == nil { before = state }
    for change in unapplied { state.apply(change) }
    unapplied = []
  }
}

extension MemoryStorage {
  /// The number given when it was made.
  package func identity() throws -> UInt64 { current.identity }

  /// The key given when it was made.
  package func secret() throws -> StorageSecret { current.secret }

  /// The account called `name`.
  package func account(named name: String) throws -> AccountRow? {
    current.usersByName[name].flatMap { current.accounts[$0] }
  }

  /// The account with the user name `user`.
  package func account(_ user: UserID) throws -> AccountRow? { current.accounts[user] }

  /// All accounts, by name.
  package func accounts() throws -> [AccountRow] {
    current.accounts.values.sorted { $0.name < $1.name }
  }

  /// The rows of all databases, in order.
  package func databases() throws -> [DatabaseRow] {
    current.databases.values.compactMap(\.row).sorted { $0.id < $1.id }
  }

  /// The row of a database.
  package func database(_ id: DatabaseID) throws -> DatabaseRow? { current.databases[id]?.row }

  /// The row of a zone, also of one that is gone.
  package func zone(_ zone: ZoneID, in database: DatabaseID) throws -> ZoneRow? {
    current.databases[database]?.zones[zone]?.row
  }

  /// All zones, by name.
  package func zones(in database: DatabaseID) throws -> [ZoneRow] {
    (current.databases[database]?.zones.values.compactMap(\.row) ?? []).sorted { $0.id < $1.id }
  }

  /// The zones changed after `sequence`, oldest first.
  package func zoneChanges(
    in database: DatabaseID, after sequence: UInt64, limit: Int
  ) throws -> [ZoneRow] {
    let changed = current.databases[database]?.zones.values.compactMap(\.row) ?? []
    return Array(
      changed.filter { $0.changedAt > sequence }.sorted { $0.changedAt < $1.changedAt }
        .prefix(limit))
  }

  /// The row of a record, or its tombstone.
  package func record(_ id: RecordID, in database: DatabaseID) throws -> RecordRow? {
    current.databases[database]?.zones[id.zone]?.records[id.name]
  }

  /// The records of a zone changed after `sequence`, oldest first.
  package func recordChanges(
    of zone: ZoneID, in database: DatabaseID, after sequence: UInt64, limit: Int
  ) throws -> [RecordRow] {
    current.databases[database]?.zones[zone]?.records.changes(after: sequence, limit: limit) ?? []
  }

  /// Who points at `target`, by name.
  package func links(to target: RecordID, in database: DatabaseID) throws -> [RecordLink] {
    (current.databases[database]?.links[target] ?? []).sorted {
      ($0.holder, $0.kind.rawValue) < ($1.holder, $1.kind.rawValue)
    }
  }

  /// The subscription called `id`.
  package func subscription(_ id: SubscriptionID, in database: DatabaseID) throws -> Subscription? {
    current.databases[database]?.subscriptions[id]
  }

  /// All subscriptions, by name.
  package func subscriptions(in database: DatabaseID) throws -> [Subscription] {
    (current.databases[database].map { Array($0.subscriptions.values) } ?? [])
      .sorted { $0.id < $1.id }
  }

  /// The databases like `database` that hold subscriptions, by owner.
  package func subscriptionHomes(of database: DatabaseID) throws -> [DatabaseID] {
    current.databases.filter { id, rows in
      id.container == database.container && id.environment == database.environment
        && id.scope == database.scope && !rows.subscriptions.isEmpty
    }.map(\.key).sorted { ($0.owner?.rawValue ?? "") < ($1.owner?.rawValue ?? "") }
  }

  /// What was answered to a request.
  package func receipt(_ key: ReceiptKey) throws -> Receipt? {
    current.receipts[ReceiptOwner(user: key.user, device: key.device)]?[key.requestID]
  }
}
