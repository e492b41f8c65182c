import Records
import WebServices

extension JSON {
  /// Fields by name; each is an object whose first member names the kind and holds the value.
  static func fields(_ fields: Fields) -> JSON? {
    if fields.isEmpty { return nil }
    return .object(
      Members(
        fields.map { element in
          let value = JSON.value(element.field.value)
          return Members.Element(
            name: element.key,
            value: element.field.isEncrypted
              ? value.adding(.members(["encrypted": .bool(true)])) : value)
        }))
  }

  private static func name(of action: Reference.Action) -> String? {
    switch action {
    case .none: nil
    case .deleteSelf: "deleteSelf"
    case .validate: "validate"
    }
  }

  /// A value in a member named after its kind.
  static func value(_ value: FieldValue) -> JSON {
    switch value {
    case .string(let text): .members(["string": .string(text)])
    case .int64(let number): .members(["int64": .integer(number)])
    case .double(let number): .members(["double": .double(number)])
    case .date(let time): .members(["date": .time(time)])
    case .bytes(let bytes): .members(["bytes": .bytes(bytes)])
    case .reference(let reference):
      .members([
        "reference": name(reference.target),
        "action": JSON.name(of: reference.action).map { .string($0) },
      ])
    case .asset(let asset):
      .members([
        "asset": .members([
          "sha256": .string(asset.checksum), "size": .integer(asset.size),
          "receipt": asset.receipt.map { .string($0) },
          "location": asset.location.map { .string($0) },
        ])
      ])
    case .location(let location): .members(["location": place(location)])
    case .list(let values): .members(["list": .array(values.map { JSON.value($0) })])
    }
  }

  static func place(_ place: Location) -> JSON {
    .members([
      "latitude": .double(place.latitude), "longitude": .double(place.longitude),
      "altitude": .double(place.altitude),
      "horizontalAccuracy": .double(place.horizontalAccuracy),
      "verticalAccuracy": .double(place.verticalAccuracy), "course": .double(place.course),
      "speed": .double(place.speed), "timestamp": .time(place.timestamp),
    ])
  }

  /// A zone's name, and its owner unless it is the current owner.
  static func name(_ zone: ZoneID) -> JSON {
    .members([
      "zone": .string(zone.name),
      "zoneOwner": zone.owner == ZoneID.currentOwner ? nil : .string(zone.owner),
    ])
  }

  /// A record's zone and name.
  static func name(_ record: RecordID) -> JSON {
    name(record.zone).adding(.members(["name": .string(record.name)]))
  }
}

extension ArchiveObject {
  mutating func fields(_ key: String) throws -> Fields {
    let elements = try optionalObject(key) { fields in
      try fields.rest().map { member in
        try ArchiveObject.read(member.value, "a field") { object in
          let isEncrypted = try object.flag("encrypted")
          return Fields.Element(
            key: member.name, field: Field(try object.value(), isEncrypted: isEncrypted))
        }
      }
    }
    let fields = Fields(elements ?? [])
    guard fields.count == elements?.count ?? 0 else {
      throw ArchiveError("two fields have one name")
    }
    return fields
  }

  /// The maximum nesting of lists, the same as in a server's file.
  private static let deepestList = 4

  /// The value in the member named after its kind.
  mutating func value(depth: Int = 0) throws -> FieldValue {
    if let json = json("string") { return .string(try json.text("string")) }
    if let json = json("int64") { return .int64(try json.integer("int64")) }
    if let json = json("double") { return .double(try json.double("double")) }
    if let time = try optionalTime("date") { return .date(time) }
    if let json = json("bytes") { return .bytes(try json.bytes("bytes")) }
    if let target = try optionalRecordID("reference") {
      return .reference(Reference(target: target, action: try action()))
    }
    if let asset = try optionalObject("asset", { try $0.asset() }) { return .asset(asset) }
    if let place = try optionalObject("location", { try $0.place() }) { return .location(place) }
    guard has("list") else { throw ArchiveError("the kind of a value is unknown") }
    guard depth < ArchiveObject.deepestList else { throw ArchiveError("lists nest too deep") }
    return .list(
      try list("list") { element in
        try ArchiveObject.read(element, "a list's member") { try $0.value(depth: depth + 1) }
      })
  }

  private mutating func action() throws -> Reference.Action {
    switch try optionalText("action") {
    case nil: return .none
    case "deleteSelf": return .deleteSelf
    case "validate": return .validate
    case .some: throw ArchiveError("'action' has an unknown value")
    }
  }

  private mutating func asset() throws -> Asset {
    let size: Int = try need(json("size"), "size").integer("size")
    guard size >= 0 else { throw ArchiveError("'size' is negative") }
    return Asset(
      checksum: try text("sha256"), size: size,
      receipt: try optionalText("receipt"), location: try optionalText("location"))
  }

  mutating func place() throws -> Location {
    Location(
      latitude: try double("latitude"), longitude: try double("longitude"),
      altitude: try double("altitude"), horizontalAccuracy: try double("horizontalAccuracy"),
      verticalAccuracy: try double("verticalAccuracy"), course: try double("course"),
      speed: try double("speed"), timestamp: try time("timestamp"))
  }

  /// A zone by the members `zone` and `zoneOwner` of this object.
  mutating func zoneID() throws -> ZoneID {
    ZoneID(
      name: try text("zone"), owner: try optionalText("zoneOwner") ?? ZoneID.currentOwner)
  }

  /// A record by the members of this object.
  mutating func recordID() throws -> RecordID {
    let zone = try zoneID()
    return RecordID(name: try text("name"), zone: zone)
  }

  mutating func optionalRecordID(_ key: String) throws -> RecordID? {
    try optionalObject(key) { try $0.recordID() }
  }
}
