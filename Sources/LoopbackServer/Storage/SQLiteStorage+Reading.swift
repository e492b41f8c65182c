import CloudMachine
import CloudProtocol
import Records
import SQLite

extension SQLiteStorage {
  func identity() throws -> UInt64 {
    try setting("identity", missing: "the file has no identity", SettingsBody.identity)
  }

  func secret() throws -> StorageSecret {
    try setting("secret", missing: "the file has no secret", SettingsBody.secret)
  }

  private func setting<Value>(
    _ name: String, missing fault: String, _ open: ([UInt8]) throws -> Value
  ) throws -> Value {
    let found = try first("SELECT body FROM settings WHERE name = ?", [.text(name)]) {
      try open(try $0.blob(0))
    }
    return try translating {
      guard let found else { throw ByteFormatError(offset: 0, reason: fault) }
      return found
    }
  }

  func account(named name: String) throws -> AccountRow? {
    try accounts("WHERE name = ?", [.text(name)]).first
  }

  func account(_ user: UserID) throws -> AccountRow? {
    try accounts("WHERE user = ?", [.text(user.rawValue)]).first
  }

  func accounts() throws -> [AccountRow] { try accounts("ORDER BY name", []) }

  private func accounts(_ rest: String, _ values: [SQLValue]) throws -> [AccountRow] {
    try rows("SELECT name, user, body FROM accounts " + rest, values) { row in
      try AccountBody.open(
        try row.blob(2), name: try row.text(0), user: UserID(try row.text(1)))
    }
  }

  /// Every database in which data was stored, by container, environment, scope and owner.
  func databases() throws -> [DatabaseRow] {
    try rows(
      """
      SELECT body, container, environment, scope, owner
      FROM databases WHERE body IS NOT NULL
      ORDER BY container, environment, scope, owner
      """
    ) { try DatabaseBody.open(try $0.blob(0), id: try SQLiteStorage.databaseID($0, from: 1)) }
  }

  func database(_ id: DatabaseID) throws -> DatabaseRow? {
    guard let number = try number(of: id) else { return nil }
    return try first(
      "SELECT body FROM databases WHERE id = ? AND body IS NOT NULL", [.integer(number)]
    ) { try DatabaseBody.open(try $0.blob(0), id: id) }
  }

  func zone(_ zone: ZoneID, in database: DatabaseID) throws -> ZoneRow? {
    try zones(in: database, "AND owner = ? AND name = ?", [.text(zone.owner), .text(zone.name)])
      .first
  }

  func zones(in database: DatabaseID) throws -> [ZoneRow] {
    try zones(in: database, "ORDER BY owner, name", [])
  }

  func zoneChanges(
    in database: DatabaseID, after sequence: UInt64, limit: Int
  ) throws -> [ZoneRow] {
    try zones(
      in: database, "AND changed_at > ? ORDER BY changed_at, owner, name LIMIT ?",
      [.integer(stored(sequence)), .integer(Int64(max(0, limit)))])
  }

  private func zones(
    in database: DatabaseID, _ rest: String, _ values: [SQLValue]
  ) throws -> [ZoneRow] {
    guard let number = try number(of: database) else { return [] }
    return try rows(
      """
      SELECT owner, name, changed_at, body
      FROM zones WHERE database = ? AND body IS NOT NULL \(rest)
      """, [.integer(number)] + values
    ) { row in
      try ZoneBody.open(
        try row.blob(3), id: ZoneID(name: try row.text(1), owner: try row.text(0)),
        changedAt: try counted(try row.integer(2)))
    }
  }

  func record(_ id: RecordID, in database: DatabaseID) throws -> RecordRow? {
    guard let zone = try number(of: id.zone, in: database) else { return nil }
    for number in try candidates(zone: zone, name: id.name) {
      let row = try first(
        """
        SELECT name, changed_at, body FROM records WHERE number = ? AND zone = ? AND name = ?
        """, [.integer(number), .integer(zone), .text(id.name)]
      ) { try recordRow($0, in: id.zone) }
      if let row { return row }
    }
    return nil
  }

