import CloudProtocol
import Records

/// Writes down what one request changes in one database, numbers and dates it, and hands it to
/// the storage in one piece.
///
/// All changes of a request carry one time, later than that of any request before it, in whole
/// milliseconds; each change has a sequence number of its own.
struct Ledger {
  /// The database's row as it will be.
  private(set) var database: DatabaseRow
  /// The time of this request's changes.
  let time: Timestamp
  /// What changed, by zone, in the order the zones were first touched: what pushes are about.
  private(set) var events: [ZoneEvent] = []

  /// Which records changed, in order: what query subscriptions are about.
  private(set) var recordEvents: [RecordEvent] = []

  private var hasNewRow = false
  private var zones: [StorageChange] = []
  private var others: [StorageChange] = []

  /// Changes of one zone that a subscription may be waiting for.
  struct ZoneEvent: Hashable {
    var zone: ZoneID
    /// The types of the records changed or deleted, each once; empty when only the zone itself
    /// came or went.
    var types: [String]
  }

  /// A record that came, changed or went.
  struct RecordEvent {
    /// As it was; `nil` for a new one.
    var before: Record?
    /// As it is; `nil` for one that is gone.
    var after: Record?
    /// Whether another process changed it, so that `before` is only known to have been there.
    var isForeign = false
  }

  init(_ database: DatabaseRow, now: Timestamp) {
    self.database = database
    time = Ledger.time(now: now, after: database.latest)
  }

  /// Whether nothing was written down.
  var isEmpty: Bool { !hasNewRow && zones.isEmpty && others.isEmpty }

  /// The number of the next change.
  mutating func nextSequence() -> UInt64 {
    database.sequence += 1
    database.latest = time
    return database.sequence
  }

  /// Notes the new row of a zone.
  mutating func put(_ zone: ZoneRow) { zones.append(.putZone(zone, in: database.id)) }

  /// Notes the new row of a record.
  mutating func put(_ row: RecordRow) { others.append(.putRecord(row, in: database.id)) }

  /// Notes any other change.
  mutating func append(_ change: StorageChange) { others.append(change) }

  /// Counts bytes that came or went.
  mutating func count(bytes: Int) { database.byteCount = max(0, database.byteCount + bytes) }

  /// Notes that deletions of zones up to `sequence` are forgotten, so that older tokens expire.
  mutating func trimmed(through sequence: UInt64) {
    database.trimmedThrough = max(database.trimmedThrough, sequence)
    hasNewRow = true
  }

  /// Forgets everything of a zone and keeps only why it went.
  mutating func remove(_ zone: ZoneRow, reason: ZoneDeletionReason) {
    var gone = zone
    gone.deletion = reason
    gone.changedAt = nextSequence()
    gone.trimmedThrough = 0
    gone.byteCount = 0
    gone.sharing = ZoneSharing()
    count(bytes: -zone.byteCount)
    put(gone)
    append(.removeRecords(of: zone.id, in: database.id))
    note(ZoneEvent(zone: zone.id, types: []))
  }

  /// Notes something that pushes may be about.
  mutating func note(_ event: ZoneEvent) { events.append(event) }

  /// Notes what query subscriptions may be about.
  mutating func note(_ event: RecordEvent) { recordEvents.append(event) }

  /// Everything written down, the database's row first.
  var changes: [StorageChange] {
    isEmpty ? [] : [.putDatabase(database)] + zones + others
  }

  /// `now` in whole milliseconds, but at least one after `latest`.
  static func time(now: Timestamp, after latest: Timestamp) -> Timestamp {
    let now = milliseconds(now) ?? Int64.min
    let next = (milliseconds(latest) ?? 0) + 1
    return Timestamp(secondsSinceReferenceDate: Double(max(now, next)) / 1000)
  }

  /// Whole milliseconds, or `nil` for a time that no clock shows.
  private static func milliseconds(_ time: Timestamp) -> Int64? {
    let value = time.secondsSinceReferenceDate * 1000
    guard value.magnitude < 9e15 else { return nil }
    // Not `rounded()`: it needs the C library's mathematics, which nothing here links.
    return Int64(value + (value < 0 ? -0.5 : 0.5))
  }
}
