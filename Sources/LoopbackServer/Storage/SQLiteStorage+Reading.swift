import CloudMachine
import CloudProtocol
import Records
import SQLite

extension SQLiteStorage {
  func identity() throws -> UInt64 {
    try translating {
      guard
        let identity = try connection.first(
          "SELECT body FROM settings WHERE name = 'identity'", [], { try $0.blob(0) })
      else { throw ByteFormatError(offset: 0, reason: "the file has no identity") }
      return try ChecksummedBytes.decode(identity) { (reader) throws(ByteFormatError) in
        try reader.fixed64()
      }
    }
  }

  func secret() throws -> StorageSecret {
    try translating {
      let found = try connection.first(
        "SELECT body FROM settings WHERE name = 'secret'", [], { try $0.blob(0) })
      guard let found else { throw ByteFormatError(offset: 0, reason: "the file has no secret") }
      return try ChecksummedBytes.decode(found) { (reader) throws(ByteFormatError) in
        StorageSecret(first: try reader.fixed64(), second: try reader.fixed64())
      }
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
      try connection.rows("SELECT name, user, body FROM accounts " + rest, values) { row in
        try AccountBody.open(
          try row.blob(2), name: try row.text(0), user: UserID(try row.text(1)))
      }
    }
  }

  /// Every database in which data was stored, by container, environment, scope and owner.
  func databases() throws -> [DatabaseRow] {
    try translating {
      try connection.rows(
        """
        SELECT body, container, environment, scope, owner
        FROM databases WHERE body IS NOT NULL
        ORDER BY container, environment, scope, owner
        """
      ) { try DatabaseBody.open(try $0.blob(0), id: try SQLiteStorage.databaseID($0, from: 1)) }
    }
  }

  func database(_ id: DatabaseID) throws -> DatabaseRow? {
    try translating {
      guard let number = try number(of: id) else { return nil }
      return try connection.first(
        "SELECT body FROM databases WHERE id = ? AND body IS NOT NULL", [.integer(number)]
      ) { try DatabaseBody.open(try $0.blob(0), id: id) }
    }
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
        SELECT owner, name, changed_at, body
        FROM zones WHERE database = ? AND body IS NOT NULL \(rest)
        """, [.integer(number)] + values
      ) { row in
        try ZoneBody.open(
          try row.blob(3), id: ZoneID(name: try row.text(1), owner: try row.text(0)),
          changedAt: try counted(try row.integer(2)))
      }
    }
  }

  func record(_ id: RecordID, in database: DatabaseID) throws -> RecordRow? {
    try translating {
      guard let zone = try number(of: id.zone, in: database) else { return nil }
      for number in try candidates(zone: zone, name: id.name) {
        let row = try connection.first(
          """
          SELECT name, changed_at, body FROM records WHERE number = ? AND zone = ? AND name = ?
          """, [.integer(number), .integer(zone), .text(id.name)]
        ) { try recordRow($0, in: id.zone) }
        if let row { return row }
      }
      return nil
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

  func recordRow(_ row: Row, in zone: ZoneID) throws -> RecordRow {
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
        else { throw ByteFormatError(offset: 0, reason: "the kind of a link is unknown") }
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
        "SELECT body, name FROM subscriptions WHERE database = ? " + rest,
        [.integer(number)] + values
      ) { row in
        let context = ChecksummedBytes.context(try row.text(1), numbers: UInt64(bitPattern: number))
        return try ChecksummedBytes.decode(try row.blob(0), context: context) {
          (reader) throws(ByteFormatError) in try reader.subscription()
        }
      }
    }
  }

  func subscriptionHomes(of database: DatabaseID) throws -> [DatabaseID] {
    try translating {
      try connection.rows(
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
  }

  func receipt(_ key: ReceiptKey) throws -> Receipt? {
    try translating {
      try connection.first(
        "SELECT body FROM receipts WHERE user = ? AND device = ? AND request = ?",
        [.text(key.user.rawValue), .text(key.device), .text(key.requestID)]
      ) { row in
        try ChecksummedBytes.decode(try row.blob(0)) { (reader) throws(ByteFormatError) in
          let reply = try reader.reply()
          // Rows of layout 4 and before end here.
          return Receipt(
            key: key, reply: reply, digest: reader.isAtEnd ? nil : try reader.byteArray())
        }
      }
    }
  }
}
