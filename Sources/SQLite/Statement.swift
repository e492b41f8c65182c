import CSQLite

/// A prepared statement.
///
/// Use: bind all parameters, step through its rows, reset, repeat.
///
/// It has the isolation of its connection. Prefer the connection's `run`, `first` and `rows`, which
/// never leave a statement unfinished.
package final class Statement {
  /// The SQL of the statement.
  package let sql: String

  private var handle: OpaquePointer?

  init(_ sql: String, in database: OpaquePointer) throws(SQLiteError) {
    self.sql = sql
    var tail: UnsafePointer<CChar>?
    var isSingle = true
    let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
    let result = sql.withCString { text in
      let result = sqlite3_prepare_v3(database, text, -1, flags, &handle, &tail)
      isSingle = tail.map { $0.pointee == 0 } ?? true
      return result
    }
    guard result == SQLITE_OK else { throw Connection.error(database, result, sql: sql) }
    guard handle != nil, isSingle else {
      finalize()
      throw SQLiteError(.misuse, "a prepared statement must be exactly one statement", sql: sql)
    }
  }

  deinit { finalize() }

  func finalize() {
    sqlite3_finalize(handle)
    handle = nil
  }

  /// Whether the statement was stepped and neither finished nor reset.
  package var isBusy: Bool { handle.map { sqlite3_stmt_busy($0) != 0 } ?? false }

  /// Binds all parameters in order; their number must match.
  package func bind(_ values: [SQLValue]) throws(SQLiteError) {
    guard let handle else { throw closed }
    guard values.count == Int(sqlite3_bind_parameter_count(handle)) else {
      throw SQLiteError(.range, "the statement takes another number of values", sql: sql)
    }
    for (offset, value) in values.enumerated() {
      let index = Int32(offset + 1)
      let result: Int32 =
        switch value {
        case .null: sqlite3_bind_null(handle, index)
        case .integer(let value): sqlite3_bind_int64(handle, index, value)
        case .text(let value): bindText(value, at: index)
        case .blob(let value):
          if value.isEmpty {
            sqlite3_bind_zeroblob(handle, index, 0)
          } else {
            value.withUnsafeBytes {
              cloudsync_bind_blob(handle, index, $0.baseAddress, UInt64($0.count))
            }
          }
        }
      if result != SQLITE_OK { throw fault(result) }
    }
  }

  private func bindText(_ value: String, at index: Int32) -> Int32 {
    var value = value
    return value.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { text in
        // An empty string may have no address, and no address means NULL to SQLite.
        guard let start = text.baseAddress else {
          return cloudsync_bind_text(handle, index, "", 0)
        }
        return cloudsync_bind_text(handle, index, start, UInt64(text.count))
      }
    }
  }

  /// Steps to the next row; returns `false` if there is none.
  package func step() throws(SQLiteError) -> Bool {
    guard let handle else { throw closed }
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let result: throw fault(result)
    }
  }

  /// Resets the statement and clears its parameters.
  package func reset() {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  /// The current row, valid until the next step or reset.
  package var row: Row { Row(handle: handle, sql: sql) }

  private var closed: SQLiteError {
    SQLiteError(.misuse, "the statement's connection is closed", sql: sql)
  }

  private func fault(_ result: Int32) -> SQLiteError {
    Connection.error(sqlite3_db_handle(handle), result, sql: sql)
  }
}
