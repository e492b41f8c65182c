import CloudSync
import Foundation
import Records
import Testing

@Suite("Records: what values are read as")
struct RecordCastTests {
  private func stored(_ value: any CKRecordValueProtocol) -> Any? {
    let record = CKRecord(recordType: "T")
    record["k"] = value
    return record["k"]
  }

  /// Proves CS-9.
  @Test("A number is read as every number type that can hold it")
  func numberIsReadAsEveryFittingType() {
    let three: [any CKRecordValueProtocol] = [
      3, Int8(3), Int16(3), Int32(3), Int64(3), UInt(3), UInt8(3), UInt16(3), UInt32(3),
      UInt64(3), 3.0, Float(3), NSNumber(value: 3), NSNumber(value: 3.0),
    ]
    for value in three {
      let read = stored(value)
      let isRead =
        read as? Int == 3 && read as? Int64 == 3 && read as? Int32 == 3 && read as? UInt8 == 3
        && read as? UInt == 3 && read as? Double == 3 && read as? Float == 3
        && read as? NSNumber == 3 && read as? Bool == nil
        && read as? String == nil
      if !isRead { Issue.record("\(type(of: value)) was read as \(type(of: read))") }
    }
    for value: any CKRecordValueProtocol in [true, NSNumber(value: true), 1, 1.0] {
      if stored(value) as? Bool != true { Issue.record("\(type(of: value)) is not true") }
    }
    #expect(stored(0.5) as? Int == nil && stored(-1) as? UInt8 == nil)
    #expect(stored(300) as? UInt8 == nil && stored(false) as? Bool == false)
  }

  @Test("Lists are read as Swift arrays of each type, as NSArray and as arrays of Any")
  func listsAreReadAsArraysOfEachType() {
    let id = CKRecord.ID(recordName: "r")
    let reference = CKRecord.Reference(recordID: id, action: .deleteSelf)
    let date = Date(timeIntervalSinceReferenceDate: 0.1)
    let place = CLLocation(latitude: 1, longitude: 2)
    #expect(stored(["a", ""]) as? [String] == ["a", ""])
    #expect(stored(["a"] as NSArray) as? [NSString] == ["a"])
    #expect(stored([1, 0]) as? [Bool] == [true, false] && stored([1, 2]) as? [Bool] == nil)
    #expect(stored([1, 2]) as? [Double] == [1, 2] && stored([1.0, 2]) as? [Int] == [1, 2])
    #expect(stored([date]) as? [Date] == [date] && stored([date]) as? [NSDate] == [date as NSDate])
    #expect(stored([Data([1])]) as? [Data] == [Data([1])])
    #expect(stored([reference]) as? [CKRecord.Reference] == [reference])
    #expect(stored([place]) as? [CLLocation] == [place])
    for value: any CKRecordValueProtocol in [[date], ["a"], [1], [reference]] {
      let read = stored(value)
      let isRead = (read as? NSArray)?.count == 1 && (read as? [Any])?.count == 1
      if !isRead { Issue.record("\(value)") }
    }
    let mixed = CKRecord(recordType: "T")
    mixed["k"] = [1, 2.5] as [NSNumber]
    mixed["large"] = [NSNumber(value: Int64.max), 0.5] as [NSNumber]
    #expect(mixed.value.fields["k"] == Field(.list([.double(1), .double(2.5)])))
    #expect(mixed.value.fields["large"] == Field(.list([.int64(.max), .double(0.5)])))
    let empty = stored([String]())
    #expect((empty as? [String]) == [] && (empty as? [Date]) == [] && (empty as? NSArray) == [])
    #expect(stored(["a", "b"] as NSArray) as? [String] == ["a", "b"])
  }

  /// Proves CS-24.
  @Test("key-value coding reads properties and takes wrapped nils")
  func keyValueCoding() {
    let record = CKRecord(recordType: "T", recordID: .init(recordName: "n"))
    record["a"] = 1
    record.setValuesForKeys(["a": Optional<String>.none as Any, "b": Optional("x") as Any])
    #expect(record["a"] == nil && record["b"] as? String == "x")
    record.setValue([1, 2] as [Any], forKey: "list")
    #expect(record["list"] as? [Int] == [1, 2])
    #expect(record.value(forKey: "recordType") as? String == "T")
    #expect(record.value(forKey: "recordID") as? CKRecord.ID == record.recordID)
    #expect(record.value(forKey: "creationDate") == nil && record.value(forKey: "c") == nil)
    record["recordType"] = "field"
    #expect(record.value(forKey: "recordType") as? String == "field", "a field goes first")
  }
}
