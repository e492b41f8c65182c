import CloudProtocol
public import Records

/// Stores the cloud's rows in memory, for simulations, tests and servers without a file.
///
/// Not thread-safe, as `CloudStorage` allows. The cost of reads, writes and feed pages does not
/// depend on the number of records. `snapshot()` is O(1); the first write to a zone after it copies
/// that zone.
public final class MemoryStorage: CloudStorage {
  /// The stored data as one value.
  struct State {
    var identity: UInt64
    var secret: StorageSecret
    var accounts: [UserID: AccountRow] = [:]
    /// By the bytes of the names: texts that Unicode takes for the same are different names.
    var usersByName: [[UInt8]: UserID] = [:]
    var databases: [DatabaseID: MemoryDatabase] = [:]
    var receipts: [UserID: MemoryReceipts] = [:]
    var recordTypes: [RecordTypeID: RecordTypeRow] = [:]
    var schemas: [RecordTypeID: SchemaRow] = [:]
    var files = MemoryFiles()
  }

  var state: State
  /// Committed changes of the running transaction that are not applied yet.
  private var unapplied: [StorageChange] = []
  private var isInTransaction = false
  /// The error of a nested transaction, which ends the running one.
  private var fault: (any Error)?
  /// The state before the running transaction, if it was needed.
  private var before: State?

  /// Creates an empty storage; `identity` should differ from that of every other storage.
  ///
  /// Without a `secret` it gets a predictable one, which is the same in every run.
  public init(identity: UInt64 = 1, secret: StorageSecret? = nil) {
    state = State(
      identity: identity, secret: secret ?? StorageSecret(guessableFrom: identity))
  }

  private init(_ state: State) { self.state = state }

  /// An independent copy of the storage.
  public func snapshot() -> MemoryStorage { MemoryStorage(current) }

  /// Restores the rows and the identity of `snapshot`.
  public func restore(_ snapshot: MemoryStorage) {
    unapplied = []
    state = snapshot.current
  }

  /// Runs `body`; a nested transaction is part of the outer one.
  public func transaction<Value>(_ body: () throws -> Value) throws -> Value {
    guard !isInTransaction else {
      do { return try body() } catch {
        fault = fault ?? error
        throw error
      }
    }
    isInTransaction = true
    defer {
      isInTransaction = false
      fault = nil
      unapplied = []
      before = nil
    }
    do {
      let value = try body()
      if let fault { throw fault }
      before = nil
      state.apply(unapplied)
      return value
    } catch {
      if let before { state = before }
      throw error
    }
  }

  /// Applies `changes`, at the end of the running transaction if there is one.
  public func commit(_ changes: [StorageChange]) throws {
    let changes = try changes.withFilesInMemory()
    if isInTransaction {
      unapplied += changes
    } else {
      state.apply(changes)
    }
  }

  /// The state including all committed changes.
  ///
  /// Keeping the old state for a rollback makes the next write copy, so it is kept only when a
  /// transaction reads after a commit.
  var current: State {
    _read {
      applyCommitted()
      yield state
    }
  }

  /// Applies the committed changes to `state`.
  func applyCommitted() {
    if unapplied.isEmpty { return }
    if before == nil { before = state }
    state.apply(unapplied)
    unapplied = []
  }
}

extension MemoryStorage {
  /// The identity given at creation.
  public func identity() throws -> UInt64 { current.identity }

  /// The secret given at creation.
  public func secret() throws -> StorageSecret { current.secret }

  /// The account called `name`.
  public func account(named name: String) throws -> AccountRow? {
    current.usersByName[Array(name.utf8)].flatMap { current.accounts[$0] }
  }

  /// The account with the user name `user`.
  public func account(_ user: UserID) throws -> AccountRow? { current.accounts[user] }

  /// All accounts, by name.
  public func accounts() throws -> [AccountRow] {
    current.accounts.values.sorted { $0.name < $1.name }
  }

  /// The rows of all databases, in order.
  public func databases() throws -> [DatabaseRow] {
    current.databases.values.compactMap(\.row).sorted { $0.id < $1.id }
  }

  /// The row of a database.
  public func database(_ id: DatabaseID) throws -> DatabaseRow? { current.databases[id]?.row }

  /// The row of a zone, including a deleted zone.
  public func zone(_ zone: ZoneID, in database: DatabaseID) throws -> ZoneRow? {
    current.databases[database]?.zones[zone]?.row
  }

  /// All zones, by name.
  public func zones(in database: DatabaseID) throws -> [ZoneRow] {
    (current.databases[database]?.zones.values.compactMap(\.row) ?? []).sorted { $0.id < $1.id }
  }

  /// The zones changed after `sequence`, oldest first.
  public func zoneChanges(
    in database: DatabaseID, after sequence: UInt64, limit: Int
  ) throws -> [ZoneRow] {
    let changed = current.databases[database]?.zones.values.compactMap(\.row) ?? []
    return Array(
      changed.filter { $0.changedAt > sequence }.sorted { $0.changedAt < $1.changedAt }
        .prefix(limit))
  }

  /// The row of a record, or its tombstone.
  public func record(_ id: RecordID, in database: DatabaseID) throws -> RecordRow? {
    current.databases[database]?.zones[id.zone]?.records[id.name]
  }

  /// The records of a zone changed after `sequence`, oldest first.
  public func recordChanges(
    of zone: ZoneID, in database: DatabaseID, after sequence: UInt64, limit: Int
  ) throws -> [RecordRow] {
    current.databases[database]?.zones[zone]?.records.changes(after: sequence, limit: limit) ?? []
  }

  /// The records that refer to `target`, by name.
  public func links(to target: RecordID, in database: DatabaseID) throws -> [RecordLink] {
    (current.databases[database]?.links[target] ?? []).sorted {
      ($0.holder, $0.kind.rawValue) < ($1.holder, $1.kind.rawValue)
    }
  }

  /// The subscription called `id`.
  public func subscription(_ id: SubscriptionID, in database: DatabaseID) throws -> Subscription? {
    current.databases[database]?.subscriptions[id]
  }

  /// All subscriptions, by name.
  public func subscriptions(in database: DatabaseID) throws -> [Subscription] {
    (current.databases[database].map { Array($0.subscriptions.values) } ?? [])
      .sorted { $0.id < $1.id }
  }

  /// The databases like `database` that hold subscriptions, by owner.
  public func subscriptionHomes(of database: DatabaseID) throws -> [DatabaseID] {
    current.databases.filter { id, rows in
      id.container == database.container && id.environment == database.environment
        && id.scope == database.scope && !rows.subscriptions.isEmpty
    }.map(\.key).sorted { ($0.owner?.rawValue ?? "") < ($1.owner?.rawValue ?? "") }
  }

  /// The receipt of a request.
  public func receipt(_ key: ReceiptKey) throws -> Receipt? {
    current.receipts[key.user]?[key]
  }
}
