import CloudProtocol
import Records

/// Selects one page of query results from records that are offered in any order.
///
/// Keeps at most a page and one record in memory.
struct QueryPageBuilder {
  private struct Candidate {
    var position: QueryPosition
    var record: Record
  }

  let query: PreparedQuery
  let start: QueryPosition?
  let limit: Int
  let fields: FieldSelection
  /// The first records after `start`, in order; one more than the page size indicates further
  /// pages.
  private var best: [Candidate] = []
  private var bytes = 0
  /// The records in `best`, because a record that changes during a query may be offered twice.
  private var ids: Set<RecordID> = []

  init(_ query: PreparedQuery, after start: QueryPosition?, limit: Int, fields: FieldSelection) {
    self.query = query
    self.start = start
    self.limit = limit
    self.fields = fields
  }

  /// The position of the last of the first records.
  var last: QueryPosition? { best.last?.position }

  /// Whether records later in the sort order cannot change the page.
  func isFull(pageBytes: Int) -> Bool {
    guard best.count <= limit else { return true }
    return best.count > 1 && bytes - (best.last?.record.byteCount ?? 0) >= pageBytes
  }

  /// Offers a record to the page.
  mutating func offer(_ record: Record) {
    guard query.matches(record) else { return }
    let position = query.position(of: record)
    if let start, !query.isBefore(start, position) { return }
    if best.count > limit, let last = best.last, !query.isBefore(position, last.position) {
      return
    }
    guard ids.insert(record.id).inserted else { return }
    // Records are often offered in order.
    let isLast = best.last.map { query.isBefore($0.position, position) } ?? true
    let place =
      isLast ? best.count : best.partitioningIndex { !query.isBefore($0.position, position) }
    var record = record
    record.fields = fields.applied(to: record.fields)
    bytes += record.byteCount
    best.insert(Candidate(position: position, record: record), at: place)
    guard best.count > limit + 1 else { return }
    let last = best.removeLast().record
    bytes -= last.byteCount
    ids.remove(last.id)
  }

  /// The page, which ends after `limit` records or the record that reaches `pageBytes`.
  func page(pageBytes: Int, binding: [UInt8]) -> QueryPage {
    var records: [Record] = []
    var bytes = 0
    for (index, candidate) in best.enumerated() {
      guard index == 0 || (index < limit && bytes < pageBytes) else {
        return QueryPage(
          records: records, cursor: best[index - 1].position.cursor(of: binding))
      }
      records.append(candidate.record)
      bytes += candidate.record.byteCount
    }
    return QueryPage(records: records, cursor: nil)
  }
}
