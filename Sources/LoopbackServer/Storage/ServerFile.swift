import CloudMachine
import Disk
import Records
import SQLite
import Synchronization

/// Opens and creates the server's file, and rejects every other file.
///
/// Its tables: `settings`, `accounts`, `databases`, `zones`, `records`, `links`, `subscriptions`,
/// `receipts`, and of layout 2 `record_types`, `uploads`, `file_uses`, `file_chunks`; layout 3
/// stores `records` in insertion order, and layout 4 has no index of their names. In layout 5 a
/// receipt may contain the digest of its request after the reply; older rows have none. Layout 6
/// has `field_indexes` and `field_values`.
/// `application_id` distinguishes the file from other programs' databases; `user_version` is the
/// layout's version.
enum ServerFile {
  /// The `application_id`: "CkLs".
  static let applicationID: Int64 = 0x436b_4c73

  /// The layout this code writes.
  static let version: Int64 = 6

  /// Files up to this many bytes are checked as a whole when they are opened; in larger files each
  /// page and row is checked when it is read.
  static let wholeCheckBytes: Int64 = 16 * 1024 * 1024

  /// The size of the page cache: 64 MiB, as negative KiB as SQLite expects.
  ///
  /// Names are in random order, so each request touches pages all over the indexes.
  static let cacheSize = -64 * 1024
  /// The size of the write-ahead log that triggers a checkpoint: 64 MiB in pages of 4 KiB.
  ///
  /// A page that changed several times in between is written once.
  private static let checkpointPages = 16384

  /// Opens a connection to the file at `path`, which is created if it does not exist, after these
  /// checks: it is a database of this program, of a known version, and not damaged.
  ///
  /// If a check fails, the file is unchanged. On a full disk it is opened for reading alone.
  static func open(
    path: String, identity: UInt64, secret: StorageSecret?, busyMilliseconds: Int32,
    fileSystem: SQLiteFileSystem? = nil, mode: Connection.Mode? = nil
  ) throws(ServerFileError) -> Connection {
    do {
      let isThere = try checkHeader(path: path, fileSystem)
      let connect = { (readsAlone: Bool) throws in
        try ServerFile.connect(
          path: path, identity: identity, secret: secret, busyMilliseconds: busyMilliseconds,
          fileSystem: fileSystem, mode: mode, readsAlone: readsAlone)
      }
      do { return try connect(false) } catch let error as SQLiteError
        where isThere && (error.code == .full || error.extendedCode == .sharedMemorySize)
      {
        return try connect(true)
      }
    } catch let error as ServerFileError {
      throw error
    } catch let error as SQLiteError {
      throw ServerFileError(error, path: path)
    } catch {
      throw ServerFileError(.failed, path: path) { "cannot open \($0): \(error)" }
    }
  }

  private static func connect(
    path: String, identity: UInt64, secret: StorageSecret?, busyMilliseconds: Int32,
    fileSystem: SQLiteFileSystem?, mode: Connection.Mode?, readsAlone: Bool
  ) throws -> Connection {
    let hasLog = hasLog(path, fileSystem?.disk ?? SystemDisk())
    let chosen = fileSystem == nil && isImmutable(path) ? Connection.Mode.immutable : .create
    let connection = try Connection(
      path: path, mode: mode ?? chosen,
      busyMilliseconds: busyMilliseconds, fileSystem: fileSystem)
    do {
      if readsAlone { try connection.readAlone() }
      // Until the file is verified, closing must not checkpoint a log into it either.
      try connection.setCheckpointsOnClose(!hasLog)
      do { try prepare(connection, identity: identity, secret: secret) } catch SQLiteError.Code
        .error
      {
        // The statements are correct, so the file's layout must be wrong.
        throw SQLiteError(.corrupt, "its layout was changed")
      }
      if !readsAlone { try connection.setCheckpointsOnClose(true) }
      if !connection.isReadOnly { try connection.useWriteAheadLog() }
      // The log of another process may not have reached the disk if its last sync failed, and
      // commits after it would not be durable. So checkpoint the log into the file.
      if hasLog, !connection.isReadOnly { try connection.foldLog() }
      try connection.execute("PRAGMA cache_size = \(cacheSize)")
      try connection.execute("PRAGMA wal_autocheckpoint = \(checkpointPages)")
      // A log that one large file made longer is cut when it is written anew.
      try connection.execute("PRAGMA journal_size_limit = \(checkpointPages * 4096)")
      return connection
    } catch {
      try? connection.close()
      throw error
    }
  }

  /// Whether the write-ahead log of the file at `path` has content; SQLite locks no part of it.
  private static func hasLog(_ path: String, _ disk: any Disk) -> Bool {
    do throws(DiskError) {
      let first = try disk.open(path + "-wal", .read).read(upToCount: 1, at: 0)
      return !first.isEmpty
    } catch {
      // A log that can't be read may have content.
      return error != .notFound
    }
  }

