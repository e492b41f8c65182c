import CloudSync
import Foundation
import Records
import Testing

@Suite("Records: values")
struct RecordValueTests {
  private func stored(_ value: any CKRecordValueProtocol) -> CKRecord {
    let record = CKRecord(recordType: "Note")
    record["key"] = value
    return record
  }

  /// Proves CS-8.
  @Test("Each kind of value becomes the matching kind of field")
  func valuesBecomeMatchingFieldKinds() {
    let location = CLLocation(latitude: 1.5, longitude: -2.5)
    let target = CKRecord.ID(recordName: "target")
    let url = URL(fileURLWithPath: "/tmp/a file ü.bin")
    let table: [(any CKRecordValueProtocol, FieldValue)] = [
      ("text", .string("text")),
      ("text" as NSString, .string("text")),
      (true, .int64(1)), (false, .int64(0)),
      (NSNumber(value: true), .int64(1)),
      (7, .int64(7)), (Int64.min, .int64(.min)), (Int8(-1), .int64(-1)), (UInt8(255), .int64(255)),
      (Int16(-3), .int64(-3)), (UInt16(3), .int64(3)), (Int32(-4), .int64(-4)),
      (UInt32(4), .int64(4)), (UInt(5), .int64(5)), (UInt64(6), .int64(6)),
      (NSNumber(value: Int64.max), .int64(.max)),
      (7.0, .double(7)), (0.1, .double(0.1)), (Float(0.5), .double(0.5)),
      (NSNumber(value: 7.0), .double(7)), (NSNumber(value: Float(0.25)), .double(0.25)),
      (Date(timeIntervalSinceReferenceDate: 0.1), .date(.init(secondsSinceReferenceDate: 0.1))),
      (
        NSDate(timeIntervalSinceReferenceDate: 0.1),
        .date(.init(secondsSinceReferenceDate: 0.1))
      ),
      (Data([0, 255]), .bytes([0, 255])), (NSData(data: Data([1])), .bytes([1])),
      (
        CKRecord.Reference(recordID: target, action: .deleteSelf),
        .reference(
          .init(target: .init(name: "target", zone: .default), action: .deleteSelf))
      ),
      (
        CKAsset(fileURL: url),
        .asset(.init(checksum: "", size: 0, location: url.absoluteString))
      ),
      (location, .location(location.value)),
      (["a", "b"], .list([.string("a"), .string("b")])),
      ([1, 2], .list([.int64(1), .int64(2)])), ([1.0], .list([.double(1)])),
      ([String](), .list([])),
      (NSArray(array: ["a", NSNumber(value: 2)]), .list([.string("a"), .int64(2)])),
      ([Data([1])], .list([.bytes([1])])),
    ]
    for (value, expected) in table {
      #expect(
        stored(value).value.fields["key"]?.value == expected, "\(type(of: value)) \(value)")
    }
  }

  /// Proves CS-9.
  @Test("Numbers can be cast to every number type that holds them, as with CloudKit")
  func numbersCastToEveryFittingType() {
    let one = stored(1)
    let casts: [(String, Bool)] = [
      ("Int", one["key"] as? Int == 1), ("Int64", one["key"] as? Int64 == 1),
      ("Int32", one["key"] as? Int32 == 1), ("UInt8", one["key"] as? UInt8 == 1),
      ("Double", one["key"] as? Double == 1), ("Float", one["key"] as? Float == 1),
      ("Bool", one["key"] as? Bool == true),
      ("NSNumber", one["key"] as? NSNumber == NSNumber(value: 1)),
      ("no String", one["key"] as? String == nil), ("no Date", one["key"] as? Date == nil),
      ("2 is no Bool", stored(2)["key"] as? Bool == nil),
      ("0.5 is no Int", stored(0.5)["key"] as? Int == nil),
      ("2.0 is Int", stored(2.0)["key"] as? Int == 2),
      ("0.5 is Double", stored(0.5)["key"] as? Double == 0.5),
      ("largest", stored(Int64.max)["key"] as? Int64 == .max),
      ("smallest", stored(Int64.min)["key"] as? Int64 == .min),
    ]
    for (name, holds) in casts { #expect(holds, "\(name)") }
    let typed: Int? = one["key"]
    let missing: Int? = one["other"]
    let other: String? = one["key"]
    #expect(typed == 1 && missing == nil && other == nil)
  }

  /// Proves CS-12.
  @Test("Values are read back as the types that apps use")
  func valuesAreReadWithAppTypes() {
    let url = URL(fileURLWithPath: "/tmp/a file ü.bin")
    let reference = CKRecord.Reference(recordID: CKRecord.ID(recordName: "t"), action: .none)
    let date = Date(timeIntervalSince1970: 1_700_000_000.123456)
    let casts: [(String, Bool)] = [
      ("String", stored("x")["key"] as? String == "x"),
      ("NSString", stored("x")["key"] as? NSString == "x" as NSString),
      ("from NSString", stored("x" as NSString)["key"] as? String == "x"),
      ("CKRecordValue", stored("x")["key"].map { $0 as any CKRecordValue } != nil),
      ("Data", stored(Data([1, 2]))["key"] as? Data == Data([1, 2])),
      ("NSData", stored(Data([1, 2]))["key"] as? NSData == NSData(data: Data([1, 2]))),
      ("Date", stored(date)["key"] as? Date == date),
      (
        "NSDate",
        stored(date)["key"] as? NSDate
          == NSDate(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate)
      ),
      ("reference", stored(reference)["key"] as? CKRecord.Reference == reference),
      ("asset", (stored(CKAsset(fileURL: url))["key"] as? CKAsset)?.fileURL == url),
      (
        "location",
        (stored(CLLocation(latitude: 1, longitude: 2))["key"] as? CLLocation)?.coordinate.latitude
          == 1
      ),
      ("[String]", stored(["a", "b"])["key"] as? [String] == ["a", "b"]),
      ("[NSString]", (stored(["a"])["key"] as? [NSString])?.first == "a" as NSString),
      ("[Int]", stored([1, 2])["key"] as? [Int] == [1, 2]),
      ("[Int64]", stored([1, 2])["key"] as? [Int64] == [1, 2]),
      ("[Double]", stored([0.5])["key"] as? [Double] == [0.5]),
      ("[Date]", stored([date])["key"] as? [Date] == [date]),
      ("[Data]", stored([Data([3])])["key"] as? [Data] == [Data([3])]),
      ("[reference]", stored([reference])["key"] as? [CKRecord.Reference] == [reference]),
      ("NSArray", (stored(["a"])["key"] as? NSArray)?.count == 1),
      ("empty list", stored([String]())["key"] as? [String] == []),
      ("empty list as another", stored([String]())["key"] as? [Int] == []),
      ("no list", stored("x")["key"] as? [String] == nil),
    ]
    for (name, holds) in casts { #expect(holds, "\(name)") }
    let typed: [String]? = stored(["a"])["key"]
    #expect(typed == ["a"])
  }

  /// Proves CS-25.
  @Test("Texts, dates and numbers are kept bit for bit")
  func textsDatesAndNumbersStayExact() {
    let texts = ["e\u{301}", "\u{e9}", "", "a\u{0}b", "👩‍👩‍👧", "\u{feff}x", "ﬀ", "\r\n"]
    for text in texts {
      let read = stored(text)["key"] as? String
      let bridged = stored(NSString(string: text))["key"] as? String
      #expect(read.map { Array($0.utf8) } == Array(text.utf8), "\(text.debugDescription)")
      #expect(bridged.map { Array($0.utf8) } == Array(text.utf8), "\(text.debugDescription)")
    }
    let numbers = [
      Double.nan, -.nan, .signalingNaN, -0.0, .infinity, -.infinity, .leastNonzeroMagnitude,
      .greatestFiniteMagnitude, 0.1, 1e300,
    ]
    for number in numbers {
      let direct = stored(number)
      let boxed = stored(NSNumber(value: number))
      #expect(direct.value.fields["key"]?.value == .double(number), "\(number)")
      #expect((direct["key"] as? Double).map { $0 == number || $0.isNaN } == true, "\(number)")
      #expect(
        (boxed["key"] as? Double).map { $0 == number || $0.isNaN } == true, "\(number)")
      let date = Date(timeIntervalSinceReferenceDate: number)
      let read = (stored(date)["key"] as? Date)?.timeIntervalSinceReferenceDate
      #expect(read?.bitPattern == number.bitPattern, "\(number)")
    }
  }

  /// Proves CS-11.
  @Test("Field names follow the grammar")
  func fieldNamesFollowGrammar() {
    let table: [(String, Bool)] = [
      ("a", true), ("A1_b", true), ("a$", true), ("_a", true),
      (String(repeating: "a", count: 255), true), ("cloudkit.title", true),
      ("", false), ("1a", false), ("$a", false), ("a b", false), ("a-b", false), ("a.b", false),
      ("ä", false), ("a\u{301}", false), ("cloudkit.", false),
      (String(repeating: "a", count: 256), false),
    ]
    for (key, isValid) in table { #expect(CKRecord.isValid(key: key) == isValid, "\(key)") }
    #expect(CKRecord(recordType: "Note")["not a key"] == nil, "reading any name is harmless")
  }

  /// Proves CS-10, CS-11, CS-15, CS-22.
  @Test("A field name that breaks the grammar, or a value of a wrong type, stops the process")
  func invalidFieldNameStopsProcess() async {
    await #expect(processExitsWith: .failure) {
      CKRecord(recordType: "Note")["not a key"] = 1
    }
    await #expect(processExitsWith: .failure) {
      CKRecord(recordType: "Note").setValue(UUID(), forKey: "id")
    }
    await #expect(processExitsWith: .failure) {
      CKRecord(recordType: "Note")["list"] = NSArray(array: [NSArray(array: [1])])
    }
    await #expect(processExitsWith: .failure) {
      guard let url = URL(string: "https://example.org/x.png") else { return }
      _ = CKAsset(fileURL: url)
    }
    await #expect(processExitsWith: .failure) {
      let id = CKRecord.ID(recordName: "parent")
      CKRecord(recordType: "Note").parent = CKRecord.Reference(recordID: id, action: .deleteSelf)
    }
    await #expect(processExitsWith: .failure) {
      let url = URL(fileURLWithPath: "/tmp/x")
      CKRecord(recordType: "Note").encryptedValues["file"] = CKAsset(fileURL: url)
    }
  }
}
