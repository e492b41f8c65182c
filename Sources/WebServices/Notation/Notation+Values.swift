package import CloudProtocol
package import Records

/// The values of fields.
///
/// Every value has a type, including lists, even empty ones. Rules: WS-14 to WS-31.
extension Notation {
  /// A value as JSON, the name of its type, and whether the conversion is lossless.
  private struct Plain {
    var value: JSON
    var type: String
    var isWhole = true
  }

  /// Encodes a field of the record `id`.
  package func json(_ field: Field, _ key: String, of id: RecordID) -> JSON {
    let plain = plain(field.value, key, id)
    return .members([
      "value": plain.value, "type": .string(plain.type),
      "isEncrypted": field.isEncrypted ? .bool(true) : nil,
      Notation.extra: plain.isWhole ? nil : exact { $0.write(field.value) },
    ])
  }

  /// Encodes a value outside of a record, as in a filter.
  package func json(_ value: FieldValue, in zone: ZoneID) -> JSON {
    json(Field(value), "", of: RecordID(name: "", zone: zone))
  }

  private func plain(_ value: FieldValue, _ key: String, _ id: RecordID) -> Plain {
    switch value {
    case .string(let text): return Plain(value: .string(text), type: "STRING")
    case .int64(let number):
      return Plain(
        value: numbersAsStrings ? .string(String(number)) : .integer(number), type: "INT64")
    case .double(let number):
      guard number.isFinite else { return Plain(value: .null, type: "DOUBLE", isWhole: false) }
      return Plain(
        value: numbersAsStrings ? .string(number.description) : .number(number), type: "DOUBLE")
    case .date(let time):
      guard let milliseconds = Notation.wholeMilliseconds(time) else {
        return Plain(value: .null, type: "TIMESTAMP", isWhole: false)
      }
      return Plain(
        value: numbersAsStrings ? .string(String(milliseconds)) : .integer(milliseconds),
        type: "TIMESTAMP", isWhole: Notation.time(milliseconds: milliseconds) == time)
    case .bytes(let bytes): return Plain(value: .string(Notation.base64(bytes)), type: "BYTES")
    case .reference(let reference):
      return Plain(
        value: .members([
          "recordName": .string(reference.target.name),
          "action": .string(Notation.name(of: reference.action)),
          "zoneID": json(reference.target.zone),
        ]), type: "REFERENCE")
    case .asset(let asset):
      let value = json(asset, downloadURL?(id, key, asset))
      return Plain(
        value: value, type: "ASSETID", isWhole: (try? self.asset(value)) == asset)
    case .location(let place): return plain(place)
    case .list(let values): return plain(values, key, id)
    }
  }

  private func plain(_ values: [FieldValue], _ key: String, _ id: RecordID) -> Plain {
    let members = values.map { plain($0, key, id) }
    let kinds = Set(values.map(\.kind))
    return Plain(
      value: .array(members.map(\.value)), type: (members.first?.type ?? "STRING") + "_LIST",
      isWhole: kinds.count <= 1 && !kinds.contains(.list) && members.allSatisfy(\.isWhole))
  }

  private func plain(_ place: Location) -> Plain {
    let milliseconds = Notation.wholeMilliseconds(place.timestamp)
    let numbers = [
      place.latitude, place.longitude, place.horizontalAccuracy, place.verticalAccuracy,
      place.altitude, place.speed, place.course,
    ]
    let isFinite = numbers.allSatisfy(\.isFinite)
    func number(_ value: Double) -> JSON { value.isFinite ? .number(value) : .number(0) }
    // A member that was not given has its default, which is what its absence means again.
    let plain = Location(latitude: place.latitude, longitude: place.longitude)
    func member(_ path: KeyPath<Location, Double>) -> JSON? {
      let (value, other) = (place[keyPath: path], plain[keyPath: path])
      return value.bitPattern == other.bitPattern ? nil : number(value)
    }
    return Plain(
      value: .members([
        "latitude": number(place.latitude), "longitude": number(place.longitude),
        "horizontalAccuracy": member(\.horizontalAccuracy),
        "verticalAccuracy": member(\.verticalAccuracy), "altitude": member(\.altitude),
        "speed": member(\.speed), "course": member(\.course),
        "timestamp": place.timestamp == plain.timestamp ? nil : milliseconds.map { .integer($0) },
      ]), type: "LOCATION",
      isWhole: isFinite && milliseconds.map { Notation.time(milliseconds: $0) } == place.timestamp)
  }

