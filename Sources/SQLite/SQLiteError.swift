import CSQLite

/// Why SQLite did not do something: the codes, its own words and the SQL, without any value.
package struct SQLiteError: Error, Hashable, Sendable {
  /// A result code of SQLite; an open vocabulary, so that a code from a newer library survives.
  package struct Code: RawRepresentable, Hashable, Sendable {
    /// The number SQLite gives it.
    package var rawValue: Int32

    /// Wraps a number SQLite gave.
    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// Any fault in the SQL, and errors without a code of their own.
    package static let error = Code(rawValue: SQLITE_ERROR)
    /// Another connection holds a lock, and did so for longer than the busy timeout.
    package static let busy = Code(rawValue: SQLITE_BUSY)
    /// A statement of the same connection holds a lock.
    package static let locked = Code(rawValue: SQLITE_LOCKED)
    /// The file or its folder may not be written.
    package static let readOnly = Code(rawValue: SQLITE_READONLY)
    /// The system failed to read or write.
    package static let inputOutput = Code(rawValue: SQLITE_IOERR)
    /// The file's content is damaged.
    package static let corrupt = Code(rawValue: SQLITE_CORRUPT)
    /// The disk is full.
    package static let full = Code(rawValue: SQLITE_FULL)
    /// The file cannot be opened.
    package static let cannotOpen = Code(rawValue: SQLITE_CANTOPEN)
    /// A constraint of a table forbids it.
    package static let constraint = Code(rawValue: SQLITE_CONSTRAINT)
    /// A value has the wrong type.
    package static let mismatch = Code(rawValue: SQLITE_MISMATCH)
    /// The wrapper or its user broke a rule, such as using a closed connection.
    package static let misuse = Code(rawValue: SQLITE_MISUSE)
    /// A statement has no parameter or column of that number.
    package static let range = Code(rawValue: SQLITE_RANGE)
    /// The file is no SQLite database.
    package static let notADatabase = Code(rawValue: SQLITE_NOTADB)

    /// The family this code belongs to: the low byte of an extended code.
    package var primary: Code { Code(rawValue: rawValue & 0xff) }
  }

  /// The exact reason; its family is `extendedCode.primary`.
  package var extendedCode: Code

  /// SQLite's own words.
  package var message: String

  /// The statement that failed, with its parameters as placeholders.
  package var sql: String?

  /// Describes a failure.
  package init(_ extendedCode: Code, _ message: String, sql: String? = nil) {
    self.extendedCode = extendedCode
    self.message = message
    self.sql = sql
  }

  /// The family of the reason.
  package var code: Code { extendedCode.primary }
}

extension SQLiteError: CustomStringConvertible {
  /// The code, SQLite's words and the SQL.
  package var description: String {
    "SQLite error \(extendedCode.rawValue): \(message)" + (sql.map { " - in: \($0)" } ?? "")
  }
}

extension SQLiteError.Code {
  /// Whether `error` is an SQLite error of this code or, for a primary code, of this family.
  package static func ~= (code: SQLiteError.Code, error: any Error) -> Bool {
    guard let error = error as? SQLiteError else { return false }
    return error.extendedCode == code || error.code == code
  }
}
