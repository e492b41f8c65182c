import Records

/// Values that are easily changed on the way: every kind, at its edges.
enum Samples {
  static let zone = ZoneID(name: "Z", owner: "_0123")
  static let target = RecordID(name: "target", zone: zone)

  static let values: [FieldValue] = [
    .string(""), .string("plain"), .string("\u{e9}"), .string("e\u{301}"), .string("🙂\u{0}\n"),
    .int64(0), .int64(-1), .int64(.min), .int64(.max),
    .double(0), .double(-0.0), .double(.infinity), .double(-.infinity), .double(.nan),
    .double(.signalingNaN), .double(Double(bitPattern: 0x7ff8_0000_dead_beef)),
    .double(.leastNonzeroMagnitude), .double(.greatestFiniteMagnitude),
    .date(Timestamp(secondsSinceReferenceDate: 0.1)),
    .date(Timestamp(secondsSinceReferenceDate: -63_114_076_800)),
    .date(Timestamp(secondsSinceReferenceDate: .nan)),
    .bytes([]), .bytes([0, 255, 1]), .bytes(Array(repeating: 0x80, count: 300)),
    .reference(Reference(target: target, action: .none)),
    .reference(Reference(target: target, action: .deleteSelf)),
    .asset(Asset(checksum: "ab", size: 0)),
    .asset(Asset(checksum: "", size: .max, receipt: "r", location: "/l")),
    .location(Location(latitude: 1.5, longitude: -0.0)),
    .location(
      Location(
        latitude: .nan, longitude: 181, altitude: 1, horizontalAccuracy: 2, verticalAccuracy: 3,
        course: 4, speed: 5, timestamp: Timestamp(secondsSinceReferenceDate: 6))),
    .list([]), .list([.string("e\u{301}"), .string("\u{e9}")]), .list([.int64(1), .int64(1)]),
    .list([.list([.list([.list([])])])]),
  ]

  /// A record with every value in it, plain and encrypted.
  static var record: Record {
    var fields = Fields()
    for (index, value) in values.enumerated() {
      fields["f\(index)"] = Field(value, isEncrypted: index % 2 == 1)
    }
    let stamp = RecordStamp(
      time: Timestamp(secondsSinceReferenceDate: 700_000_000.001), user: UserID("_u"), device: "d")
    return Record(
      id: RecordID(name: "name", zone: zone), type: "Type", changeTag: ChangeTag("1a"),
      fields: fields, parent: target, share: target, created: stamp,
      modified: RecordStamp(time: stamp.time, user: UserID(""), device: nil))
  }

  /// The fewest things a record can have.
  static let bare = Record(id: RecordID(name: "", zone: .default), type: "")

  static func bytes(_ record: Record) -> [UInt8] {
    var writer = ByteWriter()
    writer.write(record)
    return writer.bytes
  }
}
