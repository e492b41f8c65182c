import CloudMachine
public import CloudProtocol
public import Records

/// An account as the server knows it.
public struct ServerAccount: Hashable, Sendable {
  /// The name people use for it.
  public var name: String
  /// Its user record name.
  public var user: UserID
  /// The most bytes its private databases may hold; `nil` for no bound.
  public var quota: Int?
}

/// A database that the server holds something of.
public struct ServerDatabase: Hashable, Sendable {
  /// The container.
  public var container: String
  /// The container's world.
  public var environment: CloudEnvironment
  /// Which kind; a shared one is an account's view of what others share with it.
  public var scope: DatabaseScope
  /// The name of the account whose it is; `nil` for a public one.
  public var account: String?
  /// How many bytes its records count toward a quota; 0 for a view.
  public var byteCount: Int
}

/// The latest change of one record, as the server remembers it.
public struct ServerChange: Hashable, Sendable {
  /// The change's number, which rises with every change of the database.
  public var sequence: UInt64
  /// The record.
  public var record: RecordID
  /// Its type.
  public var type: String
  /// The record's version after the change; `nil` when the change deleted it.
  public var changeTag: ChangeTag?
  /// The device that made the change.
  public var device: String?

  /// Whether the change deleted the record.
  public var isDeletion: Bool { changeTag == nil }
}

/// What tests and tools can see of the server's state, past all faults.
///
/// A private database is named by its account, the public one by `nil`. All throw `unknownItem`
/// when there is no such account, and `networkFailure` after the server was closed.
extension LoopbackServer {
  /// All accounts, by name.
  public func accounts() throws(CloudError) -> [ServerAccount] {
    try room.inspect { _, storage in
      try storage.accounts().map { ServerAccount(name: $0.name, user: $0.user, quota: $0.quota) }
    }
  }

  /// All databases that anything was ever stored in, by container, environment, scope and account.
  public func databases() throws(CloudError) -> [ServerDatabase] {
    try room.inspect { _, storage in
      var names: [UserID: String] = [:]
      for account in try storage.accounts() { names[account.user] = account.name }
      var found: [DatabaseID: ServerDatabase] = [:]
      for row in try storage.databases() {
        // The public database is there for all, also where it holds only what one user asked for.
        var id = row.id
        if id.scope == .public { id.owner = nil }
        let account = id.owner.flatMap { names[$0] }
        guard id.scope == .public || account != nil else { continue }
        found[
          id,
          default: ServerDatabase(
            container: id.container, environment: id.environment, scope: id.scope,
            account: account, byteCount: 0)
        ].byteCount += row.byteCount
      }
      return found.values.sorted { first, second in
        (first.container, first.environment.rawValue, first.scope.rawValue, first.account ?? "")
          < (
            second.container, second.environment.rawValue, second.scope.rawValue,
            second.account ?? ""
          )
      }
    }
  }

  /// The zones that are there, by name; the default zone only once something was stored in it.
  public func zones(
    container: String, account: String?, environment: CloudEnvironment = .development
  ) throws(CloudError) -> [ZoneID] {
    try read(container, account, environment) { database, storage in
      try storage.zones(in: database).filter { $0.deletion == nil }.map(\.id)
    }
  }

  /// The zones that are gone and remembered, by name.
  public func deletedZones(
    container: String, account: String?, environment: CloudEnvironment = .development
  ) throws(CloudError) -> [ZoneDeletion] {
    try read(container, account, environment) { database, storage in
      try storage.zones(in: database).compactMap { row in
        row.deletion.map { ZoneDeletion(zone: row.id, reason: $0) }
      }
    }
  }

  /// The records in `zone`, by name; none when there is no such zone.
  public func records(
    in zone: ZoneID, container: String, account: String?,
    environment: CloudEnvironment = .development
  ) throws(CloudError) -> [Record] {
    try recordsAndNewest(
      in: zone, container: container, account: account, environment: environment
    ).records
  }

  /// The records in `zone`, by name, and the one that was changed last; throws as `records` does.
  package func recordsAndNewest(
    in zone: ZoneID, container: String, account: String?, environment: CloudEnvironment
  ) throws(CloudError) -> (records: [Record], newest: RecordID?) {
    try read(container, account, environment) { database, storage in
      // Rows come in the order of their changes.
      let records = try LoopbackServer.rows(of: zone, in: database, storage).compactMap(\.record)
      return (records.sorted { $0.id < $1.id }, records.last?.id)
    }
  }

  /// The latest change of every record in `zone` that is remembered, oldest first.
  public func changeLog(
    of zone: ZoneID, container: String, account: String?,
    environment: CloudEnvironment = .development
  ) throws(CloudError) -> [ServerChange] {
    try read(container, account, environment) { database, storage in
      try LoopbackServer.rows(of: zone, in: database, storage).map { row in
        ServerChange(
          sequence: row.changedAt, record: row.id, type: row.type,
          changeTag: row.record?.changeTag, device: row.device)
      }
    }
  }

  /// An account's subscriptions to its private database, by name, or to that of another `scope`.
  ///
  /// Subscriptions belong to an account everywhere: those to the public and the shared database
  /// too.
  public func subscriptions(
    container: String, account: String, scope: DatabaseScope = .private,
    environment: CloudEnvironment = .development
  ) throws(CloudError) -> [Subscription] {
    try read(container, account, environment) { database, storage in
      var home = database
      home.scope = scope
      return try storage.subscriptions(in: home)
    }
  }

  private func read<Value: Sendable>(
    _ container: String, _ account: String?, _ environment: CloudEnvironment,
    _ body: (DatabaseID, any CloudStorage) throws -> Value
  ) throws(CloudError) -> Value {
    try room.inspect { _, storage in
      try body(
        try MachineRoom.database(
          container: container, environment: environment, account: account, storage), storage)
    }
  }

  private static func rows(
    of zone: ZoneID, in database: DatabaseID, _ storage: any CloudStorage
  ) throws -> [RecordRow] {
    guard try storage.zone(zone, in: database)?.deletion == nil else { return [] }
    var rows: [RecordRow] = []
    while true {
      let page = try storage.recordChanges(
        of: zone, in: database, after: rows.last?.changedAt ?? 0, limit: 500)
      rows += page
      if page.count < 500 { return rows }
    }
  }
}
