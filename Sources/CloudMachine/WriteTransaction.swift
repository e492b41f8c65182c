import CloudProtocol
import Records

/// The change sets of all databases that one request changes, in the order in which they were
/// opened.
///
/// A change in a shared zone is written to the owner's database and recorded in the shared
/// databases of the viewers; most requests have one change set. Open change sets, put rows, then
/// call `commit` once.
struct WriteTransaction {
  /// One change set for each database.
  private(set) var changeSets: [ChangeSet] = []
  /// Changes that belong to no database.
  private var others: [StorageChange] = []
  /// The zone rows after this request's changes, for its later parts.
  private var zones: [InDatabase<ZoneID>: ZoneRow] = [:]
  /// The share records after this request's changes.
  private var shares: [InDatabase<RecordID>: RecordRow] = [:]

  /// The record types that this request's changes extend.
  private(set) var types: [RecordTypeID: RecordTypeRow] = [:]

  /// Creates an empty transaction.
  init() {}

  /// Creates a transaction with one change set.
  init(_ changeSet: ChangeSet) { changeSets = [changeSet] }

  /// Creates a transaction with changes that belong to no database.
  init(_ changes: [StorageChange]) { others = changes }

  /// The change set at `position`.
  subscript(position: Int) -> ChangeSet {
    get { changeSets[position] }
    set { changeSets[position] = newValue }
  }

  /// The position of the change set of `database`, which is opened if necessary.
  mutating func open(_ database: DatabaseID, _ context: RequestContext) throws -> Int {
    if let position = changeSets.firstIndex(where: { $0.database.id == database }) {
      return position
    }
    let row = try context.storage.database(database) ?? DatabaseRow(id: database, incarnation: 1)
    changeSets.append(ChangeSet(row, now: context.now))
    return changeSets.count - 1
  }

  /// The row of a zone including this request's changes.
  func zone(
    _ zone: ZoneID, in database: DatabaseID, _ context: RequestContext
  ) throws -> ZoneRow? {
    try zones[InDatabase(zone, database)] ?? context.storage.zone(zone, in: database)
  }

  /// Adds the new row of a zone to the change set at `position`.
  mutating func put(_ row: ZoneRow, at position: Int) {
    changeSets[position].put(row)
    zones[InDatabase(row.id, changeSets[position].database.id)] = row
  }

  /// The row of a share including this request's changes.
  func share(
    _ id: RecordID, in database: DatabaseID, _ context: RequestContext
  ) throws -> RecordRow? {
    try shares[InDatabase(id, database)] ?? context.storage.record(id, in: database)
  }

  /// Adds the new row of a share to the change set at `position`.
  mutating func put(share row: RecordRow, at position: Int) {
    changeSets[position].put(row)
    shares[InDatabase(row.id, changeSets[position].database.id)] = row
  }

  /// Adds the new row of a record type.
  mutating func put(_ row: RecordTypeRow) { types[row.id] = row }

  /// The databases of the change sets, with their positions before and afterwards.
  var changedDatabases: [ChangedDatabase] {
    changeSets.map {
      ChangedDatabase(
        $0.database.id, after: $0.earlier, through: DatabasePosition($0.database))
    }
  }

  /// Commits all changes to `storage` at once.
  func commit(to storage: any CloudStorage) throws {
    let types = types.values.sorted { $0.id.name < $1.id.name }
    let changes = others + changeSets.flatMap(\.changes) + types.map { .putRecordType($0) }
    if !changes.isEmpty { try storage.commit(changes) }
  }
}
