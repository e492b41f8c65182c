package import CloudProtocol
package import Records

/// Records. Rules: WS-14 to WS-31.
extension Notation {
  /// Encodes a record for a response.
  package func json(_ record: Record) -> JSON {
    var members = JSON.Members()
    members.add("recordName", .string(record.id.name))
    members.add("recordType", .string(record.type))
    members.add("fields", json(record.fields, of: record.id))
    members.add("pluginFields", .object(JSON.Members()))
    members.add("recordChangeTag", record.changeTag.map { .string($0.rawValue) })
    members.add("created", record.created.map(json))
    members.add("modified", record.modified.map(json))
    members.add("deleted", .bool(false))
    members.add("zoneID", json(record.id.zone))
    members.add("parent", record.parent.map { json($0, from: record.id.zone) })
    members.add("share", record.share.map { json($0) })
    add(record.sharing, of: record.id.zone, type: record.type, to: &members)
    return .object(members)
  }

  /// Fields by name.
  package func json(_ fields: Fields, of id: RecordID) -> JSON {
    .object(
      JSON.Members(
        fields.map { JSON.Members.Element(name: $0.key, value: json($0.field, $0.key, of: id)) }))
  }

  private func json(_ stamp: RecordStamp) -> JSON {
    let milliseconds = Notation.milliseconds(stamp.time)
    let isWhole = Notation.time(milliseconds: milliseconds) == stamp.time
    return .members([
      "timestamp": .integer(milliseconds), "userRecordName": .string(userName(in: stamp)),
      "deviceID": stamp.device.map { .string($0) },
      Notation.extra: isWhole
        ? nil : exact { $0.write(stamp.time.secondsSinceReferenceDate) },
    ])
  }

  /// The user record name in a stamp: the service always writes the full name; two sides that
  /// understand the extra members use `ZoneID.currentOwner` for the requester.
  func userName(in stamp: RecordStamp) -> String {
    guard !isExact, stamp.user.rawValue == ZoneID.currentOwner, let user else {
      return stamp.user.rawValue
    }
    return user.rawValue
  }

  /// The result for the record that was requested as `id`.
  ///
  /// The service uses one spelling for a user's own zone, regardless of the request's spelling.
  func result(_ record: Record, askedAs id: RecordID) -> ItemResult<RecordID, Record> {
    var record = record
    if database != .shared, record.id != id, record.id.name == id.name,
      record.id.zone.name == id.zone.name
    {
      record.id = id
    }
    return ItemResult(id: record.id, .success(record))
  }

  /// `zone` in the spelling of the request, which was `asked`.
  func named(_ zone: ZoneID, askedAs asked: ZoneID) -> ZoneID {
    database != .shared && zone.name == asked.name ? asked : zone
  }

  /// A deletion in a change feed.
  package func json(_ deletion: RecordDeletion) -> JSON {
    .members([
      "recordName": .string(deletion.id.name), "recordType": .null, "deleted": .bool(true),
      "zoneID": json(deletion.id.zone),
      Notation.extra: exact { $0.write(deletion.type) },
    ])
  }

  /// Decodes a record of a response; `zone` is the default for its zone.
  package func record(_ json: JSON, in zone: ZoneID) throws(CloudError) -> Record {
    let id = try recordID(json, in: zone)
    return Record(
      id: id, type: try json.text("recordType"),
      changeTag: try json.optionalText("recordChangeTag").map { ChangeTag($0) },
      fields: try fields(json, in: id.zone),
      parent: try recordID(in: json, "parent", zone: id.zone),
      share: try recordID(in: json, "share", zone: id.zone),
      sharing: try sharing(of: json, id: id), created: try stamp(in: json, "created"),
      modified: try stamp(in: json, "modified"))
  }

  /// Decodes the fields of a record or a push.
  package func fields(_ json: JSON, in zone: ZoneID) throws(CloudError) -> Fields {
    guard let members = try self.members(json, "fields") else { return Fields() }
    var elements: [Fields.Element] = []
    elements.reserveCapacity(members.elements.count)
    for element in members.elements {
      guard let field = try field(element.value, in: zone) else { continue }
      elements.append(Fields.Element(key: element.name, field: field))
    }
    return Fields(elements)
  }

  private func stamp(in json: JSON, _ name: String) throws(CloudError) -> RecordStamp? {
    guard let json = json[name] else { return nil }
    guard let milliseconds = json["timestamp"]?.integer else {
      throw .malformed("'\(name)' must have a 'timestamp'")
    }
    let seconds = try exact(in: json) { (reader) throws(ByteFormatError) in try reader.double() }
    return RecordStamp(
      time: seconds.map { Timestamp(secondsSinceReferenceDate: $0) }
        ?? Notation.time(milliseconds: milliseconds),
      user: UserID(try json.text("userRecordName")), device: try json.optionalText("deviceID"))
  }

  /// The members of the object called `name`; `nil` when it is absent.
  func members(_ json: JSON, _ name: String) throws(CloudError) -> JSON.Members? {
    guard let value = json[name] else { return nil }
    guard let members = value.members else { throw .malformed("'\(name)' must be an object") }
    return members
  }

  /// Decodes a deletion in a change feed.
  package func deletion(_ json: JSON, in zone: ZoneID) throws(CloudError) -> RecordDeletion {
    let type = try exact(in: json) { (reader) throws(ByteFormatError) in try reader.string() }
    let plain = try json.optionalText("recordType")
    return RecordDeletion(id: try recordID(json, in: zone), type: type ?? plain ?? "")
  }

  // MARK: Changes

  /// Encodes a save for a request.
  package func json(_ save: RecordSave) -> JSON {
    var members = JSON.Members()
    members.add("recordName", .string(save.id.name))
    members.add("recordType", .string(save.type))
    members.add("recordChangeTag", save.changeTag.map { .string($0.rawValue) })
    members.add("zoneID", json(save.id.zone))
    var fields = JSON.Members()
    for change in save.changes {
      fields.add(
        change.key,
        change.field.map { json($0, change.key, of: save.id) } ?? .members(["value": .null]))
    }
    members.add("fields", .object(fields))
    if case .set(let parent) = save.parent {
      members.add("parent", parent.map { json($0, from: save.id.zone) } ?? .null)
    }
    add(save.sharing, of: save.id.zone, type: save.type, to: &members)
    return .object(members)
  }

  /// Decodes a save of a request; a record without a name gets a name from `newName`.
  package func save(
    _ json: JSON, in zone: ZoneID, newName: () -> String
  ) throws(CloudError) -> RecordSave {
    let zone = try self.zone(in: json, or: zone)
    let name = try json.optionalText("recordName")
    let id = RecordID(name: name ?? newName(), zone: zone)
    var changes: [RecordSave.Change] = []
    for element in try members(json, "fields")?.elements ?? [] {
      let field: Field?
      do throws(CloudError) { field = try self.field(element.value, in: zone) } catch {
        throw .malformed(error.message, inField: element.name)
      }
      changes.append(RecordSave.Change(key: element.name, field: field))
    }
    changes.sort { $0.key < $1.key }
    var parent = RecordSave.ParentChange.keep
    if let value = json.members?["parent"] {
      parent = .set(value.isNull ? nil : try recordID(value, in: zone))
    }
    return RecordSave(
      id: id, type: try json.optionalText("recordType") ?? "",
      changeTag: try json.optionalText("recordChangeTag").map { ChangeTag($0) },
      changes: changes, parent: parent,
      sharing: try sharing(of: json, id: id))
  }
}
