import CSQLite

/// An error of SQLite: the codes, the message and the SQL, without parameter values.
package struct SQLiteError: Error, Hashable, Sendable {
  /// A result code of SQLite; a struct, so that codes of newer libraries are preserved.
  package struct Code: RawRepresentable, Hashable, Sendable {
    /// The number of the code.
    package var rawValue: Int32

    /// Wraps a number.
    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// An error in the SQL, or an error without a specific code.
    package static let error = Code(rawValue: SQLITE_ERROR)
    /// Another connection held a lock for longer than the busy timeout.
    package static let busy = Code(rawValue: SQLITE_BUSY)
    /// A statement of the same connection holds a lock.
    package static let locked = Code(rawValue: SQLITE_LOCKED)
    /// The file or its directory is read-only.
    package static let readOnly = Code(rawValue: SQLITE_READONLY)
    /// A read or write of the system failed.
    package static let inputOutput = Code(rawValue: SQLITE_IOERR)
    /// The index of the write-ahead log could not be enlarged, mostly because the disk is full.
    package static let sharedMemorySize = Code(rawValue: SQLITE_IOERR | 19 << 8)
    /// The file's content is damaged.
    package static let corrupt = Code(rawValue: SQLITE_CORRUPT)
    /// The disk is full.
    package static let full = Code(rawValue: SQLITE_FULL)
    /// The file can't be opened.
    package static let cannotOpen = Code(rawValue: SQLITE_CANTOPEN)
    /// A value has the wrong type.
    package static let mismatch = Code(rawValue: SQLITE_MISMATCH)
    /// The API was misused, for example by using a closed connection.
    package static let misuse = Code(rawValue: SQLITE_MISUSE)
    /// The statement has no parameter or column with this number.
    package static let range = Code(rawValue: SQLITE_RANGE)
    /// The file is not an SQLite database.
    package static let notADatabase = Code(rawValue: SQLITE_NOTADB)

    /// The primary code: the low byte of an extended code.
    package var primary: Code { Code(rawValue: rawValue & 0xff) }
  }

  /// The extended code; its primary code is `extendedCode.primary`.
  package var extendedCode: Code

  /// The message of SQLite.
  package var message: String

  /// The statement that failed, with its parameters as placeholders.
  package var sql: String?

  /// Creates an error.
  package init(_ extendedCode: Code, _ message: String, sql: String? = nil) {
    self.extendedCode = extendedCode
    self.message = message
    self.sql = sql
  }

  /// The primary code.
  package var code: Code { extendedCode.primary }
}

extension SQLiteError: CustomStringConvertible {
  /// The code, the message and the SQL.
  package var description: String {
    "SQLite error \(extendedCode.rawValue): \(message)" + (sql.map { " - in: \($0)" } ?? "")
  }
}

extension SQLiteError.Code {
  /// Whether `error` is an SQLite error with this code or, for a primary code, an extended code of
  /// it.
  package static func ~= (code: SQLiteError.Code, error: any Error) -> Bool {
    guard let error = error as? SQLiteError else { return false }
    return error.extendedCode == code || error.code == code
  }
}
