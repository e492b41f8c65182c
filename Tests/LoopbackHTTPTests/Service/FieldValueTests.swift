import LoopbackServer
import Testing
import WebServices

@testable import LoopbackHTTP

/// Values at the edges of what a field holds, written and read in the protocol's own words.
@Suite("Values of fields, in the protocol's own words")
struct FieldValueTests {
  /// Whole numbers around every limit that a field or a time has.
  private static let numbers: [String] = {
    var found: Set<Int64> = [0, 1, -1, .max, .min, .max - 1, .min + 1]
    for power in [31, 32, 51, 52, 53, 54, 56, 60, 62] {
      for offset in -3...3 as ClosedRange<Int64> {
        found.insert((Int64(1) << power) + offset)
        found.insert(-(Int64(1) << power) + offset)
      }
    }
    var power: Int64 = 1
    while power <= Int64.max / 10 {
      power *= 10
      for number in [power - 1, power, power + 1] { found.formUnion([number, -number]) }
    }
    // When `Timestamp` begins, and the last times that are whole milliseconds.
    found.formUnion([978_307_200_000, 978_307_200_001, 978_307_199_999, 64_092_211_200_000])
    return found.sorted().map(String.init)
  }()

  /// Saves a record with this field `f`; returns `refused`, or the value that is read.
  private func outcome(
    _ world: AccessWorld, _ name: String, _ type: String, _ value: String
  ) async throws -> JSON? {
    let answer = try await world.post(
      .recordsModify, query: try world.query("bob"),
      #"""
      {"atomic":false,"operations":[{"operationType":"create","record":{"recordName":"\#(name)",
      "recordType":"T_\#(type)","fields":{"f":{"type":"\#(type)","value":\#(value)}}}}]}
      """#)
    let body = try JSON(parsing: answer.body)
    let item = body["records"]?.array?.first ?? body
    if let code = item["serverErrorCode"]?.string {
      #expect(code == "BAD_REQUEST", "\(value): \(answer.text)")
      let reason = item["reason"]?.string ?? ""
      #expect(reason.contains("'f'"), "\(type) \(value) is refused without its name: \(reason)")
      return nil
    }
    let read = try await world.post(
      .recordsLookup, query: try world.query("bob"), #"{"records":[{"recordName":"\#(name)"}]}"#)
    return try JSON(parsing: read.body)["records"]?.array?.first?["fields"]?["f"]?["value"]
  }

  @Test("A location comes back with the members it was saved with, and no others")
  func locationHasOnlyStoredMembers() async throws {
    try await AccessWorld.run { world in
      for (name, place) in [
        ("plain", #"{"latitude":1.5,"longitude":2.5}"#),
        (
          "measured",
          #"{"latitude":1.5,"longitude":2.5,"altitude":3.5,"speed":4.5,"timestamp":978307201000}"#
        ),
      ] {
        let read = try await outcome(world, name, "LOCATION", place)
        #expect(read?.text == place)
      }
    }
  }

  /// Proves WS-99, WS-100.
  @Test func everyWholeNumberThatIsAcceptedComesBackIdentical() async throws {
    try await AccessWorld.run { world in
      var refused: [String: Int] = [:]
      for type in ["INT64", "TIMESTAMP"] {
        for (index, number) in Self.numbers.enumerated() {
          let read = try await outcome(world, "\(type)\(index)", type, number)
          if let read {
            #expect(read.text == number, "\(type) \(number)")
          } else {
            refused[type, default: 0] += 1
          }
        }
      }
      #expect(refused["INT64"] == nil)
      #expect((refused["TIMESTAMP"] ?? 0) > 50)
      for (type, value) in [
        ("INT64", "9223372036854775808"), ("INT64", "-9223372036854775809"), ("INT64", "1e19"),
        ("TIMESTAMP", "100000000000000000"), ("TIMESTAMP", "9007199254740991"),
        ("TIMESTAMP_LIST", "[0,100000000000000000]"),
      ] {
        #expect(try await outcome(world, "no", type, value) == nil, "\(type) \(value)")
      }
    }
  }

  /// Proves WS-101, CS-186.
  @Test func whatNoRecordHoldsIsRefusedWithTheFieldsName() async throws {
    try await AccessWorld.run { world in
      for (type, value) in [
        ("REFERENCE", #"{"recordName":"","action":"NONE"}"#),
        ("REFERENCE_LIST", #"[{"recordName":"a"},{"recordName":""}]"#),
        ("LOCATION", #"{"latitude":91,"longitude":0}"#),
        ("LOCATION", #"{"latitude":-90.5,"longitude":0}"#),
        ("LOCATION", #"{"latitude":0,"longitude":180.25}"#),
        ("LOCATION", #"{"latitude":0,"longitude":0,"timestamp":100000000000000000}"#),
      ] {
        #expect(try await outcome(world, "no", type, value) == nil, "\(value)")
      }
      for value in ["90", "-90", "0"] {
        let place = #"{"latitude":\#(value),"longitude":180}"#
        let read = try await outcome(world, "at\(value)", "LOCATION", place)
        #expect(read?["latitude"]?.double == Double(value))
      }
    }
  }
}
