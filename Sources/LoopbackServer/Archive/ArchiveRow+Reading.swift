import CloudMachine
import CloudProtocol
import Records
import WebServices

extension ArchiveRow {
  /// Decodes a line; all of its members must be known.
  init(_ json: JSON) throws {
    self = try ArchiveObject.read(json, "the line") { line in
      guard let kind = Kind(rawValue: try line.text("kind")) else {
        throw ArchiveError("'kind' has an unknown value")
      }
      switch kind {
      case .account: return .account(try line.account())
      case .recordType: return .recordType(try line.recordType())
      case .schema:
        return .schema(
          SchemaRow(
            container: try line.text("container"), environment: try line.environment(),
            isClosed: try line.flag("closed")))
      case .database: return .database(try line.database())
      case .zone:
        let database = try line.databaseID()
        return .zone(try line.zone(), database)
      case .record:
        let database = try line.databaseID()
        return .record(try line.record(), database)
      case .subscription:
        let database = try line.databaseID()
        let id = SubscriptionID(try line.text("name"))
        return .subscription(try line.content(of: id), database)
      case .file:
        let content = try line.bytes("content")
        guard try line.count("size") == content.count else {
          throw ArchiveError("'content' does not have 'size' bytes")
        }
        let (name, checksum) = (try line.text("sha256"), try AssetContent(content).checksum())
        // A storage may have given the file another name than a checksum.
        guard name == checksum || name.utf8.count != checksum.utf8.count else {
          throw ArchiveError("'content' does not have the checksum 'sha256'")
        }
        return .file(checksum: name, content: content)
      case .upload: return .upload(try line.upload())
      case .receipt:
        let place = try line.count("place")
        return .receipt(try line.receipt(), place: place)
      }
    }
  }
}

extension ArchiveObject {
  fileprivate mutating func environment() throws -> CloudEnvironment {
    guard let environment = CloudEnvironment(rawValue: try text("environment")) else {
      throw ArchiveError("'environment' has an unknown value")
    }
    return environment
  }

  fileprivate mutating func databaseID() throws -> DatabaseID {
    DatabaseID(
      container: try text("container"), environment: try environment(),
      scope: try caseNamed("scope", DatabaseScope.self),
      owner: try optionalText("owner").map { UserID($0) })
  }

  fileprivate mutating func account() throws -> AccountRow {
    AccountRow(
      name: try text("name"), user: UserID(try text("user")),
      quota: try json("quota").map { try $0.integer("quota") },
      person: AccountRow.Person(
        email: try optionalText("email"), phone: try optionalText("phone"),
        givenName: try optionalText("givenName"), familyName: try optionalText("familyName")))
  }

  fileprivate mutating func recordType() throws -> RecordTypeRow {
    let id = RecordTypeID(
      container: try text("container"), environment: try environment(), name: try text("name"))
    guard !id.name.isEmpty else { throw ArchiveError("a record type has no name") }
    let fields = try object("fields") { fields in
      try fields.rest().map { member in
        try ArchiveObject.read(member.value, "a field") { field in
          let kind = try field.optionalCase("type", FieldValue.Kind.self)
          let element = try field.optionalCase("of", FieldValue.Kind.self)
          let isEncrypted = try field.flag("encrypted")
          return FieldRow(
            key: member.name,
            shape: kind.map { FieldShape(kind: $0, element: element, isEncrypted: isEncrypted) },
            indexes: field.has("indexes") ? try field.indexes() : .all)
        }
      }
    }
    let row = RecordTypeRow(id: id, fields: fields)
    guard row.fields.count == fields.count else { throw ArchiveError("two fields have one name") }
    return row
  }

  private mutating func indexes() throws -> FieldIndexes {
    var indexes: FieldIndexes = []
    for name in try texts("indexes") {
      guard let index = ArchiveRow.indexNames.first(where: { $0.name == name })?.index else {
        throw ArchiveError("'indexes' has an unknown value")
      }
      indexes.insert(index)
    }
    return indexes
  }

  fileprivate mutating func database() throws -> DatabaseRow {
    DatabaseRow(
      id: try databaseID(), incarnation: try sequence("incarnation"),
      sequence: try sequence("sequence"), latest: try time("latest"),
      trimmedThrough: try sequence("trimmedThrough"), byteCount: try count("byteCount"))
  }

  fileprivate mutating func zone() throws -> ZoneRow {
    ZoneRow(
      id: try zoneID(), deletion: try optionalCase("deleted", ZoneDeletionReason.self),
      incarnation: try sequence("incarnation"), changedAt: try sequence("changedAt"),
      trimmedThrough: try sequence("trimmedThrough"), byteCount: try count("byteCount"),
      sharing: ZoneSharing(
        hierarchies: try optionalCount("sharedHierarchies"), isZoneWide: try flag("isSharedWhole"),
        viewers: try texts("visitors").map { UserID($0) }, memberships: try memberships()))
  }

  fileprivate mutating func record() throws -> RecordRow {
    let id = try recordID()
    let type = try text("type")
    let record = try optionalObject("record") { try $0.content(of: id, type: type) }
    guard try flag("deleted") == (record == nil) else {
      throw ArchiveError("a record is neither live nor deleted, or both")
    }
    return RecordRow(
      id: id, type: type, record: record, changedAt: try sequence("changedAt"),
      device: try optionalText("device"), memberships: try memberships())
  }

  fileprivate mutating func upload() throws -> UploadRow {
    UploadRow(
      receipt: try text("receipt"), user: UserID(try text("user")),
      recordType: RecordTypeID(
        container: try text("container"), environment: try environment(),
        name: try text("recordType")), key: try text("key"), checksum: try text("sha256"),
      size: try count("size"), time: try time("time"))
  }

  fileprivate mutating func receipt() throws -> Receipt {
    let key = ReceiptKey(
      user: UserID(try text("user")), device: try text("device"), requestID: try text("request"))
    var answer = ByteReader(try bytes("answer"))
    do {
      var receipt = Receipt(key: key, reply: try answer.reply())
      try answer.finish()
      if has("digest") { receipt.digest = try bytes("digest") }
      return receipt
    } catch {
      throw ArchiveError("'answer' can't be read")
    }
  }
}
