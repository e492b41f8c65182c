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
    try read(container, account, environment) { database, storage in
      try LoopbackServer.rows(of: zone, in: database, storage).compactMap(\.record)
        .sorted { $0.id < $1.id }
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

  /// The subscriptions of an account's private database, by name.
  public func subscriptions(
    container: String, account: String, environment: CloudEnvironment = .development
  ) throws(CloudError) -> [Subscription] {
    try read(container, account, environment) { database, storage in
      try storage.subscriptions(in: database)
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
