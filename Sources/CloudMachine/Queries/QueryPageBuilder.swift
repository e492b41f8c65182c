import CloudProtocol
import Records

/// Selects one page of query results from records that are offered in any order.
///
/// Keeps at most a page and one record in memory.
struct QueryPageBuilder {
  private struct Candidate {
    var position: QueryPosition
    var record: Record
    /// The size of the record, or of its sort keys if they are larger.
    var byteCount: Int
  }

  let query: PreparedQuery
  let start: QueryPosition?
  let limit: Int
  let fields: SelectedFields
  /// A page ends after the record that reaches this many bytes.
  let pageBytes: Int
  /// The first records after `start`, in order; one more than the page indicates further pages.
  private var best: [Candidate] = []
  private var bytes = 0
  /// The records in `best`, because a record that changes during a query may be offered twice.
  private var ids: Set<RecordID> = []

  init(
    _ query: PreparedQuery, after start: QueryPosition?, limit: Int, fields: SelectedFields,
    pageBytes: Int
  ) {
    self.query = query
    self.start = start
    self.limit = limit
    self.fields = fields
    self.pageBytes = pageBytes
  }

  /// The position of the last of the first records.
  var last: QueryPosition? { best.last?.position }

  /// Whether records later in the sort order cannot change the page.
  var isFull: Bool { isFull(best.count, bytes, last: best.last) }

  /// Whether the first `count` records, with `bytes`, are a page and the record behind it.
  private func isFull(_ count: Int, _ bytes: Int, last: Candidate?) -> Bool {
    count > limit || (count > 1 && bytes - (last?.byteCount ?? 0) >= pageBytes)
  }

  /// Offers a record to the page.
  mutating func offer(_ record: Record) {
    guard query.matches(record) else { return }
    let position = query.position(of: record)
    if let start, !query.isBefore(start, position) { return }
    if isFull, let last = best.last, !query.isBefore(position, last.position) { return }
    guard ids.insert(record.id).inserted else { return }
    // Records are often offered in order.
    let isLast = best.last.map { query.isBefore($0.position, position) } ?? true
    let place =
      isLast ? best.count : best.partitioningIndex { !query.isBefore($0.position, position) }
    var record = record
    record.fields = fields.applied(to: record.fields)
    let byteCount = max(
      record.byteCount, position.keys.reduce(0) { $0 + ($1?.byteCount ?? 0) })
    bytes += byteCount
    best.insert(Candidate(position: position, record: record, byteCount: byteCount), at: place)
    while let last = best.last,
      isFull(best.count - 1, bytes - last.byteCount, last: best.dropLast().last)
    {
      best.removeLast()
      bytes -= last.byteCount
      ids.remove(last.record.id)
    }
  }

  /// The page, which ends after `limit` records or the record that reaches `pageBytes`.
  func page(binding: [UInt8]) -> QueryPage {
    var records: [Record] = []
    var bytes = 0
    for (index, candidate) in best.enumerated() {
      guard index == 0 || (index < limit && bytes < pageBytes) else {
        return QueryPage(
          records: records, cursor: best[index - 1].position.cursor(of: binding))
      }
      records.append(candidate.record)
      bytes += candidate.byteCount
    }
    return QueryPage(records: records, cursor: nil)
  }
}
