import CloudProtocol
import Foundation
import Records
import Testing

@testable import WebServices

@Suite("Forms of texts and numbers, at their bounds")
struct TextFormTests {
  @Test("The plain characters of a text are counted up to the first one that is not")
  func plainCharactersAreCounted() {
    func count(_ bytes: [UInt8], from start: Int = 0) -> Int {
      bytes.withUnsafeBufferPointer { PlainText.count(in: $0, from: start) }
    }
    for byte in UInt8.min...(.max) {
      let isPlain = (0x20..<0x7F).contains(byte) && byte != 0x22 && byte != 0x5C
      for place in 0..<19 {
        var bytes = [UInt8](repeating: 0x61, count: 20)
        bytes[place] = byte
        #expect(count(bytes) == (isPlain ? 20 : place), "\(byte) at \(place)")
        #expect(
          count(bytes, from: 3) == (isPlain || place < 3 ? 17 : place - 3), "\(byte) \(place)")
        bytes[19] = 0x22
        #expect(count(bytes) == (isPlain ? 19 : place), "\(byte) at \(place)")
      }
    }
    #expect(count([]) == 0 && count([0x61], from: 1) == 0)
  }

  @Test("Base64 has one form of each content, and no other text is read")
  func base64HasOneForm() {
    for length in 0..<40 {
      let content = (0..<length).map { UInt8(truncatingIfNeeded: $0 * 91 + length) }
      var text: [UInt8] = [0x78]
      Base64.write(content, to: &text)
      #expect(Data(text.dropFirst()) == Data(content).base64EncodedData())
      let found = Array(text.dropFirst()).withUnsafeBufferPointer { Base64.read($0) }
      #expect(found == content)
    }
    for (text, content) in [
      ("", []), ("AA==", [0]), ("AB==", nil), ("/w==", [255]), ("AAA=", [0, 0]), ("AAB=", nil),
      ("AAAA", [0, 0, 0]), ("A===", nil), ("====", nil), ("A", nil), ("AAAAA", nil), ("A=AA", nil),
      ("AA==AAAA", nil), ("A-AA", nil), ("A AA", nil), ("+/+/", [251, 255, 191]),
    ] as [(String, [UInt8]?)] {
      let found = Array(text.utf8).withUnsafeBufferPointer { Base64.read($0) }
      #expect(found == content, "'\(text)'")
    }
  }

  @Test("Numbers below 2 to the power of 53 are whole, and no others")
  func wholeNumbersAreExact() {
    let largest: Double = 9_007_199_254_740_992
    for (number, whole) in [
      (largest - 1, 1 << 53 - 1), (1 - largest, 1 - 1 << 53), (largest, nil), (-largest, nil),
      (largest + 2, nil), (-largest - 2, nil),
      (0.5, nil), (-3, -3),
    ] as [(Double, Int64?)] {
      #expect(JSON.number(number).integer == whole, "\(number)")
      let seconds = (number - 978_307_200_000) / 1000
      let time = Timestamp(secondsSinceReferenceDate: seconds)
      if number.magnitude > largest { #expect(Notation.wholeMilliseconds(time) == nil) }
    }
    for milliseconds in [0, 1, -1, 978_307_200_000, 1_700_000_000_123] as [Int64] {
      let time = Notation.time(milliseconds: milliseconds)
      #expect(Notation.milliseconds(time) == milliseconds)
      #expect(Notation.exactTime(milliseconds: milliseconds) == time)
      #expect(time.secondsSinceReferenceDate == Double(milliseconds - 978_307_200_000) / 1000)
    }
    let infinite = Timestamp(secondsSinceReferenceDate: .infinity)
    #expect(Notation.milliseconds(infinite) == 0 && Notation.exactTime(milliseconds: .max) == nil)
    for (text, integer, double) in [
      ("12", 12, 12), ("-1.5", nil, -1.5), ("1e3", nil, 1000), ("+2", 2, 2), ("0x1", nil, nil),
      ("inf", nil, nil), ("1e999", nil, nil), ("", nil, nil),
    ] as [(String, Int64?, Double?)] {
      #expect(JSON.string(text).integer == integer && JSON.string(text).double == double, "\(text)")
    }
  }

  @Test("JSON on several lines is indented by two spaces, and empty values are on one line")
  func indentedJSONHasTwoSpaces() {
    let value = JSON.members([
      "a": .array([.integer(1), .members(["b": .null, "c": .bool(true)]), .array([])]),
      "d": .members([:]), "e": .string("x"),
    ])
    #expect(
      value.indented == """
        {
          "a": [
            1,
            {
              "b": null,
              "c": true
            },
            []
          ],
          "d": {},
          "e": "x"
        }
        """)
    #expect(value.text == #"{"a":[1,{"b":null,"c":true},[]],"d":{},"e":"x"}"#)
  }

  @Test("Members of one name are refused in objects of any size")
  func repeatedNamesAreRefused() {
    for count in [1, 2, 11, 12, 13, 14, 30] {
      let names = (0..<count).map { #""n\#($0)":1"# }
      let unique = "{\(names.joined(separator: ","))}"
      #expect((try? JSON(parsing: Array(unique.utf8)))?.members?.elements.count == count)
      for repeated in [names[0], names[count - 1]] {
        let text = "{\((names + [repeated]).joined(separator: ","))}"
        #expect(throws: JSONParsingError.self, "\(count)") { try JSON(parsing: Array(text.utf8)) }
      }
    }
  }

  @Test("Messages show the beginning of what they are about")
  func messagesShowBeginnings() {
    let long = String(repeating: "w", count: 100)
    let unknown = CloudError.unknown(long, "type", ["a", "b"]).message
    #expect(
      unknown == "the type '\(long.prefix(24))' is unknown; it must be one of a, b")
    #expect(
      CloudError.malformed("no", ofRecord: long).message == "no. Record '\(long.prefix(64))'.")
    #expect(CloudError.malformed("no.", ofRecord: "r").message == "no. Record 'r'.")
    #expect(CloudError.malformed("no.", inField: "f").message == "no. Field 'f'.")
    #expect(CloudError.malformed("no", inField: "f").message == "no. Field 'f'.")
    for (url, name) in [
      ("https://host/share/0aBc#title", "0aBc"), ("https://host/share/0aBc?x=1", "0aBc"),
      ("0aBc", "0aBc"), ("a/", "a"), ("", ""), ("/", "/"),
    ] {
      #expect(Notation.shortName(ofShare: url) == name, "\(url)")
    }
  }
}
