extension Connection {
  /// Runs a statement whose rows do not matter.
  package func run(_ sql: String, _ values: [SQLValue] = []) throws(SQLiteError) {
    let statement = try statement(sql)
    defer { statement.reset() }
    try statement.bind(values)
    while try statement.step() {}
  }

  /// The first row made a value by `body`, or `nil` when there is none.
  ///
  /// For statements that only read: one that writes outside a transaction commits when it is read
  /// to its end, which this does not wait for; run those with `rows` or `run`.
  package func first<Value>(
    _ sql: String, _ values: [SQLValue] = [], _ body: (Row) throws -> Value
  ) throws -> Value? {
    let statement = try statement(sql)
    defer { statement.reset() }
    try statement.bind(values)
    return try statement.step() ? try body(statement.row) : nil
  }

  /// All rows, each made a value by `body`.
  ///
  /// `body` must not run the same statement again.
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
