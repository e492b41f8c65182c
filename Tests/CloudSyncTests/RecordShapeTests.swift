import CloudSync
import Foundation
import Testing

extension CKRecord.FieldKey {
  fileprivate static let titleKey = "title"
}

extension CKRecord {
  fileprivate func value<Value>(_ key: String, as type: Value.Type = Value.self) -> Value? {
    self[key] as? Value
  }

  fileprivate func typed<Value: CKRecordValueProtocol>(_ key: String) -> Value? { self[key] }
}

/// The ways in which apps spell reads and writes of fields; that they compile is half the test.
@Suite("Records: spellings of apps")
struct RecordShapeTests {
  private let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
  private let absent: String? = nil

  private func writeLiterals() {
    record["title"] = "x"
    record["count"] = 5
    record["flag"] = true
    record["ratio"] = 0.5
    record["tags"] = ["a", "b"]
    record["numbers"] = [1, 2, 3]
    record["nothing"] = nil
    record["sum"] = 1 + 2
    record["negative"] = -5
    record["joined"] = "a" + "b"
    record["choice"] = absent == nil ? 1 : 0
    record["maybe"] = absent == nil ? Date() : nil
    record["coalesced"] = absent ?? ""
    record["noInt"] = nil as Int?
    record[.titleKey] = "z"
  }

  private func writeCasts() {
    record["absent"] = absent
    record["absentCast"] = absent as (any CKRecordValue)?
    record["list"] = Optional(["q"]) as (any CKRecordValue)?
    record["text"] = "x" as NSString
    record["optionalText"] = Optional("x") as NSString?
    record["number"] = 5 as NSNumber
    record["date"] = Date() as NSDate
    record["data"] = Data([1]) as NSData
    record["array"] = ["a"].map { $0 as NSString } as NSArray
    record["cast"] = "x" as any CKRecordValue
    record["wide"] = Int64(5) as any CKRecordValue
    record["bool"] = true as any CKRecordValueProtocol
    record["encoded"] = try? JSONEncoder().encode([1])
    record["references"] = ["a", "b"].map {
      CKRecord.Reference(recordID: CKRecord.ID(recordName: $0), action: .none)
    }
    let values: [String: Any] = ["fromAny": "v", "anyNumber": 5, "anyList": ["a"]]
    for (key, value) in values { record.setValue(value, forKey: key) }
    record["again"] = values["fromAny"] as? any CKRecordValue
    record.setObject(values["anyNumber"] as? any CKRecordValue, forKey: "object")
    record.setObject("n" as NSString, forKey: "objectText")
    record.setObject(nil, forKey: "objectNone")
  }

  @Test("Values are written and read in the forms that apps use")
  func recordValuesSupportAppSyntax() throws {
    writeLiterals()
    writeCasts()
    for key in ["nothing", "noInt", "absent", "absentCast", "objectNone"] {
      #expect(record[key] == nil && record.changedKeys().contains(key), "\(key)")
    }
    let title: String? = record["title"]
    let count: Int = record["count"] ?? 0
    let tags: [String]? = record["tags"]
    let wide: Int64? = record.typed("wide")
    let number: NSNumber? = record["number"]
    let none: String = record["unknown"] ?? "none"
    #expect(title == "z" && count == 5 && tags == ["a", "b"] && wide == 5 && number == 5)
    #expect(none == "none" && record["title"] != nil)
    #expect(record.value("flag") == true && record.value("numbers", as: [Int64].self) == [1, 2, 3])
    #expect((record["unknown"] as? Int ?? record["sum"] as? Int ?? 0) == 3)
    #expect(record["sum"].flatMap { $0 as? Int } == 3)
    #expect((record["title"] as? NSString)?.length == 1 && "\(record["title"] ?? "none")" == "z")
    if let value = record["cast"] { #expect(value as? String == "x") }
    switch record["count"] {
    case let value as Int: #expect(value == 5)
    default: Issue.record("the count is no Int")
    }
    let other = CKRecord(recordType: "Note")
    for key in record.allKeys() { other[key] = record[key] }
    other["title"] = record["title"]
    #expect(other.allKeys() == record.allKeys())
    #expect(other["references"] as? [CKRecord.Reference] == record["references"])
    other["count"] = (other["count"] as? Int ?? 0) + 1
    #expect(other["count"] as? Int == 6)
  }

  @Test("Encrypted values work by literal, cast and existential, also from another task")
  func encryptedValuesSupportAppSyntax() async {
    func write(_ target: any CKRecordKeyValueSetting) {
      target["text"] = "s"
      target["number"] = 5
      let text: String? = target["text"]
      #expect(text == "s" && target["number"] as? Int64 == 5)
    }
    write(record)
    let encrypted = record.encryptedValues
    await Task.detached { encrypted["fromTask"] = "x" }.value
    write(encrypted)
    record.encryptedValues.setObject("o" as NSString, forKey: "object")
    record.encryptedValues["date"] = Date() as any CKRecordValue
    record.encryptedValues["text"] = nil as String?
    let names = ["date", "fromTask", "number", "object"]
    #expect(encrypted.allKeys() == names && record.allKeys().isEmpty)
    #expect(encrypted.changedKeys() == names)
  }
}
