package import CloudProtocol
import Records

/// A running query.
///
/// It reads records in slices, so that the caller can do other work in between.
///
/// The first slice is read when the query is started. Call `examine()` and `read(from:)` in turn
/// until `result` is not `nil`. Only `read(from:)` needs the storage; each call may be a separate
/// transaction and may see changes made since the last one. The scan visits each name once and in
/// order, so a record that does not change is found exactly once, and one that changes is seen in
/// its old or new state. Access is checked for each slice.
package struct QueryScan: Sendable {
  /// The approximate size of a slice in bytes.
  private static let sliceBytes = 64 * 1024
  /// The maximum number of records in a slice of a query without filters.
  private static let sliceRecords = 64
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

  private var builder: QueryPageBuilder
  /// The zones that are not read completely, in order.
  private var zones: ArraySlice<ZoneID>
  /// The last name read in the first of them.
  private var name: String?
  /// The number of records in the next slice.
  private var step: Int
  /// The records that were read but not examined.
  private var unexamined: [Record] = []

  /// Creates a scan.
  init(
    _ query: PreparedQuery, after start: QueryPosition?, limit: Int, fields: FieldSelection,
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
    builder = QueryPageBuilder(query, after: start, limit: limit, fields: fields)
    self.zones = zones[...]
    self.step = step
    if query.isUnsorted, let start {
      self.zones = self.zones.drop { $0 < start.id.zone }
      if self.zones.first == start.id.zone { name = start.id.name }
    }
  }

  /// The number of records in the first slice of a query; all of a page if each record is on it.
  static func firstStep(of query: Query, limit: Int) -> Int {
    guard query.sorts.isEmpty else { return firstSliceRecords }
    return query.filters.isEmpty ? limit + 1 : min(firstSliceRecords, limit + 1)
  }

  /// What `read(from:)` is going to read.
  package var plan: ReadPlan {
    var plan = ReadPlan()
    plan.isReadOnly = true
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
    switch try context.access(to: zone) {
    case .success(let access): try read(access)
    case .failure(let error) where namesZone: result = .failure(error)
    case .failure: endZone()
    }
  }

  private mutating func read(_ access: ZoneAccess) throws {
    let storage = access.context.storage
    guard
      try storage.prepareRecords(
        ofType: builder.query.recordType, in: access.zone.id, of: access.home,
        limit: QueryScan.sliceRecords)
    else { return }
    let rows = try storage.records(
      ofType: builder.query.recordType, in: access.zone.id, of: access.home, after: name,
      limit: step)
    var bytes = 0
    for row in rows {
      guard let record = row.record else { continue }
      bytes += record.byteCount
      if access.shows(row) { unexamined.append(access.outward(record)) }
    }
    if let last = rows.last, rows.count == step { name = last.id.name } else { endZone() }
    adjustStep(toBytes: bytes)
  }

  private mutating func endZone() {
    zones = zones.dropFirst()
    name = nil
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

  /// Examines the records that were read; sets `result` when no further record can change it.
  package mutating func examine() {
    guard result == nil else { return }
    for record in unexamined {
      examinedCount += 1
      builder.offer(record)
      if builder.query.isUnsorted, builder.isFull(pageBytes: limits.pageBytes) {
        zones = []
        break
      }
    }
    unexamined = []
    guard zones.isEmpty else { return }
    let page = builder.page(pageBytes: limits.pageBytes, binding: binding)
    result = .success(ReplySpelling(user: account?.user).respelled(.queried(page), for: original))
  }
}
