import CSQLite

/// One connection to a database file.
///
/// Not `Sendable`: use it from one isolation domain, or guard it with one lock.
package final class Connection {
  /// The access mode of a connection.
  package enum Mode: Hashable, Sendable {
    /// Read-only; the file must exist.
    case readOnly
    /// Read and write; the file must exist.
    case readWrite
    /// Read and write; a missing file is created.
    case create
    /// Read-only; the file must exist, and no process may change it. No file is created beside it.
    case immutable
  }

  /// The path it was opened with.
  package let path: String
  /// The mode it was opened with.
  package let mode: Mode

  private var handle: OpaquePointer?
  /// Retained by the connection.
  private let fileSystem: SQLiteFileSystem?
  private(set) var statements: [String: Statement] = [:]

  /// Opens the file at `path`; an empty path or `:memory:` opens a private database.
  ///
  /// Nothing is read before the first statement, so a file that is not a database is detected then.
  /// - Parameters:
  ///   - busyMilliseconds: how long a statement waits for other connections before it fails with
  ///     `busy`, 0 or more.
  ///   - fileSystem: where the file is; `nil` for the system's files.
  package init(
    path: String, mode: Mode = .create, busyMilliseconds: Int32 = 10_000,
    fileSystem: SQLiteFileSystem? = nil
  ) throws(SQLiteError) {
    self.path = path
    self.mode = mode
    self.fileSystem = fileSystem
    let flags =
      switch mode {
      case .readOnly: SQLITE_OPEN_READONLY
      case .readWrite: SQLITE_OPEN_READWRITE
      case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      case .immutable: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
      }
    let name = mode == .immutable ? Connection.immutableURI(path) : path
    let result = sqlite3_open_v2(name, &handle, flags | SQLITE_OPEN_NOMUTEX, fileSystem?.name)
    guard result == SQLITE_OK, let handle else {
      let error = Connection.error(handle, result, sql: nil)
      sqlite3_close_v2(handle)
      self.handle = nil
      throw error
    }
    sqlite3_extended_result_codes(handle, 1)
    sqlite3_busy_timeout(handle, max(0, busyMilliseconds))
  }

  /// The URI of a file that nothing changes.
  ///
  /// Source: SQLite's page on URI filenames.
  private static func immutableURI(_ path: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    let escaped = path.utf8.flatMap { byte -> [UInt8] in
      switch byte {
      case 0x25, 0x3F, 0x23: [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      default: [byte]
      }
    }
    return "file:\(String(decoding: escaped, as: UTF8.self))?immutable=1"
  }

  deinit {
    finalizeStatements()
    sqlite3_close_v2(handle)
  }

  /// Finalizes all statements and closes the file; further calls have no effect.
  ///
  /// A statement that was not read to its end is a programming error and traps in debug builds.
  package func close() throws(SQLiteError) {
    guard let handle else { return }
    assert(busyStatementCount == 0, "a statement is still being read while its connection closes")
    finalizeStatements()
    let result = sqlite3_close(handle)
    guard result == SQLITE_OK else { throw Connection.error(handle, result, sql: nil) }
    self.handle = nil
  }

  /// Whether the connection is open.
  package var isOpen: Bool { handle != nil }

  /// The number of statements that were stepped and neither finished nor reset.
  package var busyStatementCount: Int {
    var count = 0
    var statement = sqlite3_next_stmt(handle, nil)
    while let current = statement {
      if sqlite3_stmt_busy(current) != 0 { count += 1 }
      statement = sqlite3_next_stmt(handle, current)
    }
    return count
  }

  /// Sets whether closing the last connection checkpoints the write-ahead log.
  ///
  /// Off until it is known that the file may be changed.
  package func setCheckpointsOnClose(_ enabled: Bool) throws(SQLiteError) {
    try check(cloudsync_checkpoint_on_close(try opened(), enabled ? 1 : 0))
  }

  /// The number of rows changed by the last insertion, update or deletion.
  package var changeCount: Int { handle.map { Int(sqlite3_changes64($0)) } ?? 0 }

  /// The row number of the last insertion into a table that has row numbers.
  package var lastInsertedRow: Int64 { handle.map { sqlite3_last_insert_rowid($0) } ?? 0 }

  /// Whether the file may not be written, or its connection refuses changes; `false` when closed.
  package var isReadOnly: Bool {
    refusesChanges || handle.map { sqlite3_db_readonly($0, "main") == 1 } ?? false
  }

  /// Whether changes are refused; see ``readAlone()``.
  private var refusesChanges = false

  /// Refuses changes, and needs no file beside the database for reading; other connections wait.
  ///
  /// Call it before the first statement. It makes a file with a write-ahead log readable on a full
  /// disk, where its index of shared memory can't be created.
  package func readAlone() throws(SQLiteError) {
    try execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA query_only = ON")
    refusesChanges = true
  }

  /// Whether the file was moved, replaced or deleted since it was opened; `false` when closed.
  package var hasMoved: Bool {
    guard let handle else { return false }
    var hasMoved: CInt = 0
    // A file system that does not know leaves the number unchanged.
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
    return hasMoved != 0
  }

  /// Whether a transaction is open.
  package var isInTransaction: Bool { handle != nil && sqlite3_get_autocommit(handle) == 0 }

  /// Runs one or more statements without parameters and ignores their rows.
  package func execute(_ sql: String) throws(SQLiteError) {
    let result = sqlite3_exec(try opened(), sql, nil, nil, nil)
    if result != SQLITE_OK { throw Connection.error(handle, result, sql: sql) }
  }

  /// The statement for `sql`, prepared at its first use and cached until the connection closes.
  package func statement(_ sql: String) throws(SQLiteError) -> Statement {
    if let statement = statements[sql] { return statement }
    let statement = try Statement(sql, in: try opened())
    statements[sql] = statement
    return statement
  }

  func check(_ result: Int32) throws(SQLiteError) {
    if result != SQLITE_OK { throw Connection.error(handle, result, sql: nil) }
  }

  private func opened() throws(SQLiteError) -> OpaquePointer {
    guard let handle else { throw SQLiteError(.misuse, "the connection to \(path) is closed") }
    return handle
  }

  private func finalizeStatements() {
    for statement in statements.values { statement.finalize() }
    statements = [:]
  }

  static func error(_ handle: OpaquePointer?, _ result: Int32, sql: String?) -> SQLiteError {
    // The handle's message describes its latest call; without a handle there is only the code.
    let text = handle.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(result)
    let extended = handle.map { sqlite3_extended_errcode($0) } ?? result
    return SQLiteError(
      SQLiteError.Code(rawValue: extended & 0xff == result & 0xff ? extended : result),
      text.map { String(cString: $0) } ?? "unknown error", sql: sql)
  }
}