  /// Checks the file's header without opening it as a database, which would create auxiliary files
  /// beside it.
  ///
  /// - Returns: Whether the file has content.
  private static func checkHeader(path: String, _ fileSystem: SQLiteFileSystem?) throws -> Bool {
    let header: [UInt8]
    do throws(DiskError) {
      let disk = fileSystem?.disk ?? SystemDisk()
      guard try disk.exists(path) else { return false }
      // A journal means that the file must be recovered first, which only SQLite can do.
      if try disk.exists(path + "-journal") { return true }
      header =
        fileSystem == nil
        ? try Connection.beginning(of: path, count: 100)
        : try disk.open(path, .read).read(upToCount: 100, at: 0)
    } catch .failed {
      throw SQLiteError(.inputOutput, "its header cannot be read")
    } catch {
      throw SQLiteError(.cannotOpen, "unreadable")
    }
    if header.isEmpty { return false }
    guard header.count == 100, header.starts(with: Array("SQLite format 3\0".utf8)) else {
      throw SQLiteError(.notADatabase, "no header")
    }
    try check(
      application: bigEndian(header[68..<72]), version: bigEndian(header[60..<64]), path: path)
    return true
  }

  private static func bigEndian(_ bytes: ArraySlice<UInt8>) -> Int64 {
    bytes.reduce(0) { $0 << 8 | Int64($1) }
  }

  private static func check(application: Int64, version found: Int64, path: String) throws {
    guard application == applicationID else {
      throw ServerFileError(.foreign, path: path) {
        "\($0) belongs to another program; use another file"
      }
    }
    guard found <= version else {
      throw ServerFileError(.newer, path: path) {
        "\($0) was written by a newer version (its layout is \(found), this one knows "
          + "\(version)); update, or use another file"
      }
    }
  }

  /// Checks the file with SQLite, or creates its tables if it is empty.
  private static func prepare(
    _ connection: Connection, identity: UInt64, secret: StorageSecret?
  ) throws {
    let isEmpty = try connection.first("SELECT count(*) FROM sqlite_schema") {
      try $0.integer(0) == 0
    }
    if isEmpty == true, try setting("application_id", connection) == 0 {
      // Deferred, because a file is laid out for vacuuming before anything is written.
      try connection.transaction(isDeferred: true) {
        try layOut(connection, identity: identity, secret: secret)
      }
    }
    try check(
      application: try setting("application_id", connection),
      version: try setting("user_version", connection), path: connection.path)
    // Of one state of the file: another process may migrate it.
    let (found, made) = try connection.transaction(isDeferred: true) {
      (try setting("user_version", connection), try tables(connection))
    }
    guard try expectedTables(in: found) == made.filter({ found < 3 || $0 != layoutOfTypes })
    else { throw SQLiteError(.corrupt, "its layout was changed") }
    let size =
      try setting("page_count", connection).multipliedReportingOverflow(
        by: try setting("page_size", connection)
      ).partialValue
    if size <= wholeCheckBytes {
      let finding = try connection.first("PRAGMA integrity_check(1)") { try $0.text(0) }
      guard finding == "ok" else {
        throw ServerFileError(damaged: finding ?? "unknown", path: connection.path)
      }
    }
    // A file of layout 5 that may not be written is read without indexes.
    if found < version, found < 5 || !connection.isReadOnly {
      try connection.transaction { try migrate(connection) }
    }
    if size <= wholeCheckBytes {
      try checkNames(connection)
      if try hasIndexes(connection) { try checkIndexes(connection) }
    }
    // Files from before shares were supported have no secret.
    if try connection.first("SELECT 1 FROM settings WHERE name = 'secret'", [], { _ in true })
      == nil
    {
      try keep(secret: .random(), connection)
    }
  }

  /// No unique index enforces that names are unique, so check them.
  private static func checkNames(_ connection: Connection) throws {
    let twice = try connection.first(
      "SELECT name FROM records GROUP BY zone, name HAVING count(*) > 1 LIMIT 1"
    ) { try $0.text(0) }
    if twice != nil {
      throw ServerFileError(damaged: "two rows contain the same record", path: connection.path)
    }
  }

  /// Stores the file's secret, unless another process just did.
  private static func keep(secret: StorageSecret, _ connection: Connection) throws {
    try connection.run(
      "INSERT OR IGNORE INTO settings (name, body) VALUES ('secret', ?)",
      [.blob(SettingsBody.close(secret))])
  }

  /// Replaces the identity and secret of the file.
  static func replace(identity: UInt64, secret: StorageSecret, _ connection: Connection) throws {
    try connection.run("DELETE FROM settings WHERE name IN ('identity', 'secret')")
    try keep(identity: identity, connection)
    try keep(secret: secret, connection)
  }

  private static func keep(identity: UInt64, _ connection: Connection) throws {
    try connection.run(
      "INSERT INTO settings (name, body) VALUES ('identity', ?)",
      [.blob(SettingsBody.close(identity))])
  }

