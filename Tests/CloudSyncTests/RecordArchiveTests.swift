import CloudProtocol
import CloudSync
import Foundation
import Records
import Testing

@Suite("Records: archives")
struct RecordArchiveTests {
  private func full() -> CKRecord {
    let stamp = RecordStamp(
      time: Timestamp(secondsSinceReferenceDate: 0.1), user: UserID("_u"), device: "d")
    let zone = ZoneID(name: "Z", owner: "_o")
    let record = CKRecord(
      Record(
        id: RecordID(name: "n", zone: zone), type: "Note", changeTag: ChangeTag("t"),
        fields: ["old": .string("1")], parent: RecordID(name: "p", zone: zone),
        share: RecordID(name: "s", zone: zone), created: stamp, modified: stamp))
    record["text"] = "e\u{301}"
    record["list"] = [1, 2]
    record["asset"] = CKAsset(fileURL: URL(fileURLWithPath: "/tmp/x"))
    record.encryptedValues["secret"] = Double.nan
    record["old"] = nil
    return record
  }

  private func systemFields(_ record: CKRecord) -> Data {
    let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    record.encodeSystemFields(with: archiver)
    archiver.finishEncoding()
    return archiver.encodedData
  }

  /// Proves CS-16, CS-17, E5.
  @Test("system fields: everything but the fields comes back, and nothing is changed")
  func systemFieldsRoundTrip() throws {
    let record = full()
    let unarchiver = try NSKeyedUnarchiver(forReadingFrom: systemFields(record))
    unarchiver.requiresSecureCoding = true
    let decoded = try #require(CKRecord(coder: unarchiver))
    unarchiver.finishDecoding()
    var expected = record.value
    expected.fields = Fields()
    #expect(decoded.value == expected)
    #expect(decoded.changedKeys().isEmpty && decoded.allKeys().isEmpty)
    decoded["text"] = "new"
    #expect(decoded.pendingSave().changeTag == ChangeTag("t"))
    #expect(decoded.pendingSave().changes.map(\.key) == ["text"])
  }

