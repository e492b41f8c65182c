import CloudMachine
import CloudProtocol
import Records
import SQLite

/// Stores the cloud's rows in an SQLite file, which several processes may use at once.
///
/// Only prepared statements and the index of record rows are kept between transactions; the index
/// is updated when another process changed the file. A commit is durable when it returns. Errors
/// are `ServerFileError`.
///
/// Isolation: not thread-safe, as `CloudStorage` allows.
final class SQLiteStorage: CloudStorage {
  let connection: Connection
  /// The connection that reads large files, so that they leave the other one's page cache alone;
  /// `nil` until one is read.
  var fileConnection: Connection?
  private let fileSystem: SQLiteFileSystem?

  /// Row numbers of databases and zones looked up in the running transaction.
  var databaseNumbers: [DatabaseID: Int64] = [:]
  var zoneNumbers: [InDatabase<ZoneID>: Int64] = [:]

  /// The index of record rows; `nil` until it is needed.
  var numbers: RecordNumbers?
  /// The `dataVersion` at which `numbers` was up to date.
  var numbersVersion: Int64?
  /// Whether `numbers` is up to date for the rest of the running transaction.
  var knowsNumbers = false
  /// Whether the running transaction inserted or deleted records.
  var changesNumbers = false

  /// The number of the last row that was checked before the type index is created.
  var checkedThrough: Int64 = 0

  /// The indexes of fields by the number of their zone; `nil` until they are needed.
  var indexes: [Int64: [FieldIndexRow]]?
  /// The `dataVersion` at which `indexes` was up to date.
  var indexesVersion: Int64?
  /// Whether `indexes` is up to date for the rest of the running transaction.
  var knowsIndexes = false
  /// Whether the running transaction made or removed indexes.
  var changesIndexes = false
  /// The number of commits before an index is made again, after the disk was full.
  var commitsUntilIndex = 0
  /// Whether the disk was full when an index was made, so that none is made for some time.
  var isFull: Bool { commitsUntilIndex > 0 }
  /// The number of records of a type up to which a zone gets no index.
  var unindexedRecords = 1_000
  /// When the oldest receipts of users are removed.
  var receiptTurns = ReceiptTurns()

  /// Whether a transaction removed what may have used many pages.
  var mayHaveFreedSpace = false
  /// Whether the running transaction removed everything.
  var wasEmptied = false

  /// The error that forces a rollback of the running transaction even if its body succeeds.
  private var fault: (any Error)?

  /// Opens the file at `path`, or creates it if it does not exist; see `open` for its checks.
  ///
  /// - Parameters:
  ///   - identity: the identity of a new file; an existing file keeps its identity.
  ///   - secret: the secret of a new file; `nil` for a random one.
  ///   - busyMilliseconds: how long a transaction waits for other processes.
  ///   - fileSystem: the file system of the file; `nil` for the system's.
  ///   - mode: the mode of the connection; `nil` to choose it by the permissions of the file.
  init(
    path: String, identity: UInt64, secret: StorageSecret? = nil,
    busyMilliseconds: Int32 = 10_000, fileSystem: SQLiteFileSystem? = nil,
    mode: Connection.Mode? = nil
  ) throws(ServerFileError) {
    self.fileSystem = fileSystem
    connection = try ServerFile.open(
      path: path, identity: identity, secret: secret, busyMilliseconds: busyMilliseconds,
      fileSystem: fileSystem, mode: mode)
  }

  /// Opens another connection to the file of `other`, for reading.
  ///
  /// The file is not opened without SQLite, as for the check of its header: closing that descriptor
  /// would release the locks of the other connection.
  private init(reading other: SQLiteStorage) throws {
    fileSystem = other.fileSystem
    connection = try Connection(
      path: other.connection.path, mode: .readOnly, fileSystem: other.fileSystem)
    try connection.execute("PRAGMA cache_size = \(ServerFile.cacheSize)")
  }

  /// Closes the file; every later call fails.
  func close() throws {
    do {
      try fileConnection?.close()
      try connection.close()
    } catch {
      throw ServerFileError(error, path: connection.path)
    }
  }

  /// The connection on which files are read: the transaction's own, if one is running, or the only
  /// one that a file on a full disk allows.
  func connectionForFiles() throws -> Connection {
    if connection.isInTransaction || connection.isReadOnly { return connection }
    if let fileConnection { return fileConnection }
    let opened = try Connection(
      path: connection.path, mode: .readWrite, fileSystem: fileSystem)
    try opened.execute("PRAGMA cache_size = \(SQLiteStorage.fileCacheSize)")
    fileConnection = opened
    return opened
  }