  /// The SQL of a version's tables; a layout never changes, so each is computed once.
  private static func expectedTables(in version: Int64) throws -> [String?] {
    let version = max(1, version)
    if let known = knownTables.withLock({ $0[version] }) { return known }
    let model = try Connection(path: ":memory:")
    try model.execute(layout)
    for step in migrations where step.from < version { try model.execute(step.sql) }
    let made = try tables(model)
    try model.close()
    knownTables.withLock { $0[version] = made }
    return made
  }

  private static let knownTables = Mutex<[Int64: [String?]]>([:])

  private static func tables(_ connection: Connection) throws -> [String?] {
    try connection.rows("SELECT sql FROM sqlite_schema ORDER BY name") { try $0.optionalText(0) }
  }

  private static func setting(_ name: String, _ connection: Connection) throws -> Int64 {
    try connection.first("PRAGMA \(name)") { try $0.integer(0) } ?? 0
  }

  /// Migrates the layout step by step to the current version.
  private static func migrate(_ connection: Connection) throws {
    let found = try setting("user_version", connection)
    for step in migrations where step.from >= found {
      try connection.execute(step.sql)
      try step.fill(connection)
      try connection.execute("PRAGMA user_version = \(step.from + 1)")
    }
  }

  /// The migrations; a new file runs the same ones, so that all files have the same layout.
  private static let migrations: [Migration] = [
    Migration(from: 1, sql: layoutOfQueriesAndFiles, fill: fillRecordTypes),
    Migration(from: 2, sql: layoutInOrderOfChange, fill: { _ in }),
    Migration(from: 3, sql: layoutWithoutNames, fill: { _ in }),
    // The tables are unchanged; the number keeps older versions from reading receipts with a
    // digest.
    Migration(from: 4, sql: "", fill: { _ in }),
    Migration(from: 5, sql: layoutOfIndexes, fill: { _ in }),
  ]

  /// One step from a version to the next.
  struct Migration: Sendable {
    var from: Int64
    var sql: String
    /// Fills the new columns from existing data.
    var fill: @Sendable (Connection) throws -> Void
  }

  private static func layOut(
    _ connection: Connection, identity: UInt64, secret: StorageSecret?
  ) throws {
    // Lets unused pages be given back to the disk; see `SQLiteStorage.giveBackSpace()`.
    try connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    // Another process may have created the tables while this one waited for the lock.
    guard try setting("application_id", connection) == 0 else { return }
    try connection.execute(layout)
    for migration in migrations { try connection.execute(migration.sql) }
    try keep(identity: identity, connection)
    try keep(secret: secret ?? .random(), connection)
    try connection.execute("PRAGMA application_id = \(applicationID)")
    try connection.execute("PRAGMA user_version = \(version)")
  }

  /// The tables of version 1, which never change; later changes are in `migrations`.
  ///
  /// A database or zone without a body is only a name that other rows refer to. Values without a
  /// separate column are in the bodies, each with a checksum over it and its row's names.
  static let layout = """
    CREATE TABLE settings (name TEXT PRIMARY KEY, body BLOB NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE accounts (
      name TEXT PRIMARY KEY, user TEXT NOT NULL UNIQUE, body BLOB NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE databases (
      id INTEGER PRIMARY KEY, container TEXT NOT NULL, environment TEXT NOT NULL,
      scope INTEGER NOT NULL, owner TEXT NOT NULL, body BLOB,
      UNIQUE (container, environment, scope, owner)) STRICT;
    CREATE TABLE zones (
      id INTEGER PRIMARY KEY, database INTEGER NOT NULL, owner TEXT NOT NULL, name TEXT NOT NULL,
      changed_at INTEGER NOT NULL DEFAULT 0, body BLOB, UNIQUE (database, owner, name)) STRICT;
    CREATE INDEX zones_by_change ON zones (database, changed_at);
    CREATE TABLE records (
      zone INTEGER NOT NULL, name TEXT NOT NULL, changed_at INTEGER NOT NULL,
      is_live INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (zone, name))
      STRICT, WITHOUT ROWID;
    CREATE INDEX records_by_change ON records (zone, changed_at);
    CREATE TABLE links (
      target_zone INTEGER NOT NULL, target TEXT NOT NULL, holder_zone INTEGER NOT NULL,
      holder TEXT NOT NULL, kind INTEGER NOT NULL,
      PRIMARY KEY (target_zone, target, holder_zone, holder, kind)) STRICT, WITHOUT ROWID;
    CREATE INDEX links_by_holder ON links (holder_zone, holder);
    CREATE TABLE subscriptions (
      database INTEGER NOT NULL, name TEXT NOT NULL, body BLOB NOT NULL,
      PRIMARY KEY (database, name)) STRICT, WITHOUT ROWID;
    CREATE TABLE receipts (
      number INTEGER PRIMARY KEY, user TEXT NOT NULL, device TEXT NOT NULL,
      request TEXT NOT NULL, body BLOB NOT NULL, UNIQUE (user, device, request)) STRICT;
    CREATE INDEX receipts_by_age ON receipts (user, device, number);
    """
}

extension StorageSecret {
  /// A random secret.
  static func random() -> StorageSecret {
    StorageSecret(first: .random(in: 0...(.max)), second: .random(in: 0...(.max)))
  }
}
