import CloudMachine
import CloudProtocol
import Records
import SQLite

/// A row of `field_indexes`.
struct FieldIndexRow {
  let id: Int64
  let type: String
  let field: String
  /// The last name that the index contains; `nil` when it contains all.
  var through: String?

  /// Whether the index contains all records.
  var isComplete: Bool { through == nil }

  /// Whether the index contains the record called `name`, if there is one.
  func covers(_ name: String) -> Bool {
    through.map { !$0.utf8.lexicographicallyPrecedes(name.utf8) } ?? true
  }

  /// The key of a record in the index; `nil` if it does not contain the record.
  func key(of record: Record?) -> IndexKey? {
    guard let record, record.type == type, covers(record.id.name) else { return nil }
    return IndexKey(of: field, in: record)
  }
}

/// Makes indexes of fields and keeps them current.
extension SQLiteStorage {
  /// The number of records that are read for an index in one transaction, and their bytes.
  ///
  /// Each transaction waits for the disk.
  private static let (recordsAtOnce, bytesAtOnce) = (512, 512 * 1024)
  /// The maximum number of indexes of a record type in a zone.
  private static let mostIndexes = 64
  /// The number of commits after which an index is made again once the disk was full.
  private static let commitsAfterFull = 256

  /// The indexes by the number of their zone.
  ///
  /// They are read again when another connection changed the file.
  func indexRows() throws -> [Int64: [FieldIndexRow]] {
    if knowsIndexes, let indexes { return indexes }
    let version = try dataVersion()
    if let indexes, version == indexesVersion {
      knowsIndexes = connection.isInTransaction
      return indexes
    }
    var found: [Int64: [FieldIndexRow]] = [:]
    // A file that may not be written may have no tables of indexes.
    let hasIndexes = try connection.isReadOnly ? ServerFile.hasIndexes(connection) : true
    guard hasIndexes else { return found }
    let rows = try rows("SELECT zone, id, type, field, through FROM field_indexes") {
      (
        try $0.integer(0),
        FieldIndexRow(
          id: try $0.integer(1), type: try $0.text(2), field: try $0.text(3),
          through: try $0.optionalText(4))
      )
    }
    for (zone, row) in rows { found[zone, default: []].append(row) }
    indexes = found
    indexesVersion = version
    knowsIndexes = connection.isInTransaction
    return found
  }

  /// The row of an index, if it exists.
  func indexRow(_ index: FieldIndexID) throws -> FieldIndexRow? {
    let indexes = try indexRows()
    guard !indexes.isEmpty, let zone = try number(of: index.zone, in: index.database) else {
      return nil
    }
    return indexes[zone]?.first { $0.type == index.type && $0.field == index.field }
  }

  func prepareIndex(_ index: FieldIndexID, limit: Int) throws -> FieldIndexState {
    if let row = try indexRow(index), row.isComplete { return .ready }
    guard !connection.isReadOnly, !isFull,
      let zone = try number(of: index.zone, in: index.database)
    else { return .unavailable }
    return try transaction {
      if try indexRow(index) == nil {
        guard try mayHaveIndex(ofType: index.type, zone: zone),
          try hasManyRecords(ofType: index.type, zone: zone)
        else { return .unavailable }
        try addIndex(index, zone: zone)
      }
      guard let row = try indexRow(index) else { return .unavailable }
      return try extend(row, zone: zone, limit: limit) ? .ready : .incomplete
    }
  }

  /// Whether a type may have another index: each save of a record changes all of them.
  private func mayHaveIndex(ofType type: String, zone: Int64) throws -> Bool {
    let rows = try indexRows()[zone] ?? []
    return rows.count { $0.type == type } < SQLiteStorage.mostIndexes
  }

  private func hasManyRecords(ofType type: String, zone: Int64) throws -> Bool {
    let count = try first(
      """
      SELECT count(*) FROM (
        SELECT 1 FROM records WHERE zone = ? AND type = ? AND is_live = 1 LIMIT ?)
      """, [.integer(zone), .text(type), .integer(Int64(unindexedRecords + 1))]
    ) { try $0.integer(0) }
    return (count ?? 0) > Int64(unindexedRecords)
  }

  private func addIndex(_ index: FieldIndexID, zone: Int64) throws {
    changesIndexes = true
    // No name is empty, so the empty string sorts before all names.
    try connection.run(
      "INSERT INTO field_indexes (zone, type, field, through) VALUES (?, ?, ?, '')",
      [.integer(zone), .text(index.type), .text(index.field)])
    indexes?[zone, default: []].append(
      FieldIndexRow(
        id: connection.lastInsertedRow, type: index.type, field: index.field, through: ""))
  }

