import CloudMachine
import CloudProtocol
import Records
import SQLite

extension SQLiteStorage {
  func records(
    ofType type: String, in zone: ZoneID, of database: DatabaseID, after name: String?, limit: Int
  ) throws -> [RecordRow] {
    guard let number = try number(of: zone, in: database) else { return [] }
    var isIndexed = false
    while !isIndexed { isIndexed = try makeTypeIndex(checking: 1_000) }
    // No name is empty, so the empty string sorts before all names.
    return try rows(
      """
      SELECT name, changed_at, body FROM records
      WHERE zone = ? AND type = ? AND is_live = 1 AND name > ? ORDER BY name LIMIT ?
      """,
      [
        .integer(number), .text(type), .text(name ?? ""), .integer(Int64(max(0, limit))),
      ]
    ) { row in
      let found = try recordRow(row, in: zone)
      guard found.type == type, found.record != nil else {
        throw ByteFormatError(offset: 0, reason: "a record does not match its columns")
      }
      return found
    }
  }

  func prepareRecords(
    ofType type: String, in zone: ZoneID, of database: DatabaseID, limit: Int
  ) throws -> Bool {
    try makeTypeIndex(checking: limit)
  }

  /// Creates the type index if it is missing and all rows were checked; returns whether records of
  /// a type can be read, with the index or, in a file that can't be written, without it.
  ///
  /// Checks the next `count` rows first: once the index exists, SQLite detects mismatched columns;
  /// before, nothing does.
  private func makeTypeIndex(checking count: Int) throws -> Bool {
    let isThere = try first(
      "SELECT 1 FROM sqlite_schema WHERE name = 'records_by_type'", [], { _ in true })
    // Without the index a query reads more, which is better than no query.
    guard isThere == nil, !connection.isReadOnly, !isFull else { return true }
    let numbers = try rows(
      """
      SELECT name, changed_at, body, type, is_live, number FROM records
      WHERE number > ? ORDER BY number LIMIT ?
      """, [.integer(checkedThrough), .integer(Int64(max(1, count)))]
    ) { row in
      // The checksum covers the record's name but not its zone, so any zone works here.
      let found = try recordRow(row, in: .default)
      let type = try row.text(3)
      let isLive = try row.integer(4) == 1
      guard found.type == type, (found.record != nil) == isLive else {
        throw ByteFormatError(offset: 0, reason: "a record does not match its columns")
      }
      return try row.integer(5)
    }
    guard let last = numbers.last, numbers.count >= count else {
      changesIndexes = true
      try translating { try connection.execute(ServerFile.layoutOfTypes) }
      return true
    }
    checkedThrough = last
    return false
  }

  func recordType(_ id: RecordTypeID) throws -> RecordTypeRow? {
    try recordTypes(id.container, id.environment, "AND name = ?", [.text(id.name)]).first
  }

  func recordTypes(
    of container: String, in environment: CloudEnvironment
  ) throws -> [RecordTypeRow] {
    try recordTypes(container, environment, "AND name <> '' ORDER BY name", [])
  }

  private func recordTypes(
    _ container: String, _ environment: CloudEnvironment, _ rest: String, _ values: [SQLValue]
  ) throws -> [RecordTypeRow] {
    try rows(
      "SELECT name, body FROM record_types WHERE container = ? AND environment = ? " + rest,
      [.text(container), .text(environment.rawValue)] + values
    ) { row in
      try RecordTypeBody.open(
        try row.blob(1),
        id: RecordTypeID(
          container: container, environment: environment, name: try row.text(0)))
    }
  }

  /// The settings for all types are stored under the empty name, which no type has.
  func schema(of container: String, in environment: CloudEnvironment) throws -> SchemaRow? {
    try first(
      "SELECT body FROM record_types WHERE container = ? AND environment = ? AND name = ''",
      [.text(container), .text(environment.rawValue)]
    ) { try SchemaBody.open(try $0.blob(0), container, environment) }
  }

  func put(_ row: RecordTypeRow) throws {
    try putType(row.id, RecordTypeBody.close(row))
  }

  func put(_ row: SchemaRow) throws {
    try putType(row.key, SchemaBody.close(row))
  }

  private func putType(_ id: RecordTypeID, _ body: [UInt8]) throws {
    try connection.run(
      """
      INSERT OR REPLACE INTO record_types (container, environment, name, body)
      VALUES (?, ?, ?, ?)
      """,
      [.text(id.container), .text(id.environment.rawValue), .text(id.name), .blob(body)])
  }
}

/// The form of a record type in the file; its name is in separate columns.
enum RecordTypeBody {
  static func close(_ row: RecordTypeRow) -> [UInt8] {
    ChecksummedBytes.encode(context: context(row.id)) { writer in
      writer.write(list: row.fields) { writer, field in
        writer.write(field.key)
        writer.write(field.indexes.rawValue)
        writer.write(optional: field.shape) { writer, shape in
          writer.write(shape.kind.rawValue)
          writer.write(optional: shape.element) { $0.write($1.rawValue) }
          writer.write(shape.isEncrypted)
        }
      }
    }
  }

  static func open(_ bytes: [UInt8], id: RecordTypeID) throws(ByteFormatError) -> RecordTypeRow {
    try ChecksummedBytes.decode(bytes, context: context(id)) { (reader) throws(ByteFormatError) in
      RecordTypeRow(
        id: id,
        fields: try reader.list { (reader) throws(ByteFormatError) in
          let key = try reader.string()
          let indexes = FieldIndexes(rawValue: try reader.byte())
          return FieldRow(
            key: key,
            shape: try reader.optional { (reader) throws(ByteFormatError) in
              try reader.fieldShape()
            },
            indexes: indexes)
        })
    }
  }

  private static func context(_ id: RecordTypeID) -> [UInt8] {
    ChecksummedBytes.context(id.container, id.environment.rawValue, id.name)
  }
}

extension ByteReader {
  fileprivate mutating func fieldShape() throws(ByteFormatError) -> FieldShape {
    let kind = try kind()
    let element = try optional { (reader) throws(ByteFormatError) in try reader.kind() }
    return FieldShape(kind: kind, element: element, isEncrypted: try bool())
  }

  private mutating func kind() throws(ByteFormatError) -> FieldValue.Kind {
    guard let kind = FieldValue.Kind(rawValue: try byte()) else {
      throw fault("the kind of a field is unknown")
    }
    return kind
  }
}
