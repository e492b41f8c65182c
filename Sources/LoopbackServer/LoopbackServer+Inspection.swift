import CloudMachine
public import CloudProtocol
public import Records

/// An account on the server, with its user record and its storage quota.
public struct ServerAccount: Hashable, Sendable {
  /// The name that a device signs in with, such as `alice`.
  public var name: String
  /// The user record name.
  public var user: UserID
  /// The quota of its private databases in bytes; `nil` for no quota.
  public var quota: Int?
}

/// A database with stored data.
public struct ServerDatabase: Hashable, Sendable {
  /// The identifier of the container, such as `iCloud.com.example.notes`.
  public var container: String
  /// The container's environment.
  public var environment: CloudEnvironment
  /// The scope; a shared database is an account's view of the zones that others share with it.
  public var scope: DatabaseScope
  /// The name of the owning account; `nil` for a public database.
  public var account: String?
  /// The bytes that its records count toward a quota; 0 for a shared database.
  public var byteCount: Int
}

/// The latest change of a record.
public struct ServerChange: Hashable, Sendable {
  /// The sequence number of the change, which increases with every change of the database.
  public var sequence: UInt64
  /// The record that was saved or deleted.
  public var record: RecordID
  /// The record's type, also of a deleted record.
  public var type: String
  /// The record's change tag after the change; `nil` for a deletion.
  public var changeTag: ChangeTag?
  /// The device that made the change.
  public var device: String?

  /// Whether the change deleted the record.
  public var isDeletion: Bool { changeTag == nil }

  init(_ row: RecordRow) {
    sequence = row.changedAt
    record = row.id
    type = row.type
    changeTag = row.record?.changeTag
    device = row.device
  }
}

/// A page of a zone's records, the latest change first.
package struct LatestRecords: Sendable {
  /// The records.
  package var records: [Record]
  /// Where the next page starts; `nil` after the last.
  package var next: UInt64?
  /// The number of all records of the zone, counted up to ``LatestRecords/mostCounted``.
  package var count: Int

  /// The maximum of ``count``.
  package static let mostCounted = 10_000
  /// The maximum number of changes that a page is looked for in; deletions may fill them.
  fileprivate static let mostChanges = 20_000
}

/// Inspection of the server's state by tests and tools, without faults applied.
///
/// An account selects its private database, `nil` the public one. All methods throw `unknownItem`
/// for an unknown account, and `networkFailure` after the server was closed.
extension LoopbackServer {
  /// All accounts, by name.
  public func accounts() throws(CloudError) -> [ServerAccount] {
    try executor.inspect { _, storage in
      try storage.accounts().map { ServerAccount(name: $0.name, user: $0.user, quota: $0.quota) }
    }
  }

