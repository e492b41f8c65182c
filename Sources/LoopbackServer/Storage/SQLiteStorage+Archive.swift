import CloudMachine
import CloudProtocol
import Records
import SQLite

extension SQLiteStorage {
  func databaseNames() throws -> [DatabaseID] {
    try rows("SELECT container, environment, scope, owner FROM databases") {
      try SQLiteStorage.databaseID($0, from: 0)
    }
  }

  func zoneNames(in database: DatabaseID) throws -> [ZoneID] {
    guard let number = try number(of: database) else { return [] }
    return try rows(
      "SELECT owner, name FROM zones WHERE database = ?", [.integer(number)]
    ) { ZoneID(name: try $0.text(1), owner: try $0.text(0)) }
  }

  func forEachRecord(
    of zone: ZoneID, in database: DatabaseID, _ body: (RecordRow) throws -> Void
  ) throws {
    guard let zoneNumber = try number(of: zone, in: database) else { return }
    let numbers = try rows(
      "SELECT number FROM records WHERE zone = ? ORDER BY name", [.integer(zoneNumber)]
    ) { try $0.integer(0) }
    for number in numbers {
      let row = try first(
        "SELECT name, changed_at, body FROM records WHERE number = ?", [.integer(number)]
      ) { try recordRow($0, in: zone) }
      if let row { try body(row) }
    }
  }

  func recordTypes() throws -> [RecordTypeRow] {
    try rows(
      "SELECT container, environment, name, body FROM record_types WHERE name <> ''"
    ) { row in
      try RecordTypeBody.open(
        try row.blob(3),
        id: RecordTypeID(
          container: row.text(0), environment: row.text(1), name: row.text(2)))
    }
  }

  func schemas() throws -> [SchemaRow] {
    try rows("SELECT body, container, environment FROM record_types WHERE name = ''") { row in
      let id = try RecordTypeID(container: row.text(1), environment: row.text(2), name: "")
      return try SchemaBody.open(try row.blob(0), id.container, id.environment)
    }
  }

  func assetChecksums() throws -> [String] {
    try rows("SELECT checksum FROM file_chunks WHERE number = 0") { try $0.text(0) }
  }

  func receiptKeys() throws -> [ReceiptKey] {
    try rows("SELECT user, device, request FROM receipts ORDER BY number") { row in
      ReceiptKey(
        user: UserID(try row.text(0)), device: try row.text(1), requestID: try row.text(2))
    }
  }

  func latestRecordChanges(
    of zone: ZoneID, in database: DatabaseID, before sequence: UInt64, limit: Int
  ) throws -> [RecordRow] {
    guard let number = try number(of: zone, in: database) else { return [] }
    return try rows(
      """
      SELECT name, changed_at, body FROM records
      WHERE zone = ? AND changed_at < ? ORDER BY changed_at DESC LIMIT ?
      """,
      [.integer(number), .integer(stored(sequence)), .integer(Int64(max(0, limit)))]
    ) { try recordRow($0, in: zone) }
  }

  func recordCount(of zone: ZoneID, in database: DatabaseID, upTo limit: Int) throws -> Int {
    guard let number = try number(of: zone, in: database) else { return 0 }
    return try first(
      """
      SELECT count(*) FROM (SELECT 1 FROM records WHERE zone = ? AND is_live = 1 LIMIT ?)
      """, [.integer(number), .integer(Int64(max(0, limit)))]
    ) { Int(clamping: try $0.integer(0)) } ?? 0
  }

  func rowCount() throws -> Int? {
    let counts = ["records", "receipts", "file_chunks WHERE number = 0"]
      .map { "(SELECT count(*) FROM \($0))" }
    return try first("SELECT " + counts.joined(separator: " + ")) {
      Int(clamping: try $0.integer(0))
    }
  }

  /// Empties every table except `settings`.
  func removeEverything() throws {
    for table in [
      "accounts", "databases", "zones", "records", "links", "subscriptions", "receipts",
      "record_types", "file_chunks", "uploads", "file_uses", "field_indexes", "field_values",
    ] { try connection.run("DELETE FROM \(table)") }
    forget()
    changesNumbers = true
    numbers = nil
    changesIndexes = true
    indexes = nil
  }

  /// The database ID in the four columns that start at `column`.
  static func databaseID(_ row: Row, from column: Int32) throws -> DatabaseID {
    try DatabaseID(
      container: row.text(column), environment: row.text(column + 1),
      scope: row.integer(column + 2), owner: row.text(column + 3))
  }
}
