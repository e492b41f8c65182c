import CloudMachine
import CloudProtocol
import Records
import SQLite

/// The cloud's rows in an SQLite file, which several processes may use at once.
///
/// What is remembered from one transaction to the next is prepared statements and where records
/// stand, which is brought up to date when another process changed the file. A commit is on the
/// disk when it returns. Errors are `ServerFileError`.
///
/// Isolation: not thread-safe, as the port allows.
final class SQLiteStorage: CloudStorage {
  let connection: Connection

  /// Row numbers of databases and zones looked up in the running transaction.
  var databaseNumbers: [DatabaseID: Int64] = [:]
  var zoneNumbers: [ZoneKey: Int64] = [:]

  /// Where the records stand; `nil` until one is looked for.
  var numbers: RecordNumbers?
  /// What `dataVersion` said when `numbers` were right.
  var numbersVersion: Int64?
  /// Whether `numbers` are right for the rest of the running transaction.
  var knowsNumbers = false
  /// Whether the running transaction inserted or deleted records.
  var changesNumbers = false

  /// The number of the last row that was checked before the index by type is made.
  var checkedThrough: Int64 = 0

  /// Why the running transaction can't be kept, though its body goes on.
  private var fault: (any Error)?

  /// A zone of one database.
  struct ZoneKey: Hashable {
    var database: DatabaseID
    var zone: ZoneID
  }

  /// Opens the file at `path`, or makes it when there is none; see `open` for its checks.
  ///
  /// - Parameters:
  ///   - identity: the number a new file is given; an existing one keeps its own.
  ///   - secret: the key a new file is given; `nil` for one nobody can guess.
  ///   - busyMilliseconds: how long a request waits for other processes.
  ///   - fileSystem: where the file is; `nil` for the system's files.
  init(
    path: String, identity: UInt64, secret: StorageSecret? = nil,
    busyMilliseconds: Int32 = 10_000, fileSystem: SQLiteFileSystem? = nil
  ) throws(ServerFileError) {
    connection = try ServerFile.open(
      path: path, identity: identity, secret: secret, busyMilliseconds: busyMilliseconds,
      fileSystem: fileSystem)
  }

  /// Closes the file; every later call fails.
  func close() throws(ServerFileError) {
    do { try connection.close() } catch {
      throw ServerFileError(error, path: connection.path)
    }
  }

  /// Runs `body` as one transaction; one within another is part of it.
  ///
  /// There is no point within a transaction to go back to, since SQLite would set every page aside
  /// for it: when an inner one throws, the outer one is undone too, and throws if its body does
  /// not.
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
    do {
      return try translating {
        try connection.transaction {
          let value = try body()
          if let fault { throw fault }
          return value
        }
      }
    } catch {
      forgetUndone()
      throw error
    }
  }

  func commit(_ changes: [StorageChange]) throws {
    try transaction {
      for change in changes { try apply(change) }
    }
  }

  /// A number that differs from what it was when another connection changed the file.
  func dataVersion() throws -> Int64 {
    try translating { try connection.first("PRAGMA data_version") { try $0.integer(0) } ?? 0 }
  }

  /// Runs `body` and turns what SQLite says into what a user of the server can act on.
  func translating<Value>(_ body: () throws -> Value) throws -> Value {
    do { return try body() } catch let error as SQLiteError {
      throw ServerFileError(error, path: connection.path)
    } catch let error as ByteFormatError {
      throw ServerFileError(damaged: error.description, path: connection.path)
    }
  }

  /// Forgets what only holds in one transaction.
  func forget() {
    databaseNumbers.removeAll(keepingCapacity: true)
    zoneNumbers.removeAll(keepingCapacity: true)
    knowsNumbers = false
    changesNumbers = false
  }
}

/// A sequence number as SQLite's signed integers hold it; beyond their range the largest one.
func stored(_ sequence: UInt64) -> Int64 { Int64(clamping: sequence) }

/// A sequence number or count read back; a negative one is damage.
func counted(_ value: Int64) throws(ByteFormatError) -> UInt64 {
  guard let value = UInt64(exactly: value) else {
    throw ByteFormatError(offset: 0, reason: "a number that can't be negative is")
  }
  return value
}
