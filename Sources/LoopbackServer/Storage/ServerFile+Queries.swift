import CloudMachine
import Records
import SQLite

/// The additions of layout 2: finding records by type, schemas, and the content of files.
extension ServerFile {
  /// Content is stored under its checksum, in chunks with checksums.
  ///
  /// Triggers remove it with the last row in `uploads` or `file_uses` that refers to it.
  static let layoutOfQueriesAndFiles = """
    ALTER TABLE records ADD COLUMN type TEXT NOT NULL DEFAULT '';
    CREATE INDEX records_by_type ON records (zone, type, name) WHERE is_live = 1;
    CREATE TABLE record_types (
      container TEXT NOT NULL, environment TEXT NOT NULL, name TEXT NOT NULL, body BLOB NOT NULL,
      UNIQUE (container, environment, name)) STRICT;
    CREATE TABLE uploads (
      receipt TEXT PRIMARY KEY, checksum TEXT NOT NULL, time INTEGER NOT NULL, body BLOB NOT NULL)
      STRICT, WITHOUT ROWID;
    CREATE INDEX uploads_by_time ON uploads (time);
    CREATE INDEX uploads_by_checksum ON uploads (checksum);
    CREATE TABLE file_uses (
      zone INTEGER NOT NULL, holder TEXT NOT NULL, checksum TEXT NOT NULL,
      PRIMARY KEY (zone, holder, checksum)) STRICT, WITHOUT ROWID;
    CREATE INDEX file_uses_by_checksum ON file_uses (checksum);
    CREATE TABLE file_chunks (
      checksum TEXT NOT NULL, number INTEGER NOT NULL, body BLOB NOT NULL,
      PRIMARY KEY (checksum, number)) STRICT;
    CREATE TRIGGER upload_removed AFTER DELETE ON uploads
      WHEN NOT EXISTS (SELECT 1 FROM uploads WHERE checksum = OLD.checksum)
        AND NOT EXISTS (SELECT 1 FROM file_uses WHERE checksum = OLD.checksum)
      BEGIN DELETE FROM file_chunks WHERE checksum = OLD.checksum; END;
    CREATE TRIGGER file_use_removed AFTER DELETE ON file_uses
      WHEN NOT EXISTS (SELECT 1 FROM uploads WHERE checksum = OLD.checksum)
        AND NOT EXISTS (SELECT 1 FROM file_uses WHERE checksum = OLD.checksum)
      BEGIN DELETE FROM file_chunks WHERE checksum = OLD.checksum; END;
    """

  /// Writes the type of every record of layout 1 into its column.
  static let fillRecordTypes: @Sendable (Connection) throws -> Void = { connection in
    let keys = try connection.rows("SELECT zone, name FROM records") { row in
      (zone: try row.integer(0), name: try row.text(1))
    }
    for key in keys {
      let type = try connection.first(
        "SELECT changed_at, body FROM records WHERE zone = ? AND name = ?",
        [.integer(key.zone), .text(key.name)]
      ) { row in
        // The checksum covers the record's name but not its zone, so any zone works here.
        try RecordBody.open(
          try row.blob(1), id: RecordID(name: key.name, zone: .default),
          changedAt: try counted(try row.integer(0))
        ).type
      }
      guard let type else { continue }
      try connection.run(
        "UPDATE records SET type = ? WHERE zone = ? AND name = ?",
        [.text(type), .integer(key.zone), .text(key.name)])
    }
  }
}
