/// The binary form of the record model, used wherever records are kept: on the server's disk,
/// in archived system fields and in engine state.
extension ByteWriter {
  /// Appends a zone's name and owner.
  public mutating func write(_ zone: ZoneID) {
    write(zone.name)
    write(zone.owner)
  }

  /// Appends a record's name and zone.
  public mutating func write(_ id: RecordID) {
    write(id.name)
    write(id.zone)
  }

  /// Appends who changed a record and when.
  public mutating func write(_ stamp: RecordStamp) {
    write(stamp.time.secondsSinceReferenceDate)
    write(stamp.user.rawValue)
    write(optional: stamp.device) { $0.write($1) }
  }

  /// Appends a whole record.
  public mutating func write(_ record: Record) {
    write(record.id)
    write(record.type)
    write(optional: record.changeTag) { $0.write($1.rawValue) }
    write(optional: record.parent) { $0.write($1) }
    write(optional: record.share) { $0.write($1) }
    write(optional: record.created) { $0.write($1) }
    write(optional: record.modified) { $0.write($1) }
    write(record.fields)
    write(optional: record.sharing) { $0.write($1) }
  }

  /// Appends all fields in the order of their names.
  public mutating func write(_ fields: Fields) {
    write(list: fields) { writer, element in
      writer.write(element.key)
      writer.write(element.field.isEncrypted)
      writer.write(element.field.value)
    }
  }

  /// Appends a value behind a byte for its kind.
  public mutating func write(_ value: FieldValue) {
    write(value.kind.rawValue)
    switch value {
    case .string(let value): write(value)
    case .int64(let value): write(fixed: UInt64(bitPattern: value))
    case .double(let value): write(value)
    case .date(let value): write(value.secondsSinceReferenceDate)
    case .bytes(let value): write(value)
    case .reference(let value):
      write(value.target)
      write(value.action.rawValue)
    case .asset(let value):
      write(value.checksum)
      write(count: value.size)
      write(optional: value.receipt) { $0.write($1) }
      write(optional: value.location) { $0.write($1) }
    case .location(let value):
      for number in [
        value.latitude, value.longitude, value.altitude, value.horizontalAccuracy,
        value.verticalAccuracy, value.course, value.speed,
        value.timestamp.secondsSinceReferenceDate,
      ] { write(number) }
    case .list(let values): write(list: values) { $0.write($1) }
    }
  }
}

extension ByteReader {
  /// How deep lists may nest; CloudKit knows no list of lists.
  private static let deepestList = 4

  /// A zone's name and owner.
  public mutating func zoneID() throws(ByteFormatError) -> ZoneID {
    let name = try string()
    return ZoneID(name: name, owner: try string())
  }

  /// A record's name and zone.
  public mutating func recordID() throws(ByteFormatError) -> RecordID {
    let name = try string()
    return RecordID(name: name, zone: try zoneID())
  }

  /// Who changed a record and when.
  public mutating func recordStamp() throws(ByteFormatError) -> RecordStamp {
    let time = Timestamp(secondsSinceReferenceDate: try double())
    let user = UserID(try string())
    return RecordStamp(time: time, user: user, device: try optionalString())
  }

  /// A whole record.
  public mutating func record() throws(ByteFormatError) -> Record {
    let id = try recordID()
    var record = Record(id: id, type: try string())
    record.changeTag = try optional { (reader) throws(ByteFormatError) in
      ChangeTag(try reader.string())
    }
    record.parent = try optional { (reader) throws(ByteFormatError) in try reader.recordID() }
    record.share = try optional { (reader) throws(ByteFormatError) in try reader.recordID() }
    record.created = try optional { (reader) throws(ByteFormatError) in try reader.recordStamp() }
    record.modified = try optional { (reader) throws(ByteFormatError) in try reader.recordStamp() }
    record.fields = try fields()
    record.sharing = try optional { (reader) throws(ByteFormatError) in try reader.shareDetails() }
    return record
  }

  /// All fields of a record.
  public mutating func fields() throws(ByteFormatError) -> Fields {
    let elements = try list { (reader) throws(ByteFormatError) in
      let key = try reader.string()
      let isEncrypted = try reader.bool()
      return Fields.Element(
        key: key, field: Field(try reader.fieldValue(), isEncrypted: isEncrypted))
    }
    return Fields(elements)
  }

  /// A value behind a byte for its kind.
  public mutating func fieldValue() throws(ByteFormatError) -> FieldValue {
    try fieldValue(depth: 0)
  }

  private mutating func fieldValue(depth: Int) throws(ByteFormatError) -> FieldValue {
    guard let kind = FieldValue.Kind(rawValue: try byte()) else {
      throw fault("the kind of a value is unknown")
    }
    switch kind {
    case .string: return .string(try string())
    case .int64: return .int64(Int64(bitPattern: try fixed64()))
    case .double: return .double(try double())
    case .date: return .date(Timestamp(secondsSinceReferenceDate: try double()))
    case .bytes: return .bytes(try byteArray())
    case .reference:
      let target = try recordID()
      return .reference(
        Reference(target: target, action: try enumeration("the action of a reference is unknown")))
    case .asset: return .asset(try asset())
    case .location: return .location(try location())
    case .list:
      guard depth < ByteReader.deepestList else { throw fault("lists nest too deep") }
      return .list(
        try list { (reader) throws(ByteFormatError) in try reader.fieldValue(depth: depth + 1) })
    }
  }

  private mutating func asset() throws(ByteFormatError) -> Asset {
    let checksum = try string()
    guard let size = Int(exactly: try variable()) else { throw fault("a size is too large") }
    let receipt = try optionalString()
    return Asset(
      checksum: checksum, size: size, receipt: receipt, location: try optionalString())
  }

  private mutating func location() throws(ByteFormatError) -> Location {
    let numbers = [
      try double(), try double(), try double(), try double(), try double(), try double(),
      try double(), try double(),
    ]
    return Location(
      latitude: numbers[0], longitude: numbers[1], altitude: numbers[2],
      horizontalAccuracy: numbers[3], verticalAccuracy: numbers[4], course: numbers[5],
      speed: numbers[6], timestamp: Timestamp(secondsSinceReferenceDate: numbers[7]))
  }
}
