package import CloudProtocol
import Records

/// A query while it is answered: it reads the records it looks through in slices, so that whoever
/// runs it can do other work in between.
///
/// Call `read(from:)` and `examine()` in turn until `result` is there. Only `read(from:)` needs the
/// storage; each call may be a transaction of its own, and may find what was changed since the last
/// one. The scan passes each name once and in order, so a record that does not change is
/// found exactly once, and one that changes is seen as it was or as it is. The asker's access is
/// checked for each slice.
package struct QueryScan: Sendable {
  /// A slice reads on until it has about this many bytes.
  private static let sliceBytes = 64 * 1024
  /// The most records of a slice, for a query without filters.
  private static let sliceRecords = 64
  /// How many filters and sorts double the work for a record.
  private static let termsPerRecord = 16
  /// The most records of the first slice, whose bytes are not known before.
  private static let firstSliceRecords = 16

  /// The answer; `nil` while there is more to read.
  package private(set) var result: Result<CloudReply, CloudError>?
  /// How many records were examined.
  package private(set) var examinedCount = 0

  private let limits: CloudLimits
  private let plantedBugs: PlantedBugs
  private let database: DatabaseID
  private let account: AccountRow?
  private let now: Timestamp
  /// Which storage the query was put to.
  private let identity: UInt64
  /// What a cursor of this query is bound to.
  private let binding: [UInt8]
  /// Whether the query names its one zone.
  private let namesZone: Bool
  /// The request as it came, whose spelling the answer uses.
  private let asked: CloudRequest

  private var builder: QueryPageBuilder
  /// The zones that are not read to their end, in order.
  private var zones: ArraySlice<ZoneID>
  /// The last name read in the first of them.
  private var name: String?
  /// How many records the next slice reads.
  private var step: Int
  /// What was read and not examined.
  private var unexamined: [Record] = []

  /// A scan that has read nothing.
  init(
    _ query: PreparedQuery, after start: QueryPosition?, limit: Int, fields: FieldSelection,
    zones: [ZoneID], namesZone: Bool, binding: [UInt8], asked: CloudRequest,
    _ context: RequestContext
  ) throws {
    limits = context.limits
    plantedBugs = context.plantedBugs
    database = context.database
    account = context.account
    now = context.now
    identity = try context.storage.identity()
    self.binding = binding
    self.namesZone = namesZone
    self.asked = asked
    builder = QueryPageBuilder(query, after: start, limit: limit, fields: fields)
    self.zones = zones[...]
    step = QueryScan.firstSliceRecords
    guard query.isUnsorted else { return }
    step = min(step, limit + 1)
    if let start {
      self.zones = self.zones.drop { $0 < start.id.zone }
      if self.zones.first == start.id.zone { name = start.id.name }
    }
  }

  /// Reads the next slice.
  ///
  /// Throws only what the storage throws; the same slice can be read again then.
  package mutating func read(from storage: any CloudStorage) throws {
    guard result == nil, let zone = zones.first else { return }
    guard try storage.identity() == identity else {
      result = .failure(
        CloudError(
          .serviceUnavailable, "the server's data was replaced while it was queried; ask again",
          retryAfter: 1))
      return
    }
    let context = RequestContext(
      storage: storage, limits: limits, plantedBugs: plantedBugs, database: database,
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

  /// Makes the next slice larger or smaller by what the last one held.
  private mutating func adjustStep(toBytes bytes: Int) {
    let most = max(
      1,
      QueryScan.sliceRecords * QueryScan.termsPerRecord
        / (QueryScan.termsPerRecord + builder.query.termCount))
    let fitting = bytes == 0 ? most : step * QueryScan.sliceBytes / bytes
    step = max(1, min(step * 2, fitting, most))
  }

  /// Looks at what was read; the answer is there when nothing more can change it.
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
    result = .success(Wording(user: account?.user).worded(.queried(page), for: asked))
  }
}
