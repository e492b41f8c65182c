extension Connection {
  /// Runs a statement and ignores its rows.
  package func run(_ sql: String, _ values: [SQLValue] = []) throws(SQLiteError) {
    let statement = try statement(sql)
    defer { statement.reset() }
    try statement.bind(values)
    while try statement.step() {}
  }

  /// Returns the value of `body` for the first row, or `nil` if there is none.
  ///
  /// For reading statements only: a writing statement outside a transaction commits when it is read
  /// to its end, which this method does not do; use `rows` or `run` instead.
  package func first<Value>(
    _ sql: String, _ values: [SQLValue] = [], _ body: (Row) throws -> Value
  ) throws -> Value? {
    let statement = try statement(sql)
    defer { statement.reset() }
    try statement.bind(values)
    return try statement.step() ? try body(statement.row) : nil
  }

  /// Returns the values of `body` for all rows.
  ///
  /// `body` must not run the same statement.
  package func rows<Value>(
    _ sql: String, _ values: [SQLValue] = [], _ body: (Row) throws -> Value
  ) throws -> [Value] {
    let statement = try statement(sql)
    defer { statement.reset() }
    try statement.bind(values)
    var rows: [Value] = []
    while try statement.step() { rows.append(try body(statement.row)) }
    return rows
  }
}
