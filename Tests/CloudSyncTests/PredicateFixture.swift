import CloudSync
import Foundation
import Records

/// The records that the predicate tests filter, and short ways to read them.
enum PredicateFixture {
  static let names = ["Ada", "Bert", "Çelik", "dora", "Émile", "O'Neil", "a \"b\" \\c", "Adam"]
  static let tags = [["red"], ["red", "blue"], ["green", "bluish", "rot"], []]
  static let notes = [
    "The quick brown fox", "a lazy Dog sleeps", "Crème brûlée for the fox", "FOX and dog",
  ]

  static func date(_ index: Int) -> Date {
    Date(timeIntervalSinceReferenceDate: 700_000_000 + Double(index) * 1000)
  }

  static func owner(_ index: Int) -> CKRecord.ID { CKRecord.ID(recordName: "owner\(index % 4)") }

  static func place(_ index: Int) -> CLLocation {
    CLLocation(latitude: 48 + Double(index) / 100, longitude: 2)
  }

  /// 48 records of many shapes; each fifth lacks the field `note`.
  static let records: [CKRecord] = (0..<48).map { index in
    var stored = Record(id: RecordID(name: "r\(index)", zone: .default), type: "Item")
    stored.created = RecordStamp(
      time: Timestamp(secondsSinceReferenceDate: date(index).timeIntervalSinceReferenceDate),
      user: UserID("_user\(index % 3)"))
    stored.modified = stored.created
    let record = CKRecord(stored)
    record["name"] = names[index % 8]
    record["n"] = index - 10
    record["score"] = Double(index) * 0.5
    record["done"] = index % 3 == 0
    record["when"] = date(index * 7 % 48)
    record["tags"] = tags[index % 4]
    record["numbers"] = [index, index + 1]
    record["place"] = place(index)
    record["owner"] = CKRecord.Reference(recordID: owner(index), action: .none)
    record["raw"] = Data([UInt8(index)])
    record["in"] = index % 2
    record["first_Name2"] = "n\(index % 6)"
    if index % 5 != 0 { record["note"] = notes[index % 4] }
    return record
  }
}

extension CKRecord {
  func text(_ key: String) -> String? { self[key] as? String }
  func int(_ key: String) -> Int { self[key] as? Int ?? .min }
  func double(_ key: String) -> Double { self[key] as? Double ?? .nan }
  func date(_ key: String) -> Date { self[key] as? Date ?? .distantPast }
  func list(_ key: String) -> [String] { self[key] as? [String] ?? [] }
  var number: Int { int("n") + 10 }
  var owner: String? { (self["owner"] as? CKRecord.Reference)?.recordID.recordName }
}

/// A format with its arguments, and the same said by hand.
struct PredicateCase {
  var format: String
  var arguments: [Any]
  var holds: (CKRecord) -> Bool

  init(_ format: String, _ arguments: Any..., holds: @escaping (CKRecord) -> Bool) {
    self.format = format
    self.arguments = arguments
    self.holds = holds
  }

  var predicate: NSPredicate { NSPredicate(format: format, argumentArray: arguments) }

  func expected() -> [String] {
    PredicateFixture.records.filter(holds).map(\.recordID.recordName)
  }
}
