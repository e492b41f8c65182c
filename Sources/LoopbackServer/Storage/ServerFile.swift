import CloudMachine
import Disk
import Records
import SQLite
import Synchronization

/// Opens and makes the server's file, and refuses every file that is not one.
///
/// Its tables: `settings`, `accounts`, `databases`, `zones`,
/// `records`, `links`, `subscriptions`, `receipts`, and of layout 2 `record_types`, `uploads`,
/// `file_uses`, `file_chunks`; layout 3 keeps `records` in the order in which they came, and
/// layout 4 keeps no index of their names. In layout 5 a receipt may hold the digest of its request
/// behind the answer; older rows have none.
/// `application_id` tells the file from other programs' databases, `user_version` the layout's
/// version.
enum ServerFile {
  /// What `application_id` says: "CkLs".
  static let applicationID: Int64 = 0x436b_4c73

  /// The layout this code writes.
  static let version: Int64 = 5

  /// Files up to this many bytes are checked as a whole when they are opened; of larger ones
  /// each page and row is checked when it is read.
  static let wholeCheckBytes: Int64 = 16 * 1024 * 1024

  /// How much of the file is kept in memory: 64 MiB, counted in negative KiB as SQLite does.
  ///
  /// Names come in no order, so that each request touches pages all over the indexes.
  private static let cacheSize = -64 * 1024
  /// How long the log grows until it is folded into the file: 64 MiB of pages of 4 KiB.
  ///
  /// A page that changed often in between is written once.
  private static let checkpointPages = 16384

  /// A connection to the file at `path`, made when there is none, after these checks: it is a
  /// database, of this program, of a version known here, and not damaged.
  ///
  /// When a check fails nothing was changed.
  static func open(
    path: String, identity: UInt64, secret: StorageSecret?, busyMilliseconds: Int32,
    fileSystem: SQLiteFileSystem? = nil
  ) throws(ServerFileError) -> Connection {
    do {
      let disk = fileSystem?.disk ?? SystemDisk()
      try checkHeader(path: path, disk)
      let hasLog = hasBytes(path + "-wal", disk)
      let connection = try Connection(
        path: path, mode: .create, busyMilliseconds: busyMilliseconds, fileSystem: fileSystem)
      do {
        // Until it is known to be ours and whole, closing must not fold a log into it either.
        try connection.setCheckpointsOnClose(!hasLog)
        do { try prepare(connection, identity: identity, secret: secret) } catch SQLiteError.Code
          .error
        {
          // The statements are right, so what they are about is wrong.
          throw SQLiteError(.corrupt, "it is not laid out as it was made")
        }
        try connection.setCheckpointsOnClose(true)
        try connection.useWriteAheadLog()
        // What a process left in the log may never have reached the disk, if a synchronization
        // failed before it ended; behind that nothing would last. The file itself is written anew.
        if hasLog { try connection.foldLog() }
        try connection.execute("PRAGMA cache_size = \(cacheSize)")
        try connection.execute("PRAGMA wal_autocheckpoint = \(checkpointPages)")
        return connection
      } catch {
        try? connection.close()
        throw error
      }
    } catch let error as ServerFileError {
      throw error
    } catch let error as SQLiteError {
      throw ServerFileError(error, path: path)
    } catch {
      throw ServerFileError(.failed, path: path, "cannot open \(path): \(error)")
    }
  }

  private static func hasBytes(_ path: String, _ disk: any Disk) -> Bool {
    do throws(DiskError) {
      let first = try disk.open(path, .read).read(upToCount: 1, at: 0)
      return !first.isEmpty
    } catch {
      // One that can't be read may well have some.
      return error != .notFound
    }
  }

  /// Reads the file's first bytes without SQLite, which would leave files of its own beside it.
  private static func checkHeader(path: String, _ disk: any Disk) throws {
    let header: [UInt8]
    do throws(DiskError) {
      // A journal beside it means the file is to be recovered first; only SQLite can do that.
      if try disk.exists(path + "-journal") { return }
      guard try disk.exists(path) else { return }
      header = try disk.open(path, .read).read(upToCount: 100, at: 0)
    } catch .failed {
      throw SQLiteError(.inputOutput, "its first bytes can't be read")
    } catch {
      throw SQLiteError(.cannotOpen, "unreadable")
    }
    if header.isEmpty { return }
    guard header.count == 100, header.starts(with: Array("SQLite format 3\0".utf8)) else {
      throw SQLiteError(.notADatabase, "no header")
    }
    try check(
      application: bigEndian(header[68..<72]), version: bigEndian(header[60..<64]), path: path)
  }

  private static func bigEndian(_ bytes: ArraySlice<UInt8>) -> Int64 {
    bytes.reduce(0) { $0 << 8 | Int64($1) }
  }

