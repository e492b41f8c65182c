package import Records

/// The part of the port that finds everything again, whatever it is filed under.
///
/// The requests of clients never ask this much at once; it is there to make an archive of a whole
/// cloud. Names come in no particular order unless it is said.
package protocol ArchiveStorage: AnyObject {
  /// The databases that anything may be in, whether they have a row or not.
  func databaseNames() throws -> [DatabaseID]

  /// The zones of a database that may have a row or hold records or tombstones.
  func zoneNames(in database: DatabaseID) throws -> [ZoneID]

  /// Calls `body` with every record and tombstone of a zone, in the order of their names' bytes.
  ///
  /// What `body` throws ends the walk. `body` must change nothing.
  func forEachRecord(
    of zone: ZoneID, in database: DatabaseID, _ body: (RecordRow) throws -> Void
  ) throws

  /// All record types of all containers.
  func recordTypes() throws -> [RecordTypeRow]

  /// What holds for all record types, for all containers.
  func schemas() throws -> [SchemaRow]

  /// The checksums of all files whose content is kept.
  func assetChecksums() throws -> [String]

  /// Which requests have a remembered answer, those of the same user and device oldest first.
  func receiptKeys() throws -> [ReceiptKey]
}
