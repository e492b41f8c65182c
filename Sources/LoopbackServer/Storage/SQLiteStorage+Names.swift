import SQLite

/// Finds records by name through `RecordNumbers`, which is read from the file once.
///
/// Each request would write to pages all over an index of names in the file, because names are in
/// random order. Rows of other processes get higher numbers than all earlier rows, including
/// deleted ones, so only new rows are read when another connection changed the file.
extension SQLiteStorage {
  /// The candidate rows of a record; compare the name of each.
  func candidates(zone: Int64, name: String) throws -> [Int64] {
    try learnNumbers()
    return numbers?.candidates(RecordNumbers.Hash(zone: zone, name: name)) ?? []
  }

  /// Adds the row that was inserted last to the index.
  func learnInserted(zone: Int64, name: String) {
    changesNumbers = true
    numbers?.add(connection.lastInsertedRow, RecordNumbers.Hash(zone: zone, name: name))
  }

  /// Runs a statement that deletes records.
  func deleteRecords(_ sql: String, _ values: [SQLValue]) throws {
    changesNumbers = true
    try connection.run(sql, values)
    numbers?.noteGone(connection.changeCount)
    // More than half of the entries are stale: discard the index, to be read again when needed.
    if let numbers, numbers.goneCount > numbers.count / 2 { self.numbers = nil }
  }

  /// Discards what the rolled-back transaction changed.
  func forgetUndone(_ error: any Error) {
    if changesNumbers { numbers = nil }
    forgetUndoneIndexes(error)
  }

  private func learnNumbers() throws {
    // No other connection can change the file during a transaction.
    if knowsNumbers, numbers != nil { return }
    let version = try dataVersion()
    if numbers == nil || version != numbersVersion { try readNumbers() }
    numbersVersion = version
    knowsNumbers = connection.isInTransaction
  }

  /// Reads the rows after the last known one.
  private func readNumbers() throws {
    var known = numbers.take() ?? RecordNumbers()
    // Without a lower bound, SQLite reads all columns from the change index, which is much smaller.
    let isFirst = known.last == 0
    if isFirst {
      known.reserve(
        Int(try first("SELECT count(*) FROM records") { try $0.integer(0) } ?? 0))
    }
    _ = try rows(
      "SELECT number, zone, name FROM records" + (isFirst ? "" : " WHERE number > ?"),
      isFirst ? [] : [.integer(known.last)]
    ) { row in
      let zone = try row.integer(1)
      known.add(
        try row.integer(0), try row.withText(2) { RecordNumbers.Hash(zone: zone, bytes: $0) })
    }
    numbers = known
  }
}
