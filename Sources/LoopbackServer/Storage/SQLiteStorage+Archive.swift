import CloudMachine
import CloudProtocol
import Records
import SQLite

extension SQLiteStorage {
  func databaseNames() throws -> [DatabaseID] {
    try translating {
      try connection.rows("SELECT container, environment, scope, owner FROM databases") {
        try SQLiteStorage.databaseID($0, from: 0)
      }
    }
  }

  func zoneNames(in database: DatabaseID) throws -> [ZoneID] {
    try translating {
      guard let number = try number(of: database) else { return [] }
      return try connection.rows(
        "SELECT owner, name FROM zones WHERE database = ?", [.integer(number)]
      ) { ZoneID(name: try $0.text(1), owner: try $0.text(0)) }
    }
  }

  func forEachRecord(
    of zone: ZoneID, in database: DatabaseID, _ body: (RecordRow) throws -> Void
  ) throws {
    guard let zoneNumber = try translating({ try number(of: zone, in: database) }) else { return }
    let numbers = try translating {
      try connection.rows(
        "SELECT number FROM records WHERE zone = ? ORDER BY name", [.integer(zoneNumber)]
      ) { try $0.integer(0) }
    }
    for number in numbers {
      let row = try translating {
        try connection.first(
          "SELECT name, changed_at, body FROM records WHERE number = ?", [.integer(number)]
        ) { try recordRow($0, in: zone) }
      }
      if let row { try body(row) }
    }
  }

  func recordTypes() throws -> [RecordTypeRow] {
    try translating {
      try connection.rows(
        "SELECT container, environment, name, body FROM record_types WHERE name <> ''"
      ) { row in
        try RecordTypeBody.open(
          try row.blob(3),
          id: RecordTypeID(
            container: try row.text(0), environment: try SQLiteStorage.environment(row, 1),
            name: try row.text(2)))
      }
    }
  }

  func schemas() throws -> [SchemaRow] {
    let worlds = try translating {
      try connection.rows("SELECT container, environment FROM record_types WHERE name = ''") {
        (container: try $0.text(0), environment: try SQLiteStorage.environment($0, 1))
      }
    }
    return try worlds.compactMap { try schema(of: $0.container, in: $0.environment) }
  }

  func assetChecksums() throws -> [String] {
    try translating {
      try connection.rows("SELECT checksum FROM file_chunks WHERE number = 0") { try $0.text(0) }
    }
  }

  func receiptKeys() throws -> [ReceiptKey] {
    try translating {
      try connection.rows("SELECT user, device, request FROM receipts ORDER BY number") { row in
        ReceiptKey(
          user: UserID(try row.text(0)), device: try row.text(1), requestID: try row.text(2))
      }
    }
  }

  func latestRecordChanges(
    of zone: ZoneID, in database: DatabaseID, before sequence: UInt64, limit: Int
  ) throws -> [RecordRow] {
    try translating {
      guard let number = try number(of: zone, in: database) else { return [] }
      return try connection.rows(
        """
        SELECT name, changed_at, body FROM records
        WHERE zone = ? AND changed_at < ? ORDER BY changed_at DESC LIMIT ?
        """,
        [.integer(number), .integer(stored(sequence)), .integer(Int64(max(0, limit)))]
      ) { try recordRow($0, in: zone) }
    }
  }

  func recordCount(of zone: ZoneID, in database: DatabaseID, upTo limit: Int) throws -> Int {
    try translating {
      guard let number = try number(of: zone, in: database) else { return 0 }
      return try connection.first(
        """
        SELECT count(*) FROM (SELECT 1 FROM records WHERE zone = ? AND is_live = 1 LIMIT ?)
        """, [.integer(number), .integer(Int64(max(0, limit)))]
      ) { Int(clamping: try $0.integer(0)) } ?? 0
    }
  }

  func rowCount() throws -> Int? {
    let counts = ["records", "receipts", "file_chunks WHERE number = 0"]
      .map { "(SELECT count(*) FROM \($0))" }
    return try translating {
      try connection.first("SELECT " + counts.joined(separator: " + ")) {
        Int(clamping: try $0.integer(0))
      }
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
    guard
      let scope = UInt8(exactly: try row.integer(column + 2)).flatMap(
        DatabaseScope.init(rawValue:))
    else { throw ByteFormatError(offset: 0, reason: "the kind of a database is unknown") }
    let owner = try row.text(column + 3)
    return DatabaseID(
      container: try row.text(column), environment: try environment(row, column + 1),
      scope: scope, owner: owner.isEmpty ? nil : UserID(owner))
  }

  private static func environment(_ row: Row, _ column: Int32) throws -> CloudEnvironment {
    guard let environment = CloudEnvironment(rawValue: try row.text(column)) else {
      throw ByteFormatError(offset: 0, reason: "the kind of a database is unknown")
    }
    return environment
  }
}
