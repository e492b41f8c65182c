import CloudProtocol
import Records

/// The changes of one request in one database, with their sequence numbers and their time.
///
/// All changes of a request have the same time, in whole milliseconds and later than that of every
/// earlier request; each change has its own sequence number.
struct ChangeSet {
  /// The database's row after the changes.
  private(set) var database: DatabaseRow
  /// The position after the latest change of an earlier request.
  let earlier: DatabasePosition
  /// The time of this request's changes.
  let time: Timestamp
  /// The changes by zone, in the order of each zone's first change; the input of zone and database
  /// subscriptions.
  private(set) var events: [ZoneEvent] = []

  /// The changed records, in order; the input of query subscriptions.
  private(set) var recordEvents: [RecordEvent] = []

  private var hasNewRow = false
  private var zones: [StorageChange] = []
  private var others: [StorageChange] = []

  /// The changes of one zone that may trigger a subscription.
  struct ZoneEvent: Hashable {
    var zone: ZoneID
    /// The types of the records changed or deleted, each once; empty if only the zone itself was
    /// created or deleted.
    var types: [String]
    /// Whether records of other types may have changed, too.
    var mayChangeOthers = false
  }

  /// A record that was created, changed or deleted.
  struct RecordEvent {
    /// The record after the change; a deleted one, before it.
    var record: Record
    /// The kind of the change.
    var reason: QueryPush.Reason
    /// Whether another process made the change, so that the content of a deleted record is unknown.
    var isForeign = false
  }

  init(_ database: DatabaseRow, now: Timestamp) {
    self.database = database
    earlier = DatabasePosition(database)
    time = ChangeSet.time(now: now, after: database.latest)
  }

  /// Whether there are no changes.
  var isEmpty: Bool { !hasNewRow && zones.isEmpty && others.isEmpty }

  /// Assigns the sequence number of the next change.
  mutating func nextSequence() -> UInt64 {
    database.sequence += 1
    database.latest = time
    return database.sequence
  }

  /// Adds the new row of a zone.
  mutating func put(_ zone: ZoneRow) { zones.append(.putZone(zone, in: database.id)) }

  /// Adds the new row of a record.
  mutating func put(_ row: RecordRow) { others.append(.putRecord(row, in: database.id)) }

  /// Adds any other change.
  mutating func append(_ change: StorageChange) { others.append(change) }

  /// Adjusts the byte count of the database.
  mutating func count(bytes: Int) { database.byteCount = max(0, database.byteCount + bytes) }

  /// Marks zone deletions up to `sequence` as forgotten, so that older tokens expire.
  mutating func trimmed(through sequence: UInt64) {
    database.trimmedThrough = max(database.trimmedThrough, sequence)
    hasNewRow = true
  }

  /// Deletes a zone with its records, keeping only the reason.
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

  /// Adds an event for zone and database subscriptions.
  mutating func note(_ event: ZoneEvent) { events.append(event) }

  /// Adds an event for query subscriptions.
  mutating func note(_ event: RecordEvent) { recordEvents.append(event) }

  /// All changes, the database's row first.
  var changes: [StorageChange] {
    isEmpty ? [] : [.putDatabase(database)] + zones + others
  }

  /// `now` in whole milliseconds, but at least one after `latest`.
  static func time(now: Timestamp, after latest: Timestamp) -> Timestamp {
    let now = milliseconds(now) ?? Int64.min
    let next = (milliseconds(latest) ?? 0) + 1
    return Timestamp(secondsSinceReferenceDate: Double(max(now, next)) / 1000)
  }

  /// The time in whole milliseconds; `nil` if out of range.
  private static func milliseconds(_ time: Timestamp) -> Int64? {
    let value = time.secondsSinceReferenceDate * 1000
    guard value.magnitude < 9e15 else { return nil }
    // Not `rounded()`, which would link the C math library.
    return Int64(value + (value < 0 ? -0.5 : 0.5))
  }
}
