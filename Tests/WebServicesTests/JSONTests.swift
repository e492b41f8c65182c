import Testing
import VerificationSupport
import WebServices

@Suite("JSON, strictly")
struct JSONTests {
  /// What `bytes` are read as and written again; `nil` when they are refused.
  private func written(_ bytes: [UInt8]) -> String? { try? JSON(parsing: bytes).text }

  /// Bytes for a message, not too many of them.
  private func shown(_ bytes: [UInt8]) -> String {
    String(decoding: bytes.prefix(60), as: UTF8.self) + " (\(bytes.prefix(24)))"
  }

  /// Proves TH-11, TH-16, WS-93.
  @Test("Every JSON text of the table is parsed as expected or refused")
  func jsonTextsAreParsedOrRefused() {
    let cases = JSONCase.all
    var faults: [String] = []
    for each in cases {
      let found = written(each.bytes)
      // By bytes: two texts may be equal and still differ.
      guard found.map({ Array($0.utf8) }) != each.text.map({ Array($0.utf8) }) else { continue }
      faults.append(
        "\(shown(each.bytes)): \(found?.prefix(60) ?? "refused"),"
          + " not \(each.text?.prefix(60) ?? "refused")")
    }
    #expect(cases.count >= 400 && faults.isEmpty, "\(faults.joined(separator: "\n"))")
  }

