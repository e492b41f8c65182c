import CloudProtocol
import Records

/// The ledgers of all the databases that one request changes, in the order they were opened.
///
/// What happens in a shared zone is written in the owner's database and told in the shared
/// databases of those who see it; most requests have one ledger.
struct Books {
  /// One for each database.
  private(set) var ledgers: [Ledger] = []
  /// Zone rows as this request leaves them, for its later parts to build on.
  private var zones: [ZoneKey: ZoneRow] = [:]
  /// Share records as this request leaves them.
  private var shares: [ShareKey: RecordRow] = [:]

  private struct ZoneKey: Hashable {
    var zone: ZoneID
    var database: DatabaseID
  }

  private struct ShareKey: Hashable {
    var share: RecordID
    var database: DatabaseID
  }

  /// Starts with nothing open.
  init() {}

  /// Starts with one ledger.
  init(_ ledger: Ledger) { ledgers = [ledger] }

  /// The ledger at `position`.
  subscript(position: Int) -> Ledger {
    get { ledgers[position] }
    set { ledgers[position] = newValue }
  }

  /// The position of the ledger of `database`, opened now if need be.
  mutating func open(_ database: DatabaseID, _ context: RequestContext) throws -> Int {
    if let position = ledgers.firstIndex(where: { $0.database.id == database }) { return position }
    let row = try context.storage.database(database) ?? DatabaseRow(id: database, incarnation: 1)
    ledgers.append(Ledger(row, now: context.now))
    return ledgers.count - 1
  }

  /// The row of a zone as it is by now.
  func zone(
    _ zone: ZoneID, in database: DatabaseID, _ context: RequestContext
  ) throws -> ZoneRow? {
    try zones[ZoneKey(zone: zone, database: database)]
      ?? context.storage.zone(zone, in: database)
  }

  /// Notes the new row of a zone in the ledger at `position`.
  mutating func put(_ row: ZoneRow, at position: Int) {
    ledgers[position].put(row)
    zones[ZoneKey(zone: row.id, database: ledgers[position].database.id)] = row
  }

  /// The row of a share as it is by now.
  func share(
    _ id: RecordID, in database: DatabaseID, _ context: RequestContext
  ) throws -> RecordRow? {
    try shares[ShareKey(share: id, database: database)]
      ?? context.storage.record(id, in: database)
  }

  /// Notes the new row of a share in the ledger at `position`.
  mutating func put(share row: RecordRow, at position: Int) {
    ledgers[position].put(row)
    shares[ShareKey(share: row.id, database: ledgers[position].database.id)] = row
  }

  /// Hands everything to `storage` in one piece.
  func commit(to storage: any CloudStorage, receipt: StorageChange? = nil) throws {
    var changes = ledgers.flatMap(\.changes)
    if let receipt { changes.append(receipt) }
    if !changes.isEmpty { try storage.commit(changes) }
  }
}