  private static func check(application: Int64, version found: Int64, path: String) throws {
    guard application == applicationID else {
      throw ServerFileError(
        .foreign, path: path,
        "\(path) belongs to another program; name another file")
    }
    guard found <= version else {
      throw ServerFileError(
        .newer, path: path,
        "\(path) was written by a newer version (its layout is \(found), this one knows "
          + "\(version)); update, or name another file")
    }
  }

  /// Checks the file as SQLite sees it, or lays it out when it is empty.
  private static func prepare(
    _ connection: Connection, identity: UInt64, secret: StorageSecret?
  ) throws {
    let isEmpty = try connection.first("SELECT count(*) FROM sqlite_schema") {
      try $0.integer(0) == 0
    }
    if isEmpty == true, try setting("application_id", connection) == 0 {
      try connection.transaction { try layOut(connection, identity: identity, secret: secret) }
    }
    try check(
      application: try setting("application_id", connection),
      version: try setting("user_version", connection), path: connection.path)
    let found = try setting("user_version", connection)
    let isOnDemand = { (sql: String?) in sql == layoutOfTypes }
    guard
      try expectedTables(in: found) == tables(connection).filter({ found < 3 || !isOnDemand($0) })
    else { throw SQLiteError(.corrupt, "it is not laid out as it was made") }
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
    if try setting("user_version", connection) < version {
      try connection.transaction { try migrate(connection) }
    }
    if size <= wholeCheckBytes { try checkNames(connection) }
    // Files made before shares were known have none.
    if try connection.first("SELECT 1 FROM settings WHERE name = 'secret'", [], { _ in true })
      == nil
    {
      try keep(secret: .random(), connection)
    }
  }

  /// No index keeps two rows from having one name.
  private static func checkNames(_ connection: Connection) throws {
    let twice = try connection.first(
      "SELECT name FROM records GROUP BY zone, name HAVING count(*) > 1 LIMIT 1"
    ) { try $0.text(0) }
    if twice != nil {
      throw ServerFileError(damaged: "two rows hold one record", path: connection.path)
    }
  }

  /// Gives the file its secret, unless another process just did.
  private static func keep(secret: StorageSecret, _ connection: Connection) throws {
    try connection.run(
      "INSERT OR IGNORE INTO settings (name, body) VALUES ('secret', ?)",
      [
        .blob(
          Sealed.close {
            $0.write(fixed: secret.first)
            $0.write(fixed: secret.second)
          })
      ])
  }

  /// Makes the file another server's.
  static func replace(identity: UInt64, secret: StorageSecret, _ connection: Connection) throws {
    try connection.run("DELETE FROM settings WHERE name IN ('identity', 'secret')")
    try keep(identity: identity, connection)
    try keep(secret: secret, connection)
  }

  private static func keep(identity: UInt64, _ connection: Connection) throws {
    try connection.run(
      "INSERT INTO settings (name, body) VALUES ('identity', ?)",
      [.blob(Sealed.close { $0.write(fixed: identity) })])
  }

  /// How the tables of a version are written: a layout never changes, so each is made once.
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

  /// Brings the layout from version to version up to the current one.
  private static func migrate(_ connection: Connection) throws {
    let found = try setting("user_version", connection)
    for step in migrations where step.from >= found {
      try connection.execute(step.sql)
      try step.fill(connection)
      try connection.execute("PRAGMA user_version = \(step.from + 1)")
    }
  }

  /// What leads from one version to the next; a new file takes the same way, so that both are
  /// laid out alike.
  private static let migrations: [Migration] = [
    Migration(from: 1, sql: layoutOfQueriesAndFiles, fill: fillRecordTypes),
    Migration(from: 2, sql: layoutInOrderOfChange, fill: { _ in }),
    Migration(from: 3, sql: layoutWithoutNames, fill: { _ in }),
    // The tables stay; the number keeps an older version from reading receipts with a digest.
    Migration(from: 4, sql: "", fill: { _ in }),
  ]

  /// One step from a version to the next.
  struct Migration: Sendable {
    var from: Int64
    var sql: String
    /// Fills what is new from what was there.
    var fill: @Sendable (Connection) throws -> Void
  }

  private static func layOut(
    _ connection: Connection, identity: UInt64, secret: StorageSecret?
  ) throws {
    // Another process may have done it while this one waited for the lock.
    guard try setting("application_id", connection) == 0 else { return }
    try connection.execute(layout)
    for migration in migrations { try connection.execute(migration.sql) }
    try keep(identity: identity, connection)
    try keep(secret: secret ?? .random(), connection)
    try connection.execute("PRAGMA application_id = \(applicationID)")
    try connection.execute("PRAGMA user_version = \(version)")
  }

  /// The tables of version 1, which never change; what came later is in `migrations`.
  ///
  /// A database or zone without a body is only a name that other rows mention. What has no
  /// column of its own is in the bodies, each sealed with a checksum over it and its row's names.
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
  /// A key nobody can guess.
  static func random() -> StorageSecret {
    StorageSecret(first: .random(in: 0...(.max)), second: .random(in: 0...(.max)))
  }
}
