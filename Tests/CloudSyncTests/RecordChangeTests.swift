import CloudProtocol
import CloudSync
import Foundation
import Records
import Testing

@Suite("Records: changes")
struct RecordChangeTests {
  private let id = RecordID(name: "n", zone: ZoneID(name: "Z"))

  private func fetched(_ fields: Fields = ["a": .string("1"), "b": .int64(2)]) -> CKRecord {
    let stamp = RecordStamp(
      time: Timestamp(secondsSinceReferenceDate: 10.5), user: UserID("_user"))
    return CKRecord(
      Record(
        id: id, type: "Note", changeTag: ChangeTag("t1"), fields: fields, created: stamp,
        modified: stamp))
  }

  /// Proves CS-7, CS-14.
  @Test("A new record has no system fields of the server, and a fetched one no changed keys")
  func fetchedRecordHasNoChangedKeys() {
    let new = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
    #expect(
      new.recordChangeTag == nil && new.creationDate == nil && new.modificationDate == nil
        && new.creatorUserRecordID == nil && new.lastModifiedUserRecordID == nil
        && new.share == nil && new.parent == nil)
    #expect(new.recordID.zoneID == CKRecordZone.ID.default && new.recordType == "Note")
    #expect(CKRecord(recordType: "Note").recordID != CKRecord(recordType: "Note").recordID)
    let old = fetched()
    #expect(old.changedKeys().isEmpty && old.allKeys() == ["a", "b"])
    #expect(old.recordChangeTag == "t1" && old.creatorUserRecordID?.recordName == "_user")
    #expect(old.modificationDate == Date(timeIntervalSinceReferenceDate: 10.5))
  }

  /// Proves CS-13, CS-14.
  @Test("Changed keys include keys set, set again and removed; a removed key stays changed")
  func removedKeyStaysChanged() {
    let record = fetched()
    record["a"] = "1"
    record["c"] = 3
    record["c"] = nil
    record["b"] = nil
    #expect(record.changedKeys() == ["a", "b", "c"])
    #expect(record.allKeys() == ["a"])
    let save = record.pendingSave()
    #expect(save.changeTag == ChangeTag("t1") && save.parent == .keep)
    #expect(
      save.changes == [
        .init(key: "a", field: Field(.string("1"))), .init(key: "b", field: nil),
        .init(key: "c", field: nil),
      ])
  }

  /// Proves CS-115.
  @Test("A save of all keys sends every field and clears the fields removed locally")
  func allKeysSaveSendsEveryField() {
    let record = fetched()
    record["a"] = nil
    let save = record.pendingSave(policy: .allKeys)
    #expect(
      save.changes == [.init(key: "a", field: nil), .init(key: "b", field: Field(.int64(2)))])
    #expect(record.pendingSave(policy: .changedKeys).changes == [.init(key: "a", field: nil)])
  }

  /// Proves CS-22.
  @Test("A changed parent is sent, and its removal too")
  func changedParentIsSent() {
    let record = fetched()
    let parent = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "p"))
    record.setParent(parent)
    #expect(
      record.parent?.recordID == parent.recordID
        && record.parent?.action == CKRecord.ReferenceAction.none)
    #expect(record.pendingSave().parent == .set(parent.recordID.value))
    #expect(record.changedKeys().isEmpty)
    record.setParent(nil as CKRecord?)
    #expect(record.pendingSave().parent == .set(nil))
    #expect(fetched().pendingSave(policy: .allKeys).parent == .keep)
  }

  /// Proves CS-15.
  @Test("Encrypted and plain fields share their names but are seen in separate views")
  func encryptedAndPlainFieldsHaveSeparateViews() {
    let record = fetched()
    record.encryptedValues["secret"] = "x"
    #expect(record["secret"] == nil && record.encryptedValues["secret"] as? String == "x")
    #expect(record.allKeys() == ["a", "b"] && record.encryptedValues.allKeys() == ["secret"])
    #expect(record.changedKeys() == ["secret"])
    #expect(record.encryptedValues.changedKeys() == ["secret"])
    record["secret"] = nil
    #expect(record.encryptedValues["secret"] as? String == "x", "copying fields cannot lose it")
    let typed: String? = record.encryptedValues["secret"]
    #expect(typed == "x")
    #expect(
      record.pendingSave().changes == [
        .init(key: "secret", field: Field(.string("x"), isEncrypted: true))
      ])
    record["secret"] = "open"
    #expect(record.encryptedValues["secret"] == nil && record["secret"] as? String == "open")
    #expect(record.encryptedValues.changedKeys() == [])
  }

  @Test("A removed encrypted field is among the changed keys of the encrypted view")
  func removedEncryptedFieldIsChanged() {
    var stored = Record(id: RecordID(name: "r", zone: .default), type: "Note")
    stored.fields["secret"] = Field(.string("x"), isEncrypted: true)
    stored.fields["open"] = Field(.string("y"))
    let record = CKRecord.face(of: stored)
    record.encryptedValues["secret"] = nil
    record["open"] = nil
    #expect(record.encryptedValues.changedKeys() == ["secret"])
    #expect(record.changedKeys() == ["open", "secret"])
  }

  @Test("After a save the object is the server's version, except for edits made meanwhile")
  func savedRecordKeepsLaterEdits() {
    let record = fetched()
    record["a"] = "new"
    record["b"] = 3
    record.setParent(CKRecord.ID(recordName: "p"))
    let save = record.pendingSave()
    record["b"] = 4
    var saved = record.value
    saved.changeTag = ChangeTag("t2")
    saved.fields = ["a": .string("new"), "b": .int64(3), "other": .int64(9)]
    record.didSave(saved, of: save)
    #expect(record.recordChangeTag == "t2" && record.changedKeys() == ["b"])
    #expect(record["b"] as? Int == 4 && record["other"] as? Int == 9)
    #expect(record.pendingSave().parent == .keep)
    #expect(record.ancestor?["b"] as? Int == 3, "the server's version is the new base")
    record.setParent(nil as CKRecord.ID?)
    record.didSave(saved, of: save)
    #expect(record.pendingSave().parent == .set(nil), "a parent removed meanwhile stays removed")
  }

  /// Proves CS-12, CS-21.
  @Test("Copies are independent and equal, and records compare by identity")
  func recordCopiesAreEqualButIndependent() throws {
    let record = fetched()
    record["a"] = "changed"
    let copy = try #require(record.copy() as? CKRecord)
    #expect(copy !== record && !copy.isEqual(record) && copy.value == record.value)
    #expect(copy.changedKeys() == ["a"])
    copy["b"] = nil
    #expect(record["b"] as? Int == 2)
  }

  /// Proves CS-23, CS-24.
  @Test("key-value coding, iteration and tokens")
  func keyValueCoding() {
    let record = fetched([:])
    record.setValuesForKeys(["text": "Über den Café-Tisch", "gone": NSNull(), "n": 5])
    record.setValue(["two words", "Café"], forKey: "list")
    record.setValue(nil, forKey: "n")
    #expect(record.value(forKey: "text") as? String == "Über den Café-Tisch")
    #expect(record.changedKeys() == ["gone", "list", "n", "text"])
    #expect(record.map { $0.0 } == ["list", "text"])
    #expect(record.dictionaryWithValues(forKeys: ["n"])["n"] is NSNull)
    #expect(record.allTokens() == ["two", "words", "cafe", "uber", "den", "tisch"])
  }

  /// Proves CS-21, CS-32.
  @Test("IDs, zone IDs and references work as dictionary keys; zones compare by identity")
  func identifiersWorkAsDictionaryKeys() {
    func zone() -> CKRecordZone.ID { CKRecordZone.ID(zoneName: "Z", ownerName: "_o") }
    func id() -> CKRecord.ID { CKRecord.ID(recordName: "n", zoneID: zone()) }
    func reference() -> CKRecord.Reference { .init(recordID: id(), action: .none) }
    #expect(zone() == zone() && id() == id() && reference() == reference())
    #expect(
      [id(): 1][id()] == 1 && [zone(): 1][zone()] == 1
        && Set([reference(), reference()]).count == 1)
    #expect(id() != CKRecord.ID(recordName: "n") && zone() != CKRecordZone.ID(zoneName: "Z"))
    #expect(reference() != CKRecord.Reference(recordID: id(), action: .deleteSelf))
    #expect(CKRecordZone(zoneID: zone()) != CKRecordZone(zoneID: zone()))
    #expect(CKRecordZone.default() === CKRecordZone.default())
    #expect(CKRecordZone(zoneName: "Z").capabilities.isEmpty)
    #expect(CKRecordZone.ID(zoneName: "Z").ownerName == CKCurrentUserDefaultName)
    #expect(CKRecordZone.ID().zoneName == CKRecordZone.ID.defaultZoneName)
  }

  /// Proves CS-26.
  @Test("Descriptions name the record and its fields, never its contents")
  func descriptionsOmitRecordContents() {
    let record = fetched(["title": .string("hidden")])
    #expect(record.description.contains("title") && !record.description.contains("hidden"))
    #expect(record.recordID.description.contains("recordName=n"))
  }
}