  /// Runs `body` as one transaction; a nested transaction is part of the outer one.
  ///
  /// There are no savepoints, because SQLite would copy every page for them: if a nested
  /// transaction throws, the outer one is rolled back too, and throws even if its body does not.
  func transaction<Value>(_ body: () throws -> Value) throws -> Value {
    guard !connection.isInTransaction else {
      do { return try translating(body) } catch {
        fault = fault ?? error
        throw error
      }
    }
    fault = nil
    defer {
      forget()
      fault = nil
    }
    // Another process could open a new file at the path, and its log is at the same place.
    guard !connection.hasMoved else { throw ServerFileError.moved(connection.path) }
    do {
      let value = try translating {
        try connection.transaction {
          let value = try body()
          if let fault { throw fault }
          return value
        }
      }
      if wasEmptied { giveBackAllSpace() } else if mayHaveFreedSpace { giveBackSpace() }
      return value
    } catch {
      wasEmptied = false
      forgetUndone(error)
      throw error
    }
  }

  /// Gives unused pages back to the disk, a limited number at a time; the next transaction goes on.
  ///
  /// An error changes nothing: unused pages are used again.
  private func giveBackSpace() {
    let (kept, most) = (SQLiteStorage.keptFreePages, SQLiteStorage.freedPages)
    guard let free = try? freePages(), free > kept else {
      mayHaveFreedSpace = false
      return
    }
    let sql = "PRAGMA incremental_vacuum(\(min(free - kept / 2, most)))"
    guard (try? connection.execute(sql)) != nil, let left = try? freePages() else { return }
    guard left < free else {
      // A file of an older version keeps them until it is emptied.
      mayHaveFreedSpace = false
      return
    }
    // The file gets shorter when the log is written into it.
    try? connection.foldLog()
  }

  private func freePages() throws -> Int64 {
    try first("PRAGMA freelist_count") { try $0.integer(0) } ?? 0
  }

  /// Gives all unused pages of a file that was emptied back to the disk.
  private func giveBackAllSpace() {
    wasEmptied = false
    let isOlder = try? first("PRAGMA auto_vacuum") { try $0.integer(0) } == 0
    // A file of an older version must be rewritten once.
    let sql =
      isOlder == true ? "PRAGMA auto_vacuum = INCREMENTAL; VACUUM" : "PRAGMA incremental_vacuum"
    try? connection.execute(sql)
    try? connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  /// The number of unused pages that are not worth giving back, and the maximum at a time: 4 MiB
  /// and 32 MiB.
  private static let (keptFreePages, freedPages): (Int64, Int64) = (1024, 8192)

  func commit(_ changes: [StorageChange]) throws {
    try transaction {
      for change in changes { try apply(change) }
    }
    commitsUntilIndex = max(0, commitsUntilIndex - 1)
  }

  /// A number that changes when another connection changes the file.
  func dataVersion() throws -> Int64? {
    try first("PRAGMA data_version") { try $0.integer(0) } ?? 0
  }

  /// The result of `body` for the first row of a statement; `nil` if there is none.
  func first<Value>(
    _ sql: String, _ values: [SQLValue] = [], _ body: (Row) throws -> Value
  ) throws -> Value? {
    try translating { try connection.first(sql, values, body) }
  }

  /// The results of `body` for all rows of a statement.
  func rows<Value>(
    _ sql: String, _ values: [SQLValue] = [], _ body: (Row) throws -> Value
  ) throws -> [Value] {
    try translating { try connection.rows(sql, values, body) }
  }

  /// Runs `body` and converts SQLite errors to `ServerFileError`.
  func translating<Value>(_ body: () throws -> Value) throws -> Value {
    do { return try body() } catch let error as SQLiteError {
      throw ServerFileError(error, path: connection.path)
    } catch let error as ByteFormatError {
      throw ServerFileError(damaged: error.description, path: connection.path)
    }
  }

  /// Resets the state of the running transaction.
  func forget() {
    databaseNumbers.removeAll(keepingCapacity: true)
    zoneNumbers.removeAll(keepingCapacity: true)
    knowsNumbers = false
    changesNumbers = false
    knowsIndexes = false
    changesIndexes = false
  }
}

extension SQLiteStorage: SnapshotStorage {
  /// The snapshot is taken by the first statement that is run on the result.
  func snapshotForReading() throws -> (any CloudStorage)? {
    // A file on a full disk is locked by its connection, so a second one can't read it.
    guard !connection.isReadOnly else { return nil }
    guard !connection.hasMoved else { throw ServerFileError.moved(connection.path) }
    return try translating { try SQLiteStorage(reading: self) }
  }
}

/// A sequence number as a signed SQLite integer, clamped to its range.
func stored(_ sequence: UInt64) -> Int64 { Int64(clamping: sequence) }

/// A sequence number or count from the file; a negative one is corruption.
func counted(_ value: Int64) throws(ByteFormatError) -> UInt64 {
  guard let value = UInt64(exactly: value) else {
    throw ByteFormatError(offset: 0, reason: "a number is negative")
  }
  return value
}
