import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import Testing

/// Values come back to the bit: from the object, from its archive, and from the server.
@Suite("Records: exactness")
struct RecordExactnessTests {
  private static let texts = [
    "", "e\u{301}", "\u{e9}", "\u{1}\u{7f}\u{0}x", "\u{feff}bom", "👨‍👩‍👧", "\u{1112}\u{1161}\u{11ab}",
    "line\r\nline\u{2028}", "\u{10ffff}\u{fffe}",
  ]
  private static let doubles: [Double] = [
    0, -0.0, 0.1, .leastNonzeroMagnitude, -.leastNormalMagnitude, .greatestFiniteMagnitude,
    .infinity, -.infinity, .nan, 1.0.nextUp, 780_376_728.161,
  ]
  private static let integers: [Int64] = [0, -1, .min, .max, 1 << 53 + 1]
  private static let times: [Double] = [
    0, -0.000_001, 780_376_728.161_000_01, 1e-300, -63_114_076_800, 64_092_211_200,
  ]

  private static func fill(_ record: any CKRecordKeyValueSetting) {
    for (index, text) in texts.enumerated() { record["text\(index)"] = text }
    for (index, number) in doubles.enumerated() { record["double\(index)"] = number }
    for (index, number) in integers.enumerated() { record["integer\(index)"] = number }
    for (index, time) in times.enumerated() {
      record["date\(index)"] = Date(timeIntervalSinceReferenceDate: time)
    }
    record["empty"] = [String]()
    record["emptyData"] = Data()
    record["texts"] = texts
    record["dates"] = times.map { Date(timeIntervalSinceReferenceDate: $0) }
    record["doubles"] = doubles
  }

  private static func faults(_ record: any CKRecordKeyValueSetting) -> [String] {
    var faults: [String] = []
    func check(_ isExact: Bool, _ key: String) { if !isExact { faults.append(key) } }
    func same(_ text: String?, _ expected: String) -> Bool {
      text.map { Array($0.utf8) == Array(expected.utf8) } ?? false
    }
    for (index, text) in texts.enumerated() {
      check(same(record["text\(index)"], text), "text\(index)")
    }
    for (index, number) in doubles.enumerated() {
      let read = record["double\(index)"] as? Double
      check(read?.bitPattern == number.bitPattern, "double\(index)")
    }
    for (index, number) in integers.enumerated() {
      check(record["integer\(index)"] as? Int64 == number, "integer\(index)")
    }
    for (index, time) in times.enumerated() {
      let date = Date(timeIntervalSinceReferenceDate: time)
      check(record["date\(index)"] as? Date == date, "date\(index)")
    }
    check((record["empty"] as? [String])?.isEmpty == true, "empty")
    check(record["emptyData"] as? Data == Data(), "emptyData")
    let list = record["texts"] as? [String] ?? []
    check(list.count == texts.count && zip(list, texts).allSatisfy(same), "texts")
    let dates = record["dates"] as? [Date]
    check(dates == times.map { Date(timeIntervalSinceReferenceDate: $0) }, "dates")
    let bits = (record["doubles"] as? [Double])?.map(\.bitPattern)
    check(bits == doubles.map(\.bitPattern), "doubles")
    return faults
  }

  /// Proves CS-25.
  @Test("Values are exact to the bit in the object, a copy, an archive and on another device")
  func valuesSurviveCopyArchiveAndSync() async throws {
    let server = LoopbackServer()
    func database(_ device: String) -> CKDatabase {
      let transport = server.device(device, signedInAs: "alice")
      return CKContainer(identifier: "iCloud.t", transport: transport).privateCloudDatabase
    }
    let zone = try await database("phone").save(CKRecordZone(zoneName: "Z"))
    for isEncrypted in [false, true] {
      func side(_ record: CKRecord) -> any CKRecordKeyValueSetting {
        if isEncrypted { return record.encryptedValues }
        return record
      }
      let id = CKRecord.ID(recordName: isEncrypted ? "e" : "p", zoneID: zone.zoneID)
      let record = CKRecord(recordType: isEncrypted ? "E" : "P", recordID: id)
      Self.fill(side(record))
      // The server takes no empty list for a field it does not know yet.
      side(record)["empty"] = ["first"]
      _ = try await database("phone").save(record)
      side(record)["empty"] = [String]()
      #expect(Self.faults(side(record)) == [])
      let saved = try await database("phone").save(record)
      #expect(Self.faults(side(saved)) == [], "the record that the save gave back")
      let data = try NSKeyedArchiver.archivedData(
        withRootObject: record, requiringSecureCoding: true)
      let archived = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: data)
      #expect(Self.faults(side(try #require(archived))) == [], "the archive")
      #expect(Self.faults(side(try #require(record.copy() as? CKRecord))) == [], "the copy")
      let fetched = try await database("laptop").record(for: id)
      #expect(Self.faults(side(fetched)) == [], "the other device")
    }
  }

  /// Proves SC-42.
  @Test("The modification date grows with each save and stays exact in an archive")
  func modificationDateGrowsWithEachSave() async throws {
    // A clock that stands still: the server must still tell the saves apart.
    let server = LoopbackServer(clock: { Timestamp(secondsSinceReferenceDate: 800_000_000) })
    let transport = server.device("phone", signedInAs: "alice")
    let database = CKContainer(identifier: "iCloud.t", transport: transport).privateCloudDatabase
    let zone = try await database.save(CKRecordZone(zoneName: "Z"))
    var record = CKRecord(
      recordType: "T", recordID: .init(recordName: "n", zoneID: zone.zoneID))
    var latest = Date.distantPast
    var tags: Set<String> = []
    for round in 0..<50 {
      record["n"] = round
      record = try await database.save(record)
      let date = try #require(record.modificationDate)
      if date <= latest { Issue.record("save \(round) was at \(date), not after \(latest)") }
      latest = date
      tags.insert(try #require(record.recordChangeTag))
      let archiver = NSKeyedArchiver(requiringSecureCoding: true)
      record.encodeSystemFields(with: archiver)
      archiver.finishEncoding()
      let decoded = CKRecord(coder: try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData))
      #expect(decoded?.modificationDate == date && decoded?.creationDate == record.creationDate)
    }
    #expect(tags.count == 50)
    let fetched = try await database.record(for: record.recordID)
    #expect(fetched.modificationDate == latest && fetched.creationDate == record.creationDate)
  }
}
