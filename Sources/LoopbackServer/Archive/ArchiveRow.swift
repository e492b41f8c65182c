import CloudMachine
import CloudProtocol
import Records

/// The content of an archive line between the first and the last.
///
/// The order of the cases is the order of the lines.
enum ArchiveRow {
  case account(AccountRow)
  case recordType(RecordTypeRow)
  case schema(SchemaRow)
  case database(DatabaseRow)
  case zone(ZoneRow, DatabaseID)
  case record(RecordRow, DatabaseID)
  case subscription(Subscription, DatabaseID)
  case file(checksum: String, content: [UInt8])
  case upload(UploadRow)
  /// `place` is the position among the receipts of one user's device, oldest first.
  case receipt(Receipt, place: Int)

  /// The kinds of line by their names in an archive.
  enum Kind: String, CaseIterable {
    case account
    case recordType
    case schema
    case database
    case zone
    case record
    case subscription
    case file
    case upload
    case receipt
  }

  var kind: Kind { position.kind }

  /// The sort position of the line.
  var position: ArchivePosition {
    switch self {
    case .account(let row): ArchivePosition(kind: .account, names: [row.name])
    case .recordType(let row):
      ArchivePosition(
        kind: .recordType, names: [row.id.container, row.id.environment.rawValue, row.id.name])
    case .schema(let row):
      ArchivePosition(kind: .schema, names: [row.container, row.environment.rawValue])
    case .database(let row): ArchivePosition(kind: .database, names: ArchiveRow.names(row.id))
    case .zone(let row, let database):
      ArchivePosition(
        kind: .zone, names: ArchiveRow.names(database) + [row.id.owner, row.id.name])
    case .record(let row, let database):
      ArchivePosition(
        kind: .record,
        names: ArchiveRow.names(database) + [row.id.zone.owner, row.id.zone.name, row.id.name])
    case .subscription(let subscription, let database):
      ArchivePosition(
        kind: .subscription, names: ArchiveRow.names(database) + [subscription.id.rawValue])
    case .file(let checksum, _): ArchivePosition(kind: .file, names: [checksum])
    case .upload(let row): ArchivePosition(kind: .upload, names: [row.receipt])
    case .receipt(let receipt, let place):
      ArchivePosition(
        kind: .receipt, names: [receipt.key.user.rawValue, receipt.key.device], place: place)
    }
  }

  private static func names(_ id: DatabaseID) -> [String] {
    [id.container, id.environment.rawValue, "\(id.scope.rawValue)", id.owner?.rawValue ?? ""]
  }
}

/// The sort position of a line in an archive: by kind, then by names in byte order.
struct ArchivePosition: Comparable {
  var kind: ArchiveRow.Kind
  var names: [String]
  var place = 0

  static func == (first: ArchivePosition, second: ArchivePosition) -> Bool {
    !(first < second) && !(second < first)
  }

  static func < (first: ArchivePosition, second: ArchivePosition) -> Bool {
    if first.kind != second.kind { return first.kind.rank < second.kind.rank }
    for (name, other) in zip(first.names, second.names) {
      if name.utf8.elementsEqual(other.utf8) { continue }
      return name.utf8.lexicographicallyPrecedes(other.utf8)
    }
    return first.place < second.place
  }
}

extension ArchiveRow.Kind {
  var rank: Int { ArchiveRow.Kind.allCases.firstIndex(of: self) ?? 0 }
}