  @Test("system fields: a parent that was set and not saved is saved with the decoded record")
  func systemFieldsKeepUnsavedParent() throws {
    let parent = RecordID(name: "p", zone: .default)
    let new = CKRecord(recordType: "Note")
    new.setParent(CKRecordID(parent))
    let moved = full()
    moved.setParent(nil as CKRecord?)
    for (record, expected) in [(new, parent), (moved, nil)] {
      let decoded = try #require(
        CKRecord(coder: try NSKeyedUnarchiver(forReadingFrom: systemFields(record))))
      #expect(decoded.value.parent == expected)
      #expect(decoded.pendingSave().parent == .set(expected))
      #expect(decoded.changedKeys().isEmpty)
    }
    let unchanged = CKRecord(coder: try NSKeyedUnarchiver(forReadingFrom: systemFields(full())))
    #expect(unchanged?.pendingSave().parent == .keep)
  }

  /// Proves CS-18.
  @Test("a whole record comes back with its unsaved changes")
  func wholeRoundTrip() throws {
    let record = full()
    record.setParent(nil as CKRecord?)
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: record, requiringSecureCoding: true)
    let decoded = try #require(
      try NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: data))
    #expect(decoded.value == record.value)
    #expect(decoded.changedKeys() == record.changedKeys())
    #expect(decoded.pendingSave() == record.pendingSave())
    #expect(decoded.ancestor?.value == record.ancestor?.value)
  }

  @Test("equal records write equal bytes, in whatever order they were changed")
  func equalRecordsWriteEqualBytes() throws {
    let keys = (1...20).map { "key\($0)" }
    let bytes = [keys, keys.reversed(), keys.shuffled()].map { keys in
      let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
      for key in keys { record[key] = key }
      let coder = BytesCoder()
      record.encode(with: coder)
      return coder.data
    }
    #expect(Set(bytes).count == 1 && !bytes[0].isEmpty)
  }

  /// Proves CS-35.
  @Test("Every other class is equal after archiving, also inside collections")
  func otherClassesSurviveArchive() throws {
    let zoneID = CKRecordZone.ID(zoneName: "Z", ownerName: "_o")
    let recordID = CKRecord.ID(recordName: "n", zoneID: zoneID)
    let token = CKServerChangeToken(ChangeToken(bytes: [1, 2, 3]))
    let asset = CKAsset(Asset(checksum: "ab", size: 2, receipt: "r", location: "file:///tmp/x"))
    #expect(try roundTrip(zoneID) == zoneID)
    #expect(try roundTrip(recordID) == recordID)
    #expect(try roundTrip(token) == token)
    #expect(try roundTrip(asset) == asset)
    let reference = CKRecord.Reference(recordID: recordID, action: .deleteSelf)
    #expect(try roundTrip(reference) == reference)
    let location = CLLocation(latitude: 1, longitude: 2)
    #expect(try roundTrip(location) == location)
    let zone = CKRecordZone(Zone(id: zoneID.value, capabilities: .custom, share: recordID.value))
    #expect(try roundTrip(zone).value == zone.value)
    let group = CKOperationGroup()
    group.name = "g"
    group.quantity = 3
    group.expectedSendSize = .megabytes
    group.expectedReceiveSize = .gigabytes
    let decodedGroup = try roundTrip(group)
    #expect(decodedGroup.operationGroupID == group.operationGroupID)
    #expect(decodedGroup.name == "g" && decodedGroup.quantity == 3)
    #expect(decodedGroup.expectedSendSize == .megabytes)
    #expect(decodedGroup.expectedReceiveSize == .gigabytes)
    #expect(try roundTrip(CKOperationGroup()).name == nil)
    let tokens = NSDictionary(dictionary: ["a": token])
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: tokens, requiringSecureCoding: true)
    let decoded = try NSKeyedUnarchiver.unarchivedObject(
      ofClasses: [NSDictionary.self, NSString.self, CKServerChangeToken.self], from: data)
    #expect((decoded as? [String: CKServerChangeToken])?["a"] == token)
  }

  /// Proves CS-102.
  @Test("An archived subscription keeps all its settings")
  func archivedSubscriptionKeepsSettings() throws {
    let zoneID = CKRecordZone.ID(zoneName: "Z", ownerName: "_o")
    let subscription = CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: "s")
    subscription.recordType = "Note"
    subscription.notificationInfo = CKSubscription.NotificationInfo(
      alertBody: "hello", titleLocalizationArgs: ["a", "b"], soundName: "ping",
      desiredKeys: ["k"], shouldSendContentAvailable: true)
    let decoded = try roundTrip(subscription)
    #expect(decoded.value == subscription.value)
    #expect(decoded.zoneID == zoneID && decoded.recordType == "Note")
    let info = try #require(decoded.notificationInfo)
    #expect(info.alertBody == "hello" && info.titleLocalizationArgs == ["a", "b"])
    #expect(info.soundName == "ping" && info.desiredKeys == ["k"] && !info.shouldBadge)
    #expect(try roundTrip(info).value == info.value)
    let copy = try #require(subscription.copy() as? CKRecordZoneSubscription)
    #expect(copy.value == subscription.value && copy !== subscription)
    let database = CKDatabaseSubscription(subscriptionID: "d")
    #expect(try roundTrip(database).value == database.value)
    #expect(database.subscriptionType == .database && database.notificationInfo == nil)
  }

  /// Proves CS-20, I20.
  @Test("A damaged archive gives nil, wherever the damage is")
  func damagedArchiveGivesNil() throws {
    for isWhole in [true, false] {
      let coder = BytesCoder()
      if isWhole { full().encode(with: coder) } else { full().encodeSystemFields(with: coder) }
      let bytes = coder.data
      #expect(CKRecord(coder: BytesCoder(bytes)) != nil, "the undamaged one is read")
      for index in bytes.indices {
        for bit in 0..<8 {
          var damaged = bytes
          damaged[index] ^= 1 << UInt8(bit)
          let decoded = CKRecord(coder: BytesCoder(damaged))
          if decoded != nil { Issue.record("bit \(bit) of byte \(index) went unnoticed") }
        }
        let decoded = CKRecord(coder: BytesCoder(bytes.prefix(index)))
        if decoded != nil { Issue.record("the loss of all from byte \(index) went unnoticed") }
      }
    }
    let empty = NSKeyedArchiver(requiringSecureCoding: true)
    empty.finishEncoding()
    #expect(CKRecord(coder: try NSKeyedUnarchiver(forReadingFrom: empty.encodedData)) == nil)
    #expect(CKServerChangeToken(coder: BytesCoder(Data([1, 2, 3, 4, 5, 6]))) == nil)
  }

  private func roundTrip<Object: NSObject & NSSecureCoding>(_ object: Object) throws -> Object {
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: object, requiringSecureCoding: true)
    return try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data))
  }
}

/// A coder that holds one run of bytes, to put damage exactly where a record's own bytes are.
private final class BytesCoder: NSCoder {
  var data: Data

  init(_ data: Data = Data()) { self.data = Data(data) }

  override var allowsKeyedCoding: Bool { false }
  override func encode(_ data: Data) { self.data = data }
  override func decodeData() -> Data? { data }
}
