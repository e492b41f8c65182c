import CloudMachine
import CloudProtocol
import Records
import SQLite

/// Reads indexes of fields; see `ServerFile.layoutOfIndexes`.
extension SQLiteStorage: IndexedStorage {
  func entryCount(of index: FieldIndexID, in ranges: [IndexRange], upTo limit: Int) throws -> Int {
    let row = try completeRow(index)
    var count = 0
    for range in ranges where count < limit {
      count +=
        try first(
          """
          SELECT count(*) FROM (
            SELECT 1 FROM field_values WHERE field = ? AND key >= ? AND key < ? LIMIT ?)
          """,
          [
            .integer(row.id), .blob(range.lower), .blob(range.upper),
            .integer(Int64(limit - count)),
          ]
        ) { Int(clamping: try $0.integer(0)) } ?? 0
    }
    return count
  }

  func entries(
    of index: FieldIndexID, in ranges: [IndexRange], afterName name: String?, limit: Int
  ) throws -> [IndexEntry] {
    let row = try completeRow(index)
    var entries: [IndexEntry] = []
    for range in ranges where entries.count < limit {
      entries += try rows(
        """
        SELECT name, number FROM field_values
        WHERE field = ? AND key >= ? AND key < ? AND name > ? LIMIT ?
        """,
        [
          .integer(row.id), .blob(range.lower), .blob(range.upper), .text(name ?? ""),
          .integer(Int64(limit - entries.count)),
        ]
      ) {
        IndexEntry(key: IndexKey(bytes: []), name: try $0.text(0), row: try $0.integer(1))
      }
    }
    return entries
  }

  func entries(
    of index: FieldIndexID, in range: IndexRange, after place: IndexEntry?, isDescending: Bool,
    limit: Int
  ) throws -> [IndexEntry] {
    let row = try completeRow(index)
    let start = "SELECT key, name, number FROM field_values WHERE field = ? AND "
    let end = isDescending ? " ORDER BY key DESC, name LIMIT ?" : " ORDER BY key, name LIMIT ?"
    func read(_ condition: String, _ values: [SQLValue], _ limit: Int) throws -> [IndexEntry] {
      try rows(
        start + condition + end, [.integer(row.id)] + values + [.integer(Int64(limit))]
      ) {
        IndexEntry(
          key: IndexKey(bytes: try $0.blob(0)), name: try $0.text(1), row: try $0.integer(2))
      }
    }
    var (lower, upper) = (range.lower, range.upper)
    var found: [IndexEntry] = []
    if let place {
      let key = place.key.bytes
      if !key.lexicographicallyPrecedes(lower), key.lexicographicallyPrecedes(upper) {
        found = try read("key = ? AND name > ?", [.blob(key), .text(place.name)], limit)
      }
      // The first bytes after the key are the key and a zero.
      if isDescending {
        if key.lexicographicallyPrecedes(upper) { upper = key }
      } else if lower.lexicographicallyPrecedes(key + [0]) {
        lower = key + [0]
      }
    }
    guard found.count < limit, lower.lexicographicallyPrecedes(upper) else { return found }
    return found
      + (try read("key >= ? AND key < ?", [.blob(lower), .blob(upper)], limit - found.count))
  }

  func records(
    of entries: ArraySlice<IndexEntry>, in index: FieldIndexID, byteCount: Int, areCurrent: Bool
  ) throws -> (rows: [RecordRow], count: Int) {
    guard let zone = try number(of: index.zone, in: index.database) else {
      return ([], entries.count)
    }
    var rows: [RecordRow] = []
    var (count, bytes) = (0, 0)
    for entry in entries where bytes < byteCount {
      count += 1
      let row = try first(
        """
        SELECT name, changed_at, body FROM records
        WHERE number = ? AND zone = ? AND name = ? AND type = ? AND is_live = 1
        """,
        [.integer(entry.row), .integer(zone), .text(entry.name), .text(index.type)]
      ) { try recordRow($0, in: index.zone) }
      if areCurrent {
        guard let record = row?.record, IndexKey(of: index.field, in: record) == entry.key else {
          try removeIndex(index)
          throw LostFieldIndexError()
        }
      }
      guard let row else { continue }
      bytes += row.record?.byteCount ?? 0
      rows.append(row)
    }
    return (rows, count)
  }

  private func completeRow(_ index: FieldIndexID) throws -> FieldIndexRow {
    guard let row = try indexRow(index), row.isComplete else { throw LostFieldIndexError() }
    return row
  }
}
