public import Records

extension MemoryStorage {
  /// The databases with or without a row.
  public func databaseNames() throws -> [DatabaseID] { Array(current.databases.keys) }

  /// The zones with or without a row.
  public func zoneNames(in database: DatabaseID) throws -> [ZoneID] {
    current.databases[database].map { Array($0.zones.keys) } ?? []
  }

  /// Every record and tombstone of a zone, by name.
  public func forEachRecord(
    of zone: ZoneID, in database: DatabaseID, _ body: (RecordRow) throws -> Void
  ) throws {
    guard let records = current.databases[database]?.zones[zone]?.records else { return }
    for name in records.names.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
      if let row = records[name] { try body(row) }
    }
  }

  /// All record types.
  public func recordTypes() throws -> [RecordTypeRow] { Array(current.recordTypes.values) }

  /// All schemas.
  public func schemas() throws -> [SchemaRow] { Array(current.schemas.values) }

  /// The rows of a zone changed before `sequence`, newest first.
  public func latestRecordChanges(
    of zone: ZoneID, in database: DatabaseID, before sequence: UInt64, limit: Int
  ) throws -> [RecordRow] {
    current.databases[database]?.zones[zone]?.records
      .latestChanges(before: sequence, limit: limit) ?? []
  }

  /// The number of a zone's live records, counted up to `limit`.
  public func recordCount(
    of zone: ZoneID, in database: DatabaseID, upTo limit: Int
  ) throws -> Int {
    current.databases[database]?.zones[zone]?.records.liveCount(upTo: limit) ?? 0
  }

  /// The checksums of all files.
  public func assetChecksums() throws -> [String] { Array(current.files.contents.keys) }

  /// The keys of all receipts, oldest first for each user.
  public func receiptKeys() throws -> [ReceiptKey] {
    current.receipts.values.flatMap(\.keys)
  }
}
