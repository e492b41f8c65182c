import CSQLite

/// The current row of a statement, valid only in the closure that receives it.
///
/// Reads are exact: a column of another type is a `mismatch`, never a silent conversion.
package struct Row {
  let handle: OpaquePointer?
  let sql: String

  /// Whether column `index`, from 0, is `NULL`.
  package func isNull(_ index: Int32) -> Bool {
    sqlite3_column_type(handle, index) == SQLITE_NULL
  }

  /// The integer in column `index`, from 0.
  package func integer(_ index: Int32) throws(SQLiteError) -> Int64 {
    try expect(SQLITE_INTEGER, at: index)
    return sqlite3_column_int64(handle, index)
  }

  /// The text in column `index`, from 0; text that is not valid UTF-8 is `corrupt`.
  package func text(_ index: Int32) throws(SQLiteError) -> String {
    guard let text = try withText(index, { String(validating: $0, as: UTF8.self) }) else {
      throw SQLiteError(.corrupt, "column \(index) is not valid UTF-8", sql: sql)
    }
    return text
  }

  /// Calls `body` with the bytes of the text in column `index`, from 0, valid UTF-8 or not.
  package func withText<Value>(
    _ index: Int32, _ body: (UnsafeBufferPointer<UInt8>) -> Value
  ) throws(SQLiteError) -> Value {
    try expect(SQLITE_TEXT, at: index)
    let start = sqlite3_column_text(handle, index)
    let count = Int(sqlite3_column_bytes(handle, index))
    return body(UnsafeBufferPointer(start: start, count: start == nil ? 0 : count))
  }

  /// The bytes in column `index`, from 0.
  package func blob(_ index: Int32) throws(SQLiteError) -> [UInt8] {
    try expect(SQLITE_BLOB, at: index)
    guard let start = sqlite3_column_blob(handle, index) else { return [] }
    let count = Int(sqlite3_column_bytes(handle, index))
    return Array(UnsafeRawBufferPointer(start: start, count: count))
  }

  /// The text in column `index`, or `nil`.
  package func optionalText(_ index: Int32) throws(SQLiteError) -> String? {
    isNull(index) ? nil : try text(index)
  }

  private func expect(_ type: Int32, at index: Int32) throws(SQLiteError) {
    guard sqlite3_column_type(handle, index) == type else {
      throw SQLiteError(.mismatch, "column \(index) holds a value of another type", sql: sql)
    }
  }
}
