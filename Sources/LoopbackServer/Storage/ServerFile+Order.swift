/// The changes of layouts 3 and 4: records are stored in the order of insertion.
///
/// Before, records were stored in the order of their names, which are random: each record of a
/// request went to a different page, and so did its entry in the type index. Now a request's
/// records share pages, and only the index of names has random writes.
extension ServerFile {
  /// Copies the records into a table with the new layout.
  static let layoutInOrderOfChange = """
    CREATE TABLE ordered_records (
      number INTEGER PRIMARY KEY, zone INTEGER NOT NULL, name TEXT NOT NULL,
      changed_at INTEGER NOT NULL, is_live INTEGER NOT NULL, type TEXT NOT NULL,
      body BLOB NOT NULL) STRICT;
    INSERT INTO ordered_records (zone, name, changed_at, is_live, type, body)
      SELECT zone, name, changed_at, is_live, type, body FROM records ORDER BY zone, changed_at;
    DROP TABLE records;
    ALTER TABLE ordered_records RENAME TO records;
    CREATE UNIQUE INDEX records_by_name ON records (zone, name);
    CREATE INDEX records_by_change ON records (zone, changed_at, name);
    """

  /// Removes the index of names, which `RecordNumbers` replaces, and never reuses row numbers.
  static let layoutWithoutNames = """
    CREATE TABLE numbered_records (
      number INTEGER PRIMARY KEY AUTOINCREMENT, zone INTEGER NOT NULL, name TEXT NOT NULL,
      changed_at INTEGER NOT NULL, is_live INTEGER NOT NULL, type TEXT NOT NULL,
      body BLOB NOT NULL) STRICT;
    INSERT INTO numbered_records SELECT * FROM records ORDER BY number;
    DROP TABLE records;
    ALTER TABLE numbered_records RENAME TO records;
    CREATE INDEX records_by_change ON records (zone, changed_at, name);
    """

  /// The type index, which is created at the first query by type: apps that only sync don't need it
  /// and don't pay for it with each record.
  static let layoutOfTypes =
    "CREATE INDEX records_by_type ON records (zone, type, name) WHERE is_live = 1"
}