  /// Encodes an asset: the response of an upload, and the value in a save.
  ///
  /// A receipt that is a JSON object in text is the upload response of another service, and is sent
  /// back unchanged.
  package func json(_ asset: Asset, _ url: String? = nil) -> JSON {
    if let receipt = asset.receipt, receipt.hasPrefix("{"),
      let whole = try? JSON(parsing: Array(receipt.utf8)), whole.members != nil
    {
      return whole
    }
    return .members([
      "fileChecksum": .string(asset.checksum), "size": .integer(asset.size),
      "receipt": asset.receipt.map { .string($0) }, "downloadURL": url.map { .string($0) },
    ])
  }

  /// Decodes an asset.
  package func asset(_ json: JSON) throws(CloudError) -> Asset {
    guard let size = try json.count("size"), size >= 0 else {
      throw .malformed("a file's 'size' must be a whole number of bytes")
    }
    return Asset(
      checksum: try json.text("fileChecksum"), size: size,
      receipt: try json.optionalText("receipt"))
  }

  /// Decodes the response of an upload.
  ///
  /// A service without the extra members expects its complete response back: it is stored as text
  /// in the receipt.
  package func uploadedAsset(_ json: JSON) throws(CloudError) -> Asset {
    var asset = try asset(json)
    if !isExact { asset.receipt = json.text }
    return asset
  }

  // MARK: Reading

  /// Decodes a field; `nil` clears it.
  package func field(_ json: JSON, in zone: ZoneID) throws(CloudError) -> Field? {
    guard json.members != nil else { throw .malformed("a field must be an object with a 'value'") }
    let isEncrypted = try json.flag("isEncrypted") ?? false
    let found = try exact(in: json) { (reader) throws(ByteFormatError) in
      try reader.fieldValue()
    }
    if let found { return Field(found, isEncrypted: isEncrypted) }
    guard let value = json["value"] else { return nil }
    let type = try json.optionalText("type")
    return Field(try self.value(value, type, zone), isEncrypted: isEncrypted)
  }

  /// Decodes a value, which is required.
  package func value(_ json: JSON, in zone: ZoneID) throws(CloudError) -> FieldValue {
    guard let field = try field(json, in: zone) else { throw .malformed("a value is missing") }
    return field.value
  }

  private func value(
    _ json: JSON, _ type: String?, _ zone: ZoneID
  ) throws(CloudError) -> FieldValue {
    guard let type = type ?? Notation.guess(json) else {
      throw .malformed("Invalid value, it fits no type of field.")
    }
    if type.hasSuffix("_LIST") {
      guard let values = json.array else { throw .unfit(type) }
      var element: String? = String(type.dropLast(5))
      if element == "EMPTY" || element == "UNKNOWN" { element = nil }
      var list: [FieldValue] = []
      for value in values {
        guard !value.isNull, value.array == nil else { throw .unfit(type) }
        list.append(try self.value(value, element, zone))
      }
      return .list(list)
    }
    if let value = try scalar(json, type) { return value }
    switch type {
    case "REFERENCE":
      guard json.members != nil else { throw .unfit(type) }
      return .reference(try reference(json, zone))
    case "ASSETID", "ASSET":
      guard json.members != nil else { throw .unfit(type) }
      return .asset(try asset(json))
    case "LOCATION":
      guard json.members != nil else { throw .unfit(type) }
      return .location(try location(json))
    default: throw .unknown(type, "field type", Notation.fieldTypes)
    }
  }

  /// The types of fields.
  private static let fieldTypes = [
    "STRING", "INT64", "DOUBLE", "TIMESTAMP", "BYTES", "REFERENCE", "ASSETID", "LOCATION",
    "or a list such as STRING_LIST",
  ]

