import CloudMachine
import CloudProtocol
import Records
import SQLite

extension SQLiteStorage {
  func identity() throws -> UInt64 {
    try translating {
      guard
        let identity = try connection.first(
          "SELECT value FROM settings WHERE name = 'identity'", [], { try $0.integer(0) })
      else { throw ByteFormatError(offset: 0, reason: "the file has no identity") }
      return UInt64(bitPattern: identity)
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
    try translating {
      try connection.rows("SELECT name, user, quota FROM accounts " + rest, values) { row in
        AccountRow(
          name: try row.text(0), user: UserID(try row.text(1)),
          quota: try row.optionalInteger(2).map { Int($0) })
      }
    }
  }

  /// Every database that anything was stored in, by container, environment, scope and owner.
  func databases() throws -> [DatabaseRow] {
    try translating {
      try connection.rows(
        """
        SELECT incarnation, sequence, latest, trimmed_through, byte_count,
          container, environment, scope, owner
        FROM databases WHERE incarnation IS NOT NULL
        ORDER BY container, environment, scope, owner
        """
      ) { row in
        guard let environment = CloudEnvironment(rawValue: try row.text(6)),
          let scope = UInt8(exactly: try row.integer(7)).flatMap(DatabaseScope.init(rawValue:))
        else { throw ByteFormatError(offset: 0, reason: "a database is of no known kind") }
        let owner = try row.text(8)
        return try databaseRow(
          row,
          DatabaseID(
            container: try row.text(5), environment: environment, scope: scope,
            owner: owner.isEmpty ? nil : UserID(owner)))
      }
    }
  }

  func database(_ id: DatabaseID) throws -> DatabaseRow? {
    try translating {
      guard let number = try number(of: id) else { return nil }
      return try connection.first(
        """
        SELECT incarnation, sequence, latest, trimmed_through, byte_count
        FROM databases WHERE id = ? AND incarnation IS NOT NULL
        """, [.integer(number)]
      ) { try databaseRow($0, id) }
    }
  }

  private func databaseRow(_ row: Row, _ id: DatabaseID) throws -> DatabaseRow {
    DatabaseRow(
      id: id, incarnation: UInt64(bitPattern: try row.integer(0)),
      sequence: try counted(try row.integer(1)),
      latest: Timestamp(
        secondsSinceReferenceDate: Double(
          bitPattern: UInt64(bitPattern: try row.integer(2)))),
      trimmedThrough: try counted(try row.integer(3)), byteCount: Int(try row.integer(4)))
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
    try translating {
      guard let number = try number(of: database) else { return [] }
      return try connection.rows(
        """
        SELECT owner, name, deletion, incarnation, changed_at, trimmed_through, byte_count
        FROM zones WHERE database = ? AND incarnation IS NOT NULL \(rest)
        """, [.integer(number)] + values
      ) { row in
        let id = ZoneID(name: try row.text(1), owner: try row.text(0))
        let deletion = try row.optionalInteger(2).map { number in
          guard let reason = UInt8(exactly: number).flatMap(ZoneDeletionReason.init(rawValue:))
          else { throw ByteFormatError(offset: 0, reason: "a zone went for no known reason") }
          return reason
        }
        return ZoneRow(
          id: id, deletion: deletion, incarnation: UInt64(bitPattern: try row.integer(3)),
          changedAt: try counted(try row.integer(4)),
          trimmedThrough: try counted(try row.integer(5)), byteCount: Int(try row.integer(6)))
      }
    }
  }

  func record(_ id: RecordID, in database: DatabaseID) throws -> RecordRow? {
    try translating {
      guard let zone = try number(of: id.zone, in: database) else { return nil }
      return try connection.first(
        "SELECT name, changed_at, body FROM records WHERE zone = ? AND name = ?",
        [.integer(zone), .text(id.name)]
      ) { try recordRow($0, in: id.zone) }
    }
  }

  func recordChanges(
    of zone: ZoneID, in database: DatabaseID, after sequence: UInt64, limit: Int
  ) throws -> [RecordRow] {
    try translating {
      guard let number = try number(of: zone, in: database) else { return [] }
      return try connection.rows(
        """
        SELECT name, changed_at, body FROM records
        WHERE zone = ? AND changed_at > ? ORDER BY changed_at, name LIMIT ?
        """,
        [.integer(number), .integer(stored(sequence)), .integer(Int64(max(0, limit)))]
      ) { try recordRow($0, in: zone) }
    }
  }

  private func recordRow(_ row: Row, in zone: ZoneID) throws -> RecordRow {
    let name = try row.text(0)
    return try RecordBody.open(
      try row.blob(2), id: RecordID(name: name, zone: zone),
      changedAt: try counted(try row.integer(1)))
  }

  func links(to target: RecordID, in database: DatabaseID) throws -> [RecordLink] {
    try translating {
      guard let zone = try number(of: target.zone, in: database) else { return [] }
      return try connection.rows(
        """
        SELECT zones.owner, zones.name, links.holder, links.kind
        FROM links JOIN zones ON zones.id = links.holder_zone
        WHERE links.target_zone = ? AND links.target = ?
        ORDER BY zones.owner, zones.name, links.holder, links.kind
        """, [.integer(zone), .text(target.name)]
      ) { row in
        guard let kind = UInt8(exactly: try row.integer(3)).flatMap(RecordLink.Kind.init(rawValue:))
        else { throw ByteFormatError(offset: 0, reason: "a link is of no known kind") }
        let zone = ZoneID(name: try row.text(1), owner: try row.text(0))
        return RecordLink(holder: RecordID(name: try row.text(2), zone: zone), kind: kind)
      }
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
    try translating {
      guard let number = try number(of: database) else { return [] }
      return try connection.rows(
        "SELECT body FROM subscriptions WHERE database = ? " + rest, [.integer(number)] + values
      ) { row in
        try Sealed.open(try row.blob(0)) { (reader) throws(ByteFormatError) in
          try reader.subscription()
        }
      }
    }
  }

  func receipt(_ key: ReceiptKey) throws -> Receipt? {
    try translating {
      try connection.first(
        "SELECT body FROM receipts WHERE user = ? AND device = ? AND request = ?",
        [.text(key.user.rawValue), .text(key.device), .text(key.requestID)]
      ) { row in
        Receipt(
          key: key,
          reply: try Sealed.open(try row.blob(0)) { (reader) throws(ByteFormatError) in
            try reader.reply()
          })
      }
    }
  }
}
