public import Records

/// The part of ``CloudStorage`` that enumerates everything.
///
/// Only archives and inspection use it; client requests never read this much at once. The order of
/// results is unspecified unless stated.
public protocol ArchiveStorage: AnyObject {
  /// The databases that may contain data, with or without a row.
  func databaseNames() throws -> [DatabaseID]

  /// The zones of a database that may have a row, records or tombstones.
  func zoneNames(in database: DatabaseID) throws -> [ZoneID]

  /// Calls `body` with every record and tombstone of a zone, in the order of their names' bytes.
  ///
  /// An error thrown by `body` ends the iteration. `body` must not change the storage.
  func forEachRecord(
    of zone: ZoneID, in database: DatabaseID, _ body: (RecordRow) throws -> Void
  ) throws

  /// All record types of all containers.
  func recordTypes() throws -> [RecordTypeRow]

  /// The schemas of all containers.
  func schemas() throws -> [SchemaRow]

  /// The checksums of all stored files.
  func assetChecksums() throws -> [String]

  /// The keys of all receipts; those of the same user and device are oldest first.
  func receiptKeys() throws -> [ReceiptKey]

  /// About how many rows an archive has; `nil` if counting them takes long, which is the default.
  func rowCount() throws -> Int?

  /// The zone's records and tombstones with `changedAt` below `sequence`, newest first, at most
  /// `limit`; rows of one change are in no particular order.
  ///
  /// The default reads all of them.
  func latestRecordChanges(
    of zone: ZoneID, in database: DatabaseID, before sequence: UInt64, limit: Int
  ) throws -> [RecordRow]

  /// The number of the zone's live records, counted up to `limit`.
  ///
  /// The default reads all of them.
  func recordCount(of zone: ZoneID, in database: DatabaseID, upTo limit: Int) throws -> Int
}

extension ArchiveStorage {
  /// Unknown.
  public func rowCount() throws -> Int? { nil }

  /// Reads all records and tombstones of the zone.
  public func latestRecordChanges(
    of zone: ZoneID, in database: DatabaseID, before sequence: UInt64, limit: Int
  ) throws -> [RecordRow] {
    var rows: [RecordRow] = []
    try forEachRecord(of: zone, in: database) { row in
      if row.changedAt < sequence { rows.append(row) }
    }
    return Array(rows.sorted { $0.changedAt > $1.changedAt }.prefix(max(0, limit)))
  }

  /// Reads all records and tombstones of the zone.
  public func recordCount(
    of zone: ZoneID, in database: DatabaseID, upTo limit: Int
  ) throws -> Int {
    var count = 0
    try forEachRecord(of: zone, in: database) { if $0.record != nil { count += 1 } }
    return min(count, limit)
  }
}