  /// All databases in which data was ever stored, by container, environment, scope and account.
  public func databases() throws(CloudError) -> [ServerDatabase] {
    try executor.inspect { _, storage in
      var names: [UserID: String] = [:]
      for account in try storage.accounts() { names[account.user] = account.name }
      var found: [DatabaseID: ServerDatabase] = [:]
      for row in try storage.databases() {
        // The public database is shared by all accounts, even if it holds only one user's
        // subscriptions.
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

  /// The existing zones, by name; the default zone only after a record was stored in it.
  public func zones(
    container: String, account: String?, environment: CloudEnvironment = .development
  ) throws(CloudError) -> [ZoneID] {
    try read(container, account, environment) { database, storage in
      try storage.zones(in: database).filter { $0.deletion == nil }.map(\.id)
    }
  }

  /// The record types of a container's environment with their fields, by name, and whether saves
  /// can't add any.
  package func recordTypes(
    container: String, environment: CloudEnvironment
  ) throws(CloudError) -> (types: [RecordTypeRow], isClosed: Bool) {
    try executor.inspect { _, storage in
      let types = try storage.recordTypes(of: container, in: environment)
      return (types, try storage.schema(of: container, in: environment)?.isClosed ?? false)
    }
  }

  /// The deleted zones whose deletion is remembered, by name.
  public func deletedZones(
    container: String, account: String?, environment: CloudEnvironment = .development
  ) throws(CloudError) -> [ZoneDeletion] {
    try read(container, account, environment) { database, storage in
      try storage.zones(in: database).compactMap { row in
        row.deletion.map { ZoneDeletion(zone: row.id, reason: $0) }
      }
    }
  }

  /// The records in `zone`, by name; empty if the zone does not exist.
  public func records(
    in zone: ZoneID, container: String, account: String?,
    environment: CloudEnvironment = .development
  ) throws(CloudError) -> [Record] {
    try recordsAndNewest(
      in: zone, container: container, account: account, environment: environment
    ).records
  }

  /// The records in `zone`, by name, and the most recently changed one; throws like `records`.
  package func recordsAndNewest(
    in zone: ZoneID, container: String, account: String?, environment: CloudEnvironment
  ) throws(CloudError) -> (records: [Record], newest: RecordID?) {
    try read(container, account, environment) { database, storage in
      // Rows are in the order of their changes.
      let records = try LoopbackServer.rows(of: zone, in: database, storage).compactMap(\.record)
      return (records.sorted { $0.id < $1.id }, records.last?.id)
    }
  }

  /// A page of the records in `zone`, the latest change first; throws like `records`.
  ///
  /// Its cost does not depend on the size of the zone.
  /// - Parameter before: where the page starts, as the page before said; `nil` for the first.
  package func latestRecords(
    in zone: ZoneID, container: String, account: String?, environment: CloudEnvironment,
    before: UInt64?, limit: Int
  ) throws(CloudError) -> LatestRecords {
    try read(container, account, environment) { database, storage in
      guard try storage.zone(zone, in: database)?.deletion == nil else {
        return LatestRecords(records: [], next: nil, count: 0)
      }
      var page = LatestRecords(
        records: [], next: before ?? UInt64(Int64.max),
        count: try storage.recordCount(
          of: zone, in: database, upTo: LatestRecords.mostCounted))
      var changes = 0
      while let start = page.next, page.records.count < limit, changes < LatestRecords.mostChanges {
        let rows = try LoopbackServer.latestChanges(
          of: zone, in: database, storage, before: start, limit: limit - page.records.count)
        page.records += rows.compactMap(\.record)
        page.next = rows.last?.changedAt
        changes += rows.count
      }
      return page
    }
  }

  /// About `limit` rows below `sequence`, newest first: all rows of a change, or none.
  private static func latestChanges(
    of zone: ZoneID, in database: DatabaseID, _ storage: any CloudStorage,
    before sequence: UInt64, limit: Int
  ) throws -> [RecordRow] {
    var limit = limit
    while true {
      let rows = try storage.latestRecordChanges(
        of: zone, in: database, before: sequence, limit: limit + 1)
      guard rows.count > limit, let last = rows.last?.changedAt else { return rows }
      let whole = rows.prefix { $0.changedAt > last }
      if !whole.isEmpty { return Array(whole) }
      limit *= 2
    }
  }

  /// The record called `name`; `nil` if it does not exist; throws like `records`.
  package func record(
    _ id: RecordID, container: String, account: String?, environment: CloudEnvironment
  ) throws(CloudError) -> Record? {
    try read(container, account, environment) { database, storage in
      guard try storage.zone(id.zone, in: database)?.deletion == nil else { return nil }
      return try storage.record(id, in: database)?.record
    }
  }

  /// The latest changes of records and tombstones in `zone`, oldest first, about `limit` of them;
  /// throws like `changeLog`.
  package func latestChanges(
    of zone: ZoneID, container: String, account: String?, environment: CloudEnvironment, limit: Int
  ) throws(CloudError) -> [ServerChange] {
    try read(container, account, environment) { database, storage in
      guard try storage.zone(zone, in: database)?.deletion == nil else { return [] }
      return try storage.latestRecordChanges(
        of: zone, in: database, before: UInt64(Int64.max), limit: limit
      ).reversed().map(ServerChange.init)
    }
  }

  /// The latest change of every record and tombstone in `zone`, oldest first.
  public func changeLog(
    of zone: ZoneID, container: String, account: String?,
    environment: CloudEnvironment = .development
  ) throws(CloudError) -> [ServerChange] {
    try read(container, account, environment) { database, storage in
      try LoopbackServer.rows(of: zone, in: database, storage).map(ServerChange.init)
    }
  }

  /// An account's subscriptions to its database with `scope`, by name.
  ///
  /// Every subscription belongs to an account, including those to the public and the shared
  /// database.
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
    try executor.inspect { _, storage in
      try body(
        try MachineExecutor.database(
          container: container, environment: environment, account: account, storage), storage)
    }
  }

  private static func rows(
    of zone: ZoneID, in database: DatabaseID, _ storage: any CloudStorage
  ) throws -> [RecordRow] {
    guard try storage.zone(zone, in: database)?.deletion == nil else { return [] }
    var rows: [RecordRow] = []
    try storage.forEachPage(of: zone, in: database) { rows += $0 }
    return rows
  }
}
