import CloudKit
import Testing

@Suite("Symbols of CKRecord and its values, as apps use them")
struct RecordSymbolTests {
  private let zone = CKRecordZone(zoneID: .init(zoneName: "Items"))

  /// Proves CS-8.
  @Test("Values assigned in every supported form are read back with as?")
  func recordValuesAreReadBackWithCasts() throws {
    let record = CKRecord(recordType: "Item", recordID: .init("1", in: zone))
    record[.title] = "text" as CKRecordValue
    record[.count] = 3
    record["double"] = 2.5
    record["flag"] = true
    record["date"] = Date(timeIntervalSinceReferenceDate: 1.5) as NSDate
    record["data"] = Data([1, 2]) as NSData
    record["number"] = NSNumber(value: 7)
    record["string"] = "bridged" as NSString
    record["list"] = ["a", "b"] as NSArray
    record["numbers"] = [1, 2, 3]
    record["place"] = CLLocation(latitude: 48.1, longitude: 11.6)
    record["other"] = CKRecord.Reference(recordID: .init("2", in: zone), action: .deleteSelf)
    record.setValue("kvc", forKey: "kvc")
    record.setObject("object" as NSString, forKey: "object")
    let optional: String? = nil
    record["nothing"] = optional
    record["gone"] = 1
    record["gone"] = nil
    #expect(record.title == "text" && record[.count] as? Int == 3)
    #expect(record["count"] as? Int64 == 3 && record["count"] as? Double == 3)
    #expect((record["count"] as? NSNumber)?.intValue == 3)
    #expect(record["double"] as? Double == 2.5 && record["flag"] as? Bool == true)
    #expect((record["flag"] as? Int ?? 0) != 0)
    #expect(record["date"] as? Date == Date(timeIntervalSinceReferenceDate: 1.5))
    #expect(record["data"] as? Data == Data([1, 2]) && record["number"] as? Int == 7)
    #expect(record["string"] as? String == "bridged" && record["list"] as? [String] == ["a", "b"])
    #expect(record["numbers"] as? [Int] == [1, 2, 3])
    #expect((record["place"] as? CLLocation)?.coordinate.latitude == 48.1)
    let reference = record["other"] as? CKRecord.Reference
    #expect(reference?.recordID.recordName == "2" && reference?.action == .deleteSelf)
    #expect(record.value(forKey: "kvc") as? String == "kvc")
    #expect(record.object(forKey: "object") as? String == "object")
    #expect(record["nothing"] == nil && !record.allKeys().contains("gone"))
    #expect(record.changedKeys().contains("gone"))
    let typed: String? = record["string"]
    let count: Int = record["count"] ?? 0
    #expect(typed == "bridged" && count == 3)
    let any: any CKRecordValueProtocol = "x"
    record["any"] = any
    #expect(record["any"] as? String == "x")
    record.encryptedValues["secret"] = "s"
    #expect(record.encryptedValues["secret"] as? String == "s" && record["secret"] == nil)
    var seen: [String] = []
    for (key, _) in record { seen.append(key) }
    #expect(Set(seen).isSuperset(of: ["title", "count"]))
    #expect(record.allTokens().contains("text"))
  }

  /// Proves E6.
  @Test("A record keeps its dates, users, tags and parents through the server and an archive")
  func recordRoundTripKeepsSystemFields() async throws {
    let database = container("phone", "iCloud.record-symbols").privateCloudDatabase
    try await database.save(zone)
    let parent = CKRecord(recordType: "List", recordID: .init("list", in: zone))
    let child = CKRecord(recordType: "Item", recordID: .init("item", in: zone))
    child.setParent(parent)
    child.title = "child"
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try Data("file".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    child["file"] = CKAsset(fileURL: file)
    let results = try await database.modifyRecords(
      saving: [parent, child], deleting: [], savePolicy: .ifServerRecordUnchanged,
      atomically: true)
    let saved = try #require(try results.saveResults[child.recordID]?.get())
    #expect(saved.recordChangeTag != nil && saved.creationDate != nil)
    #expect(saved.modificationDate != nil && saved.parent?.recordID == parent.recordID)
    #expect(saved.creatorUserRecordID != nil && saved.lastModifiedUserRecordID != nil)
    #expect(saved.share == nil && saved.changedKeys().isEmpty)
    let fetched = try await database.record(for: child.recordID)
    let content = try Data(contentsOf: try #require((fetched["file"] as? CKAsset)?.fileURL))
    #expect(content == Data("file".utf8))
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    fetched.encodeSystemFields(with: archiver)
    archiver.finishEncoding()
    let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
    unarchiver.requiresSecureCoding = true
    let bare = try #require(CKRecord(coder: unarchiver))
    unarchiver.finishDecoding()
    #expect(bare.recordChangeTag == fetched.recordChangeTag && bare.allKeys().isEmpty)
    bare.title = "again"
    try await database.save(bare)
    let whole = try NSKeyedArchiver.archivedData(withRootObject: bare, requiringSecureCoding: true)
    let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: whole)
    #expect(read?.title == "again")
    let copy = try #require(bare.copy() as? CKRecord)
    #expect(copy.recordID == bare.recordID && copy !== bare)
    let known: [CKRecord.ID: CKRecord] = [bare.recordID: bare]
    let zones: Set<CKRecordZone.ID> = [zone.zoneID, .default, CKRecordZone.default().zoneID]
    #expect(known[copy.recordID] === bare && zones.count == 2)
    #expect(zone.zoneID.ownerName == CKCurrentUserDefaultName)
    #expect(CKRecord.SystemType.userRecord == "Users")
  }
}