  /// Adds the next records to an index; returns whether it is complete.
  private func extend(_ index: FieldIndexRow, zone: Int64, limit: Int) throws -> Bool {
    changesIndexes = true
    var row = index
    var (count, bytes) = (0, 0)
    while let through = row.through, count < SQLiteStorage.recordsAtOnce,
      bytes < SQLiteStorage.bytesAtOnce
    {
      let found = try rows(
        """
        SELECT name, changed_at, body, number FROM records
        WHERE zone = ? AND type = ? AND is_live = 1 AND name > ? ORDER BY name LIMIT ?
        """,
        [.integer(zone), .text(index.type), .text(through), .integer(Int64(max(1, limit)))]
      ) { (row: try recordRow($0, in: .default), number: try $0.integer(3)) }
      row.through = found.count < max(1, limit) ? nil : found.last?.row.id.name
      for (found, number) in found {
        guard let record = found.record, let key = row.key(of: record) else {
          throw ByteFormatError(offset: 0, reason: "a record does not match its columns")
        }
        try addEntry(row, key, found.id.name, number)
        bytes += record.byteCount
      }
      count += found.count
    }
    try connection.run(
      "UPDATE field_indexes SET through = ? WHERE id = ?", [.text(row.through), .integer(row.id)])
    let place = indexes?[zone]?.firstIndex { $0.id == row.id }
    if let place { indexes?[zone]?[place] = row }
    return row.isComplete
  }

  private func addEntry(
    _ index: FieldIndexRow, _ key: IndexKey, _ name: String, _ number: Int64
  ) throws {
    try connection.run(
      "INSERT OR REPLACE INTO field_values (field, key, name, number) VALUES (?, ?, ?, ?)",
      [.integer(index.id), .blob(key.bytes), .text(name), .integer(number)])
  }

  // MARK: Changes of records

  /// Updates the entries of a record in the indexes of its zone for a change from `old`, in the
  /// row `number`.
  ///
  /// An index without the old entry is removed; the next query that needs it creates it. The key
  /// of a text depends on the canonical forms that the Swift library knows, so another version of
  /// it may not find the entry.
  func updateEntries(
    in indexes: [FieldIndexRow], zone: Int64, from old: Record?, to row: RecordRow, number: Int64
  ) throws {
    for index in indexes {
      let (before, after) = (index.key(of: old), index.key(of: row.record))
      guard before != after else { continue }
      if let before {
        try connection.run(
          "DELETE FROM field_values WHERE field = ? AND key = ? AND name = ?",
          [.integer(index.id), .blob(before.bytes), .text(row.id.name)])
        guard connection.changeCount == 1 else {
          try removeIndex(index, zone: zone)
          continue
        }
      }
      if let after { try addEntry(index, after, row.id.name, number) }
    }
  }

  /// Removes the indexes of a zone that has no records any more.
  func removeIndexes(zone: Int64) throws {
    for row in try indexRows()[zone] ?? [] { try removeIndex(row, zone: zone) }
  }

  /// Removes an index that does not match the records.
  ///
  /// - Throws: a damage if the file can't be written.
  func removeIndex(_ index: FieldIndexID) throws {
    guard !connection.isReadOnly, !isFull else {
      return try translating {
        throw ByteFormatError(offset: 0, reason: "an index of a field does not match a record")
      }
    }
    try transaction {
      guard let row = try indexRow(index), let zone = try number(of: index.zone, in: index.database)
      else { return }
      try removeIndex(row, zone: zone)
    }
  }

  private func removeIndex(_ row: FieldIndexRow, zone: Int64) throws {
    changesIndexes = true
    try connection.run("DELETE FROM field_values WHERE field = ?", [.integer(row.id)])
    try connection.run("DELETE FROM field_indexes WHERE id = ?", [.integer(row.id)])
    indexes?[zone]?.removeAll { $0.id == row.id }
  }

  /// Forgets what the rolled-back transaction changed.
  ///
  /// - Parameter error: the error of the transaction; after a full disk, no index is made for some
  ///   time.
  func forgetUndoneIndexes(_ error: any Error) {
    guard changesIndexes else { return }
    indexes = nil
    if (error as? ServerFileError)?.code == .full {
      commitsUntilIndex = SQLiteStorage.commitsAfterFull
    }
  }
}
