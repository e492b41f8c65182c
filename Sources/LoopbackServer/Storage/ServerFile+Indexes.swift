import SQLite

/// The additions of layout 6: indexes of fields, by which queries find records.
extension ServerFile {
  /// The tables of the indexes and of their entries.
  ///
  /// A row of `field_indexes` is an index; `through` is the last name that it contains, `NULL` when
  /// it contains all. A row of `field_values` is the entry of one live record.
  /// The tables are empty until a query needs an index. Versions that know no indexes would not
  /// keep them current; the number of the layout keeps those versions from the file.
  static let layoutOfIndexes = """
    CREATE TABLE field_indexes (
      id INTEGER PRIMARY KEY, zone INTEGER NOT NULL, type TEXT NOT NULL, field TEXT NOT NULL,
      through TEXT, UNIQUE (zone, type, field)) STRICT;
    CREATE TABLE field_values (
      field INTEGER NOT NULL, key BLOB NOT NULL, name TEXT NOT NULL, number INTEGER NOT NULL,
      PRIMARY KEY (field, key, name)) STRICT, WITHOUT ROWID;
    """

  /// Whether the file has the tables; a file of layout 5 that may not be written has none.
  static func hasIndexes(_ connection: Connection) throws -> Bool {
    try connection.first(
      "SELECT 1 FROM sqlite_schema WHERE name = 'field_indexes'", [], { _ in true }) ?? false
  }

  /// Checks that each complete index has one entry for each record, and each entry a record;
  /// otherwise removes all indexes, which the next queries create.
  static func checkIndexes(_ connection: Connection) throws {
    let wrong = try connection.first(
      """
      SELECT 1 FROM field_indexes AS i WHERE
        (through IS NULL AND (SELECT count(*) FROM field_values WHERE field = i.id) <>
          (SELECT count(*) FROM records WHERE zone = i.zone AND type = i.type AND is_live = 1))
        OR EXISTS (
          SELECT 1 FROM field_values AS v LEFT JOIN records AS r
            ON r.number = v.number AND r.name = v.name AND r.zone = i.zone AND r.type = i.type
              AND r.is_live = 1
          WHERE v.field = i.id AND r.number IS NULL)
      UNION ALL SELECT 1 FROM field_values WHERE field NOT IN (SELECT id FROM field_indexes)
      """, [], { _ in true })
    guard wrong != nil else { return }
    guard !connection.isReadOnly else {
      throw ServerFileError(
        damaged: "an index of a field does not match the records", path: connection.path)
    }
    try connection.transaction {
      try connection.execute("DELETE FROM field_values; DELETE FROM field_indexes")
    }
  }
}
