/// What layouts 3 and 4 change: records stand in the order in which they came.
///
/// Before, they stood in the order of their names, which have none: each record of a request went
/// to another page, and so did its entry in the index by type. Now a request's records share
/// pages, and only an index of the names is written all over.
extension ServerFile {
  /// Copies the records into a table of the new form.
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

  /// Gives up the index of names, which `RecordNumbers` does the work of, and gives no row a number
  /// that another had before.
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

  /// The index by type, which is made when somebody first asks by type: who only syncs never does,
  /// and need not pay for it with each record.
  static let layoutOfTypes =
    "CREATE INDEX records_by_type ON records (zone, type, name) WHERE is_live = 1"
}