  private func scalar(_ json: JSON, _ type: String) throws(CloudError) -> FieldValue? {
    switch type {
    case "STRING":
      guard let text = json.string else { throw .unfit(type) }
      return .string(text)
    case "INT64":
      guard let number = json.integer else { throw .unfit(type) }
      return .int64(number)
    case "DOUBLE", "NUMBER_DOUBLE":
      guard let number = json.double else { throw .unfit(type) }
      return .double(number)
    case "TIMESTAMP":
      guard let milliseconds = json.integer else { throw .unfit(type) }
      guard let time = Notation.exactTime(milliseconds: milliseconds) else { throw .inexact(type) }
      return .date(time)
    case "BYTES", "ENCRYPTED_BYTES":
      guard let text = json.string, let bytes = Notation.bytes(base64: text) else {
        throw .unfit(type)
      }
      return .bytes(bytes)
    default: return nil
    }
  }

  private func reference(_ json: JSON, _ zone: ZoneID) throws(CloudError) -> Reference {
    let action: Reference.Action
    switch try json.optionalText("action") {
    case nil, "NONE": action = .none
    case "DELETE_SELF": action = .deleteSelf
    case "VALIDATE": action = .validate
    case .some(let word):
      throw .unknown(word, "'action' of a reference", ["NONE", "DELETE_SELF", "VALIDATE"])
    }
    return Reference(target: try recordID(json, in: zone), action: action)
  }

  private func location(_ json: JSON) throws(CloudError) -> Location {
    guard let latitude = json["latitude"]?.double, let longitude = json["longitude"]?.double else {
      throw .unfit("LOCATION")
    }
    func number(_ name: String, _ other: Double) throws(CloudError) -> Double {
      guard let value = json[name] else { return other }
      guard let number = value.double else { throw .unfit("LOCATION") }
      return number
    }
    var place = Location(latitude: latitude, longitude: longitude)
    place.horizontalAccuracy = try number("horizontalAccuracy", place.horizontalAccuracy)
    place.verticalAccuracy = try number("verticalAccuracy", place.verticalAccuracy)
    place.altitude = try number("altitude", place.altitude)
    place.speed = try number("speed", place.speed)
    place.course = try number("course", place.course)
    if let value = json["timestamp"] {
      guard let milliseconds = value.integer else { throw .unfit("LOCATION") }
      guard let time = Notation.exactTime(milliseconds: milliseconds) else {
        throw .inexact("LOCATION")
      }
      place.timestamp = time
    }
    return place
  }

  private static func name(of action: Reference.Action) -> String {
    switch action {
    case .none: "NONE"
    case .deleteSelf: "DELETE_SELF"
    case .validate: "VALIDATE"
    }
  }

  /// The type of a value without a type member.
  private static func guess(_ json: JSON) -> String? {
    switch json {
    case .string: "STRING"
    case .integer: "INT64"
    case .number: "DOUBLE"
    case .array(let values): (guess(elements: values) ?? "EMPTY") + "_LIST"
    case .object:
      if json["recordName"] != nil {
        "REFERENCE"
      } else if json["latitude"] != nil {
        "LOCATION"
      } else if json["fileChecksum"] != nil {
        "ASSETID"
      } else {
        nil
      }
    case .null, .bool: nil
    }
  }
}

extension Notation {
  /// The type of the elements of a list without a type member: that of the first one, but DOUBLE
  /// for integers and fractions together, in any order.
  private static func guess(elements: [JSON]) -> String? {
    let first = elements.first.flatMap { guess($0) }
    guard first == "INT64" else { return first }
    let hasFraction = elements.contains { if case .number = $0 { true } else { false } }
    return hasFraction ? "DOUBLE" : first
  }
}

extension CloudError {
  /// The error of a value that does not match its type.
  fileprivate static func unfit(_ type: String) -> CloudError {
    .malformed("Invalid value, expected type \(type).")
  }

  /// The error of a number that its type cannot represent exactly.
  fileprivate static func inexact(_ type: String) -> CloudError {
    .malformed("Invalid value, the type \(type) can't hold this number exactly.")
  }
}