  @Test("A text that is cut anywhere is refused, and so is one with extra content")
  func truncatedOrExtendedJSONIsRefused() {
    let text = Array(
      #" {"a":[1,-2.5e3,"x\u00e9\n\ud83d\ude00é",null,true],"b":{"c":false,"":[]}}"#.utf8)
    let cut = text.indices.filter { written(Array(text[..<$0])) != nil }
    let longer = (UInt8(0)...255).filter { byte in
      (written(text + [byte]) != nil) != [0x20, 0x09, 0x0A, 0x0D].contains(byte)
    }
    #expect(written(text) != nil && cut.isEmpty && longer.isEmpty, "\(cut), \(longer)")
  }

  /// Proves WS-95.
  @Test("A parsing error gives the position and none of the content")
  func jsonErrorGivesPositionWithoutContent() {
    var faults: [String] = []
    for each in JSONCase.all where each.text == nil {
      do throws(JSONParsingError) { _ = try JSON(parsing: each.bytes) } catch {
        let isInside = error.offset >= 0 && error.offset <= each.bytes.count
        if !isInside || error.reason.isEmpty || error.description.utf8.count > 100 {
          faults.append("\(shown(each.bytes)): \(error)")
        }
      }
    }
    #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
  }

  /// Proves I23, WS-94.
  @Test("A value parsed from any of 20,000 damaged texts reads back as the same value")
  func damagedJSONReadsBackUnchanged() {
    var random = SeededGenerator(seed: 1)
    let cases = JSONCase.all.filter { !$0.bytes.isEmpty && $0.bytes.count < 300 }
    // Damage mostly what is whole, or little is left that is taken.
    let texts = (cases + Array(repeating: cases.filter { $0.text != nil }, count: 8).joined())
      .map(\.bytes)
    let marks = Array(#"[]{},:"\/-+.eE0123456789nulltrefasu "#.utf8) + [0, 0x7F, 0x80, 0xC3, 0xFF]
    var faults: [String] = []
    var taken = 0
    for _ in 0..<20_000 {
      var bytes = random.one(of: texts)
      for _ in 0...random.below(2) {
        let place = random.below(bytes.count + 1)
        switch random.below(5) {
        case 0: bytes.insert(random.one(of: marks), at: place)
        case 1 where place < bytes.count: bytes.remove(at: place)
        case 2 where place < bytes.count: bytes[place] = random.one(of: marks)
        case 3 where place < bytes.count: bytes[place] = UInt8(random.below(256))
        case 4: bytes += random.one(of: texts)
        default: bytes.removeLast(min(bytes.count, random.below(3)))
        }
      }
      guard let value = try? JSON(parsing: bytes) else { continue }
      taken += 1
      if (try? JSON(parsing: value.bytes)) != value { faults.append(shown(bytes)) }
    }
    #expect(taken > 1_000 && faults.isEmpty, "\(taken) taken; \(faults.prefix(20))")
  }

  /// A value with all that is awkward.
  private func value(_ random: inout SeededGenerator, depth: Int = 0) -> JSON {
    let texts = [
      "", "a", "\u{0}\u{1}\u{1F}\u{7F}\u{80}", "e\u{301}\u{E9}", "\"\\/", "\u{1F600}", "\u{FEFF}",
      "\u{2028}", "\r\n", "\u{FFFF}\u{10FFFF}", "cloudsync", "null", "\u{1F468}\u{200D}\u{1F469}",
    ]
    switch random.below(depth > 5 ? 6 : 9) {
    case 0: return .null
    case 1: return .bool(random.once(in: 2))
    case 2: return .integer(Int64(bitPattern: random.next()) >> Int64(random.below(64)))
    case 3, 4:
      let number = Double(bitPattern: random.next())
      return .number(number.isFinite ? number : -0.0)
    case 5: return .string(random.one(of: texts) + random.one(of: texts))
    case 6, 7: return .array(random.some(4) { value(&$0, depth: depth + 1) })
    default:
      var members = JSON.Members()
      for index in 0..<random.below(16) {
        members.add("\(index)" + random.one(of: texts), value(&random, depth: depth + 1))
      }
      return .object(members)
    }
  }

  @Test("Any value is written and read again bit for bit, on one line or on several")
  func jsonValuesRoundTripExactly() {
    var random = SeededGenerator(seed: 2)
    var faults: [String] = []
    for _ in 0..<5_000 {
      let value = value(&random)
      let bytes = value.bytes
      let back = try? JSON(parsing: bytes)
      let indented = try? JSON(parsing: Array(value.indented.utf8))
      if back != value || back?.bytes != bytes || indented != value {
        faults.append(value.text)
      }
    }
    #expect(faults.isEmpty, "\(faults.prefix(3))")
  }

  @Test("Values are equal when they are written alike, and otherwise not")
  func valuesAreEqualWhenWrittenAlike() {
    let values: [JSON] = [
      .null, .bool(true), .bool(false), .integer(Int64(0)), .number(0), .number(-0.0), .integer(1),
      .number(1), .string(""), .string("1"), .string("\u{E9}"), .string("e\u{301}"), .array([]),
      .array([.null]), .members([:]), .members(["a": .null]), .members(["b": .null]),
      .members(["\u{E9}": .null]), .members(["e\u{301}": .null]),
      .members(["a": .null, "b": .null]), .members(["b": .null, "a": .null]),
    ]
    var faults: [String] = []
    for (index, first) in values.enumerated() {
      for (other, second) in values.enumerated() where (first == second) != (index == other) {
        faults.append("\(first.text) and \(second.text)")
      }
    }
    #expect(faults.isEmpty, "\(faults)")
  }

  @Test("Numbers may be written as text, but only as numbers are")
  func numbersAsText() {
    let whole: [(JSON, Int64?)] = [
      (.integer(7), 7), (.number(7), 7), (.number(7.5), nil), (.number(1e300), nil),
      (.number(-9_223_372_036_854_775_808), nil), (.number(9_223_372_036_854_775_808), nil),
      (.number(9_007_199_254_740_991), 9_007_199_254_740_991), (.number(1e18), nil),
      (.number(9_007_199_254_740_991), 1 << 53 - 1), (.number(-9_007_199_254_740_991), 1 - 1 << 53),
      (.number(9_007_199_254_740_992), nil), (.number(-9_007_199_254_740_992), nil),
      (.number(9_007_199_254_740_994), nil),
      (.string("9223372036854775807"), .max), (.string("9223372036854775808"), nil),
      (.string("7.0"), nil), (.string(" 7"), nil), (.string(""), nil), (.string("0x7"), nil),
      (.bool(true), nil), (.null, nil), (.array([.integer(7)]), nil),
    ]
    let real: [(JSON, Double?)] = [
      (.integer(7), 7), (.number(-0.0), -0.0), (.string("1e300"), 1e300), (.string("-0.0"), -0.0),
      (.string("1e400"), nil), (.string("nan"), nil), (.string("inf"), nil), (.string("-inf"), nil),
      (.string("infinity"), nil), (.string("NaN(5)"), nil), (.string("0x10"), nil),
      (.string("0X10"), nil), (.string("0x1p3"), nil), (.string("0X1P3"), nil), (.string(""), nil),
      (.string(" 1"), nil), (.string("1 "), nil), (.string("1\u{0}"), nil), (.bool(false), nil),
    ]
    let wrong =
      whole.filter { $0.0.integer != $0.1 }.map { "\($0.0.text): \($0.0.integer as Any)" }
      + real.filter { $0.0.double?.bitPattern != $0.1?.bitPattern }.map {
        "\($0.0.text): \($0.0.double as Any)"
      }
    #expect(wrong.isEmpty, "\(wrong)")
  }
}
