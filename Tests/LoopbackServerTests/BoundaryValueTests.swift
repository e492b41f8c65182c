import CloudProtocol
import LoopbackServer
import Records
import Testing

/// Values at the edges of what a field holds, in both storages.
@Suite("Values at the edges, in memory and in a file")
struct BoundaryValueTests {
  private static let integers: [Int64] = {
    var found: Set<Int64> = [0, 1, -1, .max, .max - 1, .min, .min + 1]
    for power in [7, 8, 15, 16, 23, 31, 32, 47, 52, 53, 54, 62] {
      for offset in -1...1 as ClosedRange<Int64> {
        found.formUnion([(Int64(1) << power) + offset, -(Int64(1) << power) + offset])
      }
    }
    return found.sorted()
  }()

  private static let numbers: [Double] = {
    let magnitudes: [Double] = [
      0, 0.1, 1, .ulpOfOne, .leastNonzeroMagnitude, .leastNormalMagnitude,
      .leastNormalMagnitude.nextDown, .greatestFiniteMagnitude, .infinity, 0x1p53, 0x1p53 + 2,
      0x1p63, 978_307_200, 978_307_200.001,
    ]
    let odd = Double(bitPattern: 0x7FF8_0000_0000_0007)
    let unordered: [Double] = [.nan, -.nan, .signalingNaN, odd]
    return magnitudes + magnitudes.map { -$0 } + unordered
  }()

  private static let texts = [
    "", " ", "\0", "a\0b", "'", "\"", "\n", "\r\n", "\u{FEFF}", "\u{FFFD}", "\u{FFFF}", "e\u{301}",
    "\u{E9}", "\u{10FFFF}", "👩‍👩‍👧", String(repeating: "x", count: 100_000),
  ]

  private static let contents: [[UInt8]] = [
    [], [0], [255], Array(0...255), Array(repeating: 0, count: 100_000),
  ]

  private static let places: [Location] = {
    var places: [Location] = []
    let latitudes: [Double] = [-90, Double(-90).nextUp, -0.0, 0, .leastNonzeroMagnitude, 90]
    for latitude in latitudes {
      for longitude in [-180, -0.0, 180] as [Double] {
        places.append(Location(latitude: latitude, longitude: longitude))
      }
    }
    for number in numbers {
      places.append(
        Location(
          latitude: 1, longitude: 2, altitude: number, horizontalAccuracy: number,
          verticalAccuracy: number, course: number, speed: number,
          timestamp: Timestamp(secondsSinceReferenceDate: number)))
    }
    let outside: [Double] = [Double(90).nextUp, .nan, .infinity]
    return places + outside.map { Location(latitude: $0, longitude: 0) }
  }()

  /// Every value by the name of the record that holds it; lists hold all values of a kind.
  private static let values: [(name: String, value: FieldValue)] = {
    let scalars: [(String, [FieldValue])] = [
      ("integer", integers.map { .int64($0) }), ("number", numbers.map { .double($0) }),
      ("time", numbers.map { .date(Timestamp(secondsSinceReferenceDate: $0)) }),
      ("text", texts.map { .string($0) }), ("place", places.map { .location($0) }),
      ("bytes", contents.map { .bytes($0) }),
      (
        "reference",
        ["", "a", "é", String(repeating: "n", count: 255)].map {
          .reference(Reference(target: RecordID(name: $0, zone: zoneA), action: .none))
        }
      ),
    ]
    var found: [(name: String, value: FieldValue)] = [("emptyList", .list([]))]
    for (kind, values) in scalars {
      for (index, value) in values.enumerated() { found.append(("\(kind)\(index)", value)) }
      found.append(("\(kind)List", .list(values)))
    }
    return found
  }()

  /// The saved ones of `values`, by name; a rejected value is reported with its field.
  private func save(_ device: LoopbackDevice) async throws -> [String: FieldValue] {
    _ = try await device.send(call("zone", .modifyZones(ModifyZones(save: [zoneA]))))
    var accepted: [String: FieldValue] = [:]
    for (name, value) in Self.values {
      // A field keeps the kind of its first value, so that each record has a type of its own.
      let record = Record(
        id: RecordID(name: name, zone: zoneA), type: "T_\(name)", fields: ["f": value])
      let reply = try await device.send(
        call(name, .modifyRecords(ModifyRecords(save: [RecordSave(record)], isAtomic: false))))
      guard case .recordsModified(let saved, _) = reply, let result = saved.first else {
        Issue.record("\(name): another answer came")
        continue
      }
      if let error = result.error {
        #expect(error.message.contains("'f'") || error.code == .limitExceeded, "\(name): \(error)")
      } else {
        accepted[name] = value
      }
    }
    return accepted
  }

  private func check(_ accepted: [String: FieldValue], _ device: LoopbackDevice) async throws {
    for (name, value) in accepted {
      let id = RecordID(name: name, zone: zoneA)
      let reply = try await device.send(
        call("read", .fetchRecords(FetchRecords(ids: [id], fields: .all))))
      guard case .records(let results) = reply else {
        Issue.record("\(name): another answer came")
        continue
      }
      let read = results.first?.value?.fields["f"]?.value
      #expect(read.map(bits) == bits(value), "\(name) is read as another value")
    }
  }

  /// The value's bytes, which also tell zeros and NaNs from each other.
  private func bits(_ value: FieldValue) -> [UInt8] {
    var writer = ByteWriter()
    writer.write(value)
    return writer.bytes
  }

  /// Proves S3.
  @Test func everyValueThatIsAcceptedComesBackIdenticalFromMemoryAndFromAFile() async throws {
    let memory = LoopbackServer(identity: 1)
    let phone = memory.device("phone", signedInAs: "alice")
    let accepted = try await save(phone)
    #expect(accepted.count > 100)
    #expect(accepted["integer0"] == .int64(.min) && accepted["reference0"] == nil)
    try await check(accepted, phone)
    memory.close()

    let file = try TemporaryFile()
    let first = try LoopbackServer(path: file.path, identity: 1)
    let tablet = first.device("phone", signedInAs: "alice")
    #expect(try await save(tablet).keys.sorted() == accepted.keys.sorted())
    try await check(accepted, tablet)
    first.close()
    let second = try LoopbackServer(path: file.path)
    try await check(accepted, second.device("phone", signedInAs: "alice"))
    second.close()
    file.remove()
  }
}
