import SQLite

/// Records are found by their names through `RecordNumbers`, which is read from the file once.
///
/// An index of names in the file would be written all over by each request, as names come in no
/// order. What other processes add has higher numbers than all before, also than those that
/// are gone, so that only that is read when the file was changed by another connection.
extension SQLiteStorage {
  /// The rows that may hold a record, each to be asked for its name.
  func candidates(zone: Int64, name: String) throws -> [Int64] {
    try learnNumbers()
    return numbers?.candidates(RecordNumbers.Hash(zone: zone, name: name)) ?? []
  }

  /// Notes the row that was inserted last.
  func learnInserted(zone: Int64, name: String) {
    changesNumbers = true
    numbers?.add(connection.lastInsertedRow, RecordNumbers.Hash(zone: zone, name: name))
  }

  /// Runs a statement that deletes records.
  func deleteRecords(_ sql: String, _ values: [SQLValue]) throws {
    changesNumbers = true
    try connection.run(sql, values)
    numbers?.noteGone(connection.changeCount)
    // Half of them for nothing: those that are left are read anew when they are needed.
    if let numbers, numbers.goneCount > numbers.count / 2 { self.numbers = nil }
  }

  /// Forgets where records stand when what the transaction changed of it is undone.
  func forgetUndone() {
    if changesNumbers { numbers = nil }
  }

  private func learnNumbers() throws {
    // Nobody else can change the file within a transaction.
    if knowsNumbers, numbers != nil { return }
    let version = try dataVersion()
    if numbers == nil || version != numbersVersion { try readNumbers() }
    numbersVersion = version
    knowsNumbers = connection.isInTransaction
  }

  /// Reads the rows behind the last known one.
  private func readNumbers() throws {
    var known = numbers.take() ?? RecordNumbers()
    // Without a bound, all columns are had from the index by change, which is much smaller.
    let isFirst = known.last == 0
    if isFirst {
      known.reserve(
        Int(try connection.first("SELECT count(*) FROM records") { try $0.integer(0) } ?? 0))
    }
    _ = try connection.rows(
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
