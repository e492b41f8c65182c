package import CloudProtocol
import Records

/// A running query.
///
/// It reads records in slices, so that the caller can do other work in between.
///
/// The first slice is read when the query is started. Call `examine()` and `read(from:)` in turn
/// until `result` is not `nil`. Only `read(from:)` needs the storage; each call may be a separate
/// transaction and may see changes made since the last one. Access is checked for each slice.
///
/// In each zone the scan reads the records of the type by name, or those that an index of a field
/// names, or the records in the order of an index; see `IndexPlan`. Every record is examined,
/// whatever an index says of it. A record that does not change is found exactly once: its place in
/// the order of names or of the index does not change either. One that changes is seen in its old
/// or new state; if an index has both before and behind the scan, the first one counts.
package struct QueryScan: Sendable {
  /// The approximate size of a slice in bytes.
  private static let sliceBytes = 64 * 1024
  /// The maximum number of records in a slice of a query without filters.
  private static let sliceRecords = 64
  /// The approximate size in bytes of a slice of records that an index names.
  private static let indexedBytes = 256 * 1024
  /// The number of filters and sorts that doubles the work per record.
  private static let termsPerRecord = 16
  /// The maximum number of records in the first slice, whose size is unknown in advance.
  private static let firstSliceRecords = 16

  /// The reply; `nil` while there is more to read.
  package private(set) var result: Result<CloudReply, CloudError>?
  /// The number of examined records.
  package private(set) var examinedCount = 0

  private let limits: CloudLimits
  private let database: DatabaseID
  private let account: AccountRow?
  private let now: Timestamp
  /// The identity of the queried storage.
  private let identity: UInt64
  /// The hash that a cursor of this query is bound to.
  private let binding: [UInt8]
  /// Whether the query names a zone.
  private let namesZone: Bool
  /// The original request, whose spelling the reply uses.
  private let original: CloudRequest

  /// What the query begins with, and begins again with when an index was lost.
  private let beginning: Beginning
  private var builder: QueryPageBuilder
  /// The zones that are not read completely, in order.
  private var zones: ArraySlice<ZoneID>
  /// The last name read in the first of them.
  private var name: String?
  /// How the records of that zone are found; `nil` until it is decided.
  private var source: QuerySource?
  /// The number of records in the next slice.
  private var step: Int
  /// The records that were read but not examined.
  private var unexamined: [Record] = []

  private struct Beginning {
    let builder: QueryPageBuilder
    let zones: ArraySlice<ZoneID>
    let name: String?
    let step: Int
  }

  /// Creates a scan.
  init(
    _ query: PreparedQuery, after start: QueryPosition?, limit: Int, fields: SelectedFields,
    step: Int, zones: [ZoneID], namesZone: Bool, binding: [UInt8], _ call: AdmittedCall
  ) throws {
    let context = call.context
    limits = context.limits
    database = context.database
    account = context.account
    now = context.now
    identity = try context.storage.identity()
    self.binding = binding
    self.namesZone = namesZone
    original = call.original.request
    builder = QueryPageBuilder(
      query, after: start, limit: limit, fields: fields, pageBytes: limits.pageBytes)
    self.zones = zones[...]
    self.step = step
    if query.isUnsorted, let start {
      self.zones = self.zones.drop { $0 < start.id.zone }
      if self.zones.first == start.id.zone { name = start.id.name }
    }
    beginning = Beginning(builder: builder, zones: self.zones, name: name, step: step)
  }

  /// The number of records in the first slice of a query; all of a page if each record is on it.
  static func firstStep(of query: Query, limit: Int) -> Int {
    guard query.sorts.isEmpty else { return firstSliceRecords }
    return query.filters.isEmpty ? limit + 1 : min(firstSliceRecords, limit + 1)
  }

  /// What `read(from:)` is going to read.
  package var plan: ReadPlan {
    var plan = ReadPlan()
    plan.access = .reading
    guard database.scope != .shared, let zone = zones.first else { return plan }
    plan.isComplete = true
    plan.includesIdentity = true
    plan.zones = [database: [zone]]
    plan.typePage = ReadPlan.TypePage(
      type: builder.query.recordType, zone: zone, database: database, after: name, limit: step)
    return plan
  }

  /// Reads the next slice.
  ///
  /// Throws only storage errors; the same slice can be read again then.
  package mutating func read(from storage: any CloudStorage) throws {
    guard result == nil, let zone = zones.first else { return }
    guard try storage.identity() == identity else {
      result = .failure(
        CloudError(
          .serviceUnavailable, "the server's data was replaced during the query; query again",
          retryAfter: 1))
      return
    }
    let context = RequestContext(
      storage: storage, limits: limits, database: database,
      account: account, device: nil, now: now)
    do { try read(context.access(to: zone)) } catch is LostFieldIndexError {
      beginAgain()
    } catch let refusal as Refusal {
      if namesZone { result = .failure(refusal.error) } else { endZone() }
    }
  }

  private mutating func read(_ access: ZoneAccess) throws {
    let storage = access.context.storage
    guard
      try storage.prepareRecords(
        ofType: builder.query.recordType, in: access.zone.id, of: access.home,
        limit: QueryScan.sliceRecords)
    else { return }
    if source == nil {
      guard let decided = try decidedSource(access) else { return }
      source = decided
    }
    let rows: [RecordRow]
    switch (source, storage as? any IndexedStorage) {
    case (.entries(let entries, let index), let storage?):
      rows = try read(entries, index, storage)
    case (.walk(let walk), let storage?): rows = try read(walk, storage)
    default:
      rows = try storage.records(
        ofType: builder.query.recordType, in: access.zone.id, of: access.home, after: name,
        limit: step)
      if let last = rows.last, rows.count == step { name = last.id.name } else { endZone() }
    }
    var bytes = 0
    for row in rows {
      guard let record = row.record else { continue }
      bytes += record.byteCount
      if access.shows(row) { unexamined.append(access.outward(record)) }
    }
    adjustStep(toBytes: bytes)
  }

  /// How the records of the zone are found; `nil` while an index is not complete.
  private mutating func decidedSource(_ access: ZoneAccess) throws -> QuerySource? {
    guard let storage = access.context.storage as? any IndexedStorage else { return .type }
    let type = builder.query.recordType
    let plan = IndexPlan(
      query: builder.query, start: builder.start, zone: access.id, name: name, storage: storage,
      mostEntries: limits.indexEntries
    ) { FieldIndexID(type: type, field: $0.key, zone: access.zone.id, database: access.home) }
    guard let decided = try plan.source(limit: QueryScan.sliceRecords) else { return nil }
    if case .type = decided { return decided }
    // A page, the record that indicates a further page, and the one that ends a walk.
    step = builder.limit + 2
    return decided
  }

  /// Reads the next of `entries`, which were chosen in an earlier transaction.
  private mutating func read(
    _ entries: ArraySlice<IndexEntry>, _ index: FieldIndexID, _ storage: any IndexedStorage
  ) throws -> [RecordRow] {
    let (rows, count) = try storage.records(
      of: entries.prefix(step), in: index, byteCount: QueryScan.indexedBytes, areCurrent: false)
    let rest = entries.dropFirst(count)
    if rest.isEmpty { endZone() } else { source = .entries(rest, index) }
    return rows
  }

  /// Reads the next entries of `walk`.
  private mutating func read(
    _ walk: IndexWalk, _ storage: any IndexedStorage
  ) throws -> [RecordRow] {
    let entries = try storage.entries(
      of: walk.index, in: walk.range, after: walk.last, isDescending: walk.isDescending,
      limit: step)
    let (rows, count) = try storage.records(
      of: entries[...], in: walk.index, byteCount: QueryScan.indexedBytes, areCurrent: true)
    if count == entries.count, count < step {
      endZone()
    } else {
      var walk = walk
      walk.last = entries[count - 1]
      source = .walk(walk)
    }
    return rows
  }

  private mutating func beginAgain() {
    builder = beginning.builder
    zones = beginning.zones
    name = beginning.name
    step = beginning.step
    source = nil
    unexamined = []
  }

  private mutating func endZone() {
    zones = zones.dropFirst()
    name = nil
    source = nil
  }

  /// Adjusts the size of the next slice to the size of the last one.
  private mutating func adjustStep(toBytes bytes: Int) {
    let most = max(
      1,
      QueryScan.sliceRecords * QueryScan.termsPerRecord
        / (QueryScan.termsPerRecord + builder.query.termCount))
    let fitting = bytes == 0 ? most : step * QueryScan.sliceBytes / bytes
    step = max(1, min(step * 2, fitting, most))
  }

  /// Whether the page is full and every entry behind that of `record` is behind the page.
  private func isPast(_ walk: IndexWalk, _ record: Record) -> Bool {
    guard builder.isFull, let last = builder.last,
      let lastValue = last.keys.first
    else { return false }
    let position = builder.query.position(of: record)
    let (key, lastKey) = (IndexKey(position.keys.first ?? nil), IndexKey(lastValue))
    if key == lastKey {
      return position.keys.count == 1 && key.isExact && !builder.query.isBefore(position, last)
    }
    return key.isBefore(lastKey) == walk.isDescending
  }

  /// Examines the records that were read; sets `result` when no further record can change it.
  package mutating func examine() {
    guard result == nil else { return }
    for record in unexamined {
      examinedCount += 1
      builder.offer(record)
      if builder.query.isUnsorted, builder.isFull {
        zones = []
        break
      }
      if case .walk(let walk)? = source, !builder.query.isUnsorted, isPast(walk, record) {
        endZone()
        break
      }
    }
    unexamined = []
    guard zones.isEmpty else { return }
    let page = builder.page(binding: binding)
    result = .success(ReplySpelling(user: account?.user).respelled(.queried(page), for: original))
  }
}
