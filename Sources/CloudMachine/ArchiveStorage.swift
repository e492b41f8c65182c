public import Records

/// The part of ``CloudStorage`` that enumerates everything.
///
/// Only archives use it; client requests never read this much at once. The order of results is
/// unspecified unless stated.
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
}
