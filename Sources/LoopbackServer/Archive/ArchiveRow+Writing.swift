import CloudMachine
import CloudProtocol
import Records
import WebServices

extension ArchiveRow {
  /// The line as JSON.
  var json: JSON {
    let kind = JSON.members(["kind": .string(self.kind.rawValue)])
    switch self {
    case .account(let row): return kind.adding(ArchiveRow.json(row))
    case .recordType(let row): return kind.adding(ArchiveRow.json(row))
    case .schema(let row):
      return kind.adding(
        .members([
          "container": .string(row.container), "environment": .string(row.environment.rawValue),
          "closed": .bool(row.isClosed),
        ]))
    case .database(let row):
      return kind.adding(ArchiveRow.name(row.id)).adding(ArchiveRow.json(row))
    case .zone(let row, let database):
      return kind.adding(ArchiveRow.name(database)).adding(ArchiveRow.json(row))
    case .record(let row, let database):
      return kind.adding(ArchiveRow.name(database)).adding(ArchiveRow.json(row))
    case .subscription(let subscription, let database):
      return kind.adding(ArchiveRow.name(database))
        .adding(.members(["name": .string(subscription.id.rawValue)]))
        .adding(JSON.content(of: subscription))
    case .file(let checksum, let content):
      return kind.adding(
        .members([
          "sha256": .string(checksum), "size": .integer(content.count), "content": .bytes(content),
        ]))
    case .upload(let row): return kind.adding(ArchiveRow.json(row))
    case .receipt(let receipt, let place):
      var answer = ByteWriter(capacity: 512)
      answer.write(receipt.reply)
      return kind.adding(
        .members([
          "user": .string(receipt.key.user.rawValue), "device": .string(receipt.key.device),
          "place": .integer(place), "request": .string(receipt.key.requestID),
          "answer": .bytes(answer.bytes), "digest": receipt.digest.map { .bytes($0) },
        ]))
    }
  }

  private static func name(_ id: DatabaseID) -> JSON {
    .members([
      "container": .string(id.container), "environment": .string(id.environment.rawValue),
      "scope": .word(id.scope), "owner": id.owner.map { .string($0.rawValue) },
    ])
  }

  private static func json(_ row: AccountRow) -> JSON {
    .members([
      "name": .string(row.name), "user": .string(row.user.rawValue),
      "quota": row.quota.map { .integer($0) }, "email": row.person.email.map { .string($0) },
      "phone": row.person.phone.map { .string($0) },
      "givenName": row.person.givenName.map { .string($0) },
      "familyName": row.person.familyName.map { .string($0) },
    ])
  }

  private static func json(_ row: RecordTypeRow) -> JSON {
    .members([
      "container": .string(row.id.container), "environment": .string(row.id.environment.rawValue),
      "name": .string(row.id.name),
      "fields": .object(
        JSON.Members(
          row.fields.map { field in
            JSON.Members.Element(
              name: field.key,
              value: .members([
                "type": field.shape.map { .word($0.kind) },
                "of": field.shape?.element.map { .word($0) },
                "encrypted": field.shape?.isEncrypted == true ? .bool(true) : nil,
                "indexes": field.indexes == .all ? nil : indexes(field.indexes),
              ]))
          })),
    ])
  }

  /// The enabled indexes of a field.
  private static func indexes(_ indexes: FieldIndexes) -> JSON {
    .texts(indexNames.filter { indexes.contains($0.index) }.map(\.name))
  }

  /// The indexes by their names in an archive.
  static let indexNames: [(name: String, index: FieldIndexes)] = [
    ("queryable", .queryable), ("sortable", .sortable), ("searchable", .searchable),
  ]

  private static func json(_ row: DatabaseRow) -> JSON {
    .members([
      "incarnation": .integer(row.incarnation), "sequence": .integer(row.sequence),
      "latest": .time(row.latest), "trimmedThrough": .integer(row.trimmedThrough),
      "byteCount": .integer(row.byteCount),
    ])
  }

  private static func json(_ row: ZoneRow) -> JSON {
    let sharing = row.sharing
    return JSON.name(row.id).adding(
      .members([
        "deleted": row.deletion.map { .word($0) }, "incarnation": .integer(row.incarnation),
        "changedAt": .integer(row.changedAt), "trimmedThrough": .integer(row.trimmedThrough),
        "byteCount": .integer(row.byteCount),
        "sharedHierarchies": sharing.hierarchies == 0 ? nil : .integer(sharing.hierarchies),
        "isSharedWhole": sharing.isZoneWide ? .bool(true) : nil,
        "visitors": sharing.viewers.isEmpty ? nil : .texts(sharing.viewers.map(\.rawValue)),
        "stays": JSON.memberships(sharing.memberships),
      ]))
  }

  private static func json(_ row: RecordRow) -> JSON {
    JSON.name(row.id).adding(
      .members([
        "type": .string(row.type), "changedAt": .integer(row.changedAt),
        "device": row.device.map { .string($0) }, "stays": JSON.memberships(row.memberships),
        "deleted": row.record == nil ? .bool(true) : nil,
        "record": row.record.map { JSON.content(of: $0) },
      ]))
  }

  private static func json(_ row: UploadRow) -> JSON {
    .members([
      "receipt": .string(row.receipt), "user": .string(row.user.rawValue),
      "container": .string(row.recordType.container),
      "environment": .string(row.recordType.environment.rawValue),
      "recordType": .string(row.recordType.name), "key": .string(row.key),
      "sha256": .string(row.checksum), "size": .integer(row.size), "time": .time(row.time),
    ])
  }
}