  func recordChanges(
    of zone: ZoneID, in database: DatabaseID, after sequence: UInt64, limit: Int
  ) throws -> [RecordRow] {
    guard let number = try number(of: zone, in: database) else { return [] }
    return try rows(
      """
      SELECT name, changed_at, body FROM records
      WHERE zone = ? AND changed_at > ? ORDER BY changed_at, name LIMIT ?
      """,
      [.integer(number), .integer(stored(sequence)), .integer(Int64(max(0, limit)))]
    ) { try recordRow($0, in: zone) }
  }

  func recordRow(_ row: Row, in zone: ZoneID) throws -> RecordRow {
    let name = try row.text(0)
    return try RecordBody.open(
      try row.blob(2), id: RecordID(name: name, zone: zone),
      changedAt: try counted(try row.integer(1)))
  }

  func links(to target: RecordID, in database: DatabaseID) throws -> [RecordLink] {
    guard let zone = try number(of: target.zone, in: database) else { return [] }
    return try rows(
      """
      SELECT zones.owner, zones.name, links.holder, links.kind
      FROM links JOIN zones ON zones.id = links.holder_zone
      WHERE links.target_zone = ? AND links.target = ?
      ORDER BY zones.owner, zones.name, links.holder, links.kind
      """, [.integer(zone), .text(target.name)]
    ) { row in
      guard let kind = UInt8(exactly: try row.integer(3)).flatMap(RecordLink.Kind.init(rawValue:))
      else { throw ByteFormatError(offset: 0, reason: "the kind of a link is unknown") }
      let zone = ZoneID(name: try row.text(1), owner: try row.text(0))
      return RecordLink(holder: RecordID(name: try row.text(2), zone: zone), kind: kind)
    }
  }

  func subscription(_ id: SubscriptionID, in database: DatabaseID) throws -> Subscription? {
    try subscriptions(in: database, "AND name = ?", [.text(id.rawValue)]).first
  }

  func subscriptions(in database: DatabaseID) throws -> [Subscription] {
    try subscriptions(in: database, "ORDER BY name", [])
  }

  private func subscriptions(
    in database: DatabaseID, _ rest: String, _ values: [SQLValue]
  ) throws -> [Subscription] {
    guard let number = try number(of: database) else { return [] }
    return try rows(
      "SELECT body, name FROM subscriptions WHERE database = ? " + rest,
      [.integer(number)] + values
    ) {
      try SubscriptionBody.open(
        try $0.blob(0), context: SQLiteStorage.subscriptionContext(try $0.text(1), number))
    }
  }

  /// The name of a subscription and the number of its database, which its checksum covers.
  static func subscriptionContext(_ name: String, _ database: Int64) -> [UInt8] {
    ChecksummedBytes.context(name, numbers: UInt64(bitPattern: database))
  }

  func subscriptionHomes(of database: DatabaseID) throws -> [DatabaseID] {
    try rows(
      """
      SELECT owner FROM databases WHERE container = ? AND environment = ? AND scope = ?
        AND EXISTS (SELECT 1 FROM subscriptions WHERE database = databases.id)
      ORDER BY owner
      """,
      [
        .text(database.container), .text(database.environment.rawValue),
        .integer(Int64(database.scope.rawValue)),
      ]
    ) { row in
      let owner = try row.text(0)
      var home = database
      home.owner = owner.isEmpty ? nil : UserID(owner)
      return home
    }
  }

  func receipt(_ key: ReceiptKey) throws -> Receipt? {
    try first(
      "SELECT body FROM receipts WHERE user = ? AND device = ? AND request = ?",
      [.text(key.user.rawValue), .text(key.device), .text(key.requestID)]
    ) { try ReceiptBody.open(try $0.blob(0), key: key) }
  }
}
