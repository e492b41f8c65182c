import CloudMachine
import CloudProtocol
import Records

extension ArchiveRow {
  /// The line as JSON.
  var json: ArchiveJSON {
    let kind = ArchiveJSON.object(["kind": .text(self.kind.rawValue)])
    switch self {
    case .account(let row): return kind.adding(ArchiveRow.json(row))
    case .recordType(let row): return kind.adding(ArchiveRow.json(row))
    case .schema(let row):
      return kind.adding(
        .object([
          "container": .text(row.container), "environment": .text(row.environment.rawValue),
          "closed": .flag(row.isClosed),
        ]))
    case .database(let row):
      return kind.adding(ArchiveRow.name(row.id)).adding(ArchiveRow.json(row))
    case .zone(let row, let database):
      return kind.adding(ArchiveRow.name(database)).adding(ArchiveRow.json(row))
    case .record(let row, let database):
      return kind.adding(ArchiveRow.name(database)).adding(ArchiveRow.json(row))
    case .subscription(let subscription, let database):
      return kind.adding(ArchiveRow.name(database))
        .adding(.object(["name": .text(subscription.id.rawValue)]))
        .adding(ArchiveJSON.content(of: subscription))
    case .file(let checksum, let content):
      return kind.adding(
        .object([
          "sha256": .text(checksum), "size": .integer(content.count), "content": .bytes(content),
        ]))
    case .upload(let row): return kind.adding(ArchiveRow.json(row))
    case .receipt(let receipt, let place):
      var answer = ByteWriter(capacity: 512)
      answer.write(receipt.reply)
      return kind.adding(
        .object([
          "user": .text(receipt.key.user.rawValue), "device": .text(receipt.key.device),
          "place": .integer(place), "request": .text(receipt.key.requestID),
          "answer": .bytes(answer.bytes),
        ]))
    }
  }

  private static func name(_ id: DatabaseID) -> ArchiveJSON {
    .object([
      "container": .text(id.container), "environment": .text(id.environment.rawValue),
      "scope": .word(id.scope), "owner": id.owner.map { .text($0.rawValue) },
    ])
  }

  private static func json(_ row: AccountRow) -> ArchiveJSON {
    .object([
      "name": .text(row.name), "user": .text(row.user.rawValue),
      "quota": row.quota.map { .integer($0) }, "email": row.person.email.map { .text($0) },
      "phone": row.person.phone.map { .text($0) },
      "givenName": row.person.givenName.map { .text($0) },
      "familyName": row.person.familyName.map { .text($0) },
    ])
  }

  private static func json(_ row: RecordTypeRow) -> ArchiveJSON {
    .object([
      "container": .text(row.id.container), "environment": .text(row.id.environment.rawValue),
      "name": .text(row.id.name),
      "fields": .object(
        row.fields.map { field in
          ArchiveJSON.Member(
            key: field.key,
            value: .object([
              "type": field.shape.map { .word($0.kind) },
              "of": field.shape?.element.map { .word($0) },
              "encrypted": field.shape?.isEncrypted == true ? .flag(true) : nil,
              "indexes": field.indexes == .all ? nil : indexes(field.indexes),
            ]))
        }),
    ])
  }

  /// The indexes that an administrator left.
  private static func indexes(_ indexes: FieldIndexes) -> ArchiveJSON {
    .texts(indexNames.filter { indexes.contains($0.index) }.map(\.name))
  }

  /// The indexes by their names in an archive.
  static let indexNames: [(name: String, index: FieldIndexes)] = [
    ("queryable", .queryable), ("sortable", .sortable), ("searchable", .searchable),
  ]

  private static func json(_ row: DatabaseRow) -> ArchiveJSON {
    .object([
      "incarnation": .integer(row.incarnation), "sequence": .integer(row.sequence),
      "latest": .time(row.latest), "trimmedThrough": .integer(row.trimmedThrough),
      "byteCount": .integer(row.byteCount),
    ])
  }

  private static func json(_ row: ZoneRow) -> ArchiveJSON {
    let sharing = row.sharing
    return ArchiveJSON.name(row.id).adding(
      .object([
        "deleted": row.deletion.map { .word($0) }, "incarnation": .integer(row.incarnation),
        "changedAt": .integer(row.changedAt), "trimmedThrough": .integer(row.trimmedThrough),
        "byteCount": .integer(row.byteCount),
        "sharedHierarchies": sharing.hierarchies == 0 ? nil : .integer(sharing.hierarchies),
        "isSharedWhole": sharing.isZoneWide ? .flag(true) : nil,
        "visitors": sharing.visitors.isEmpty ? nil : .texts(sharing.visitors.map(\.rawValue)),
        "stays": ArchiveJSON.stays(sharing.stays),
      ]))
  }

  private static func json(_ row: RecordRow) -> ArchiveJSON {
    ArchiveJSON.name(row.id).adding(
      .object([
        "type": .text(row.type), "changedAt": .integer(row.changedAt),
        "device": row.device.map { .text($0) }, "stays": ArchiveJSON.stays(row.stays),
        "deleted": row.record == nil ? .flag(true) : nil,
        "record": row.record.map { ArchiveJSON.content(of: $0) },
      ]))
  }

  private static func json(_ row: UploadRow) -> ArchiveJSON {
    .object([
      "receipt": .text(row.receipt), "user": .text(row.user.rawValue),
      "container": .text(row.recordType.container),
      "environment": .text(row.recordType.environment.rawValue),
      "recordType": .text(row.recordType.name), "key": .text(row.key),
      "sha256": .text(row.checksum), "size": .integer(row.size), "time": .time(row.time),
    ])
  }
}
