import CloudSync
import Records
import Testing

@testable import CloudSyncTesting

@Suite("Dropped changes")
struct DroppedChangesTests {
  private static let zone = CKRecordZone.ID(zoneName: "Notes")
  private static let old = CKRecordZone.ID(zoneName: "Old")
  private static let a = CKRecord.ID(recordName: "a", zoneID: zone)
  private static let b = CKRecord.ID(recordName: "b", zoneID: zone)

  /// The server refuses to save a record and to delete another one.
  private static func refusedRecords(_ code: CKError.Code) -> CKSyncEngine.Event {
    let record = CKRecord(recordType: "Note", recordID: a)
    return .sentRecordZoneChanges(
      .init(
        failedRecordSaves: [.init(record: record, error: CKError(code))],
        failedRecordDeletes: [b: CKError(code)]))
  }

  /// The server refuses to save a zone and to delete another one.
  private static func refusedZones(_ code: CKError.Code) -> CKSyncEngine.Event {
    .sentDatabaseChanges(
      .init(
        failedZoneSaves: [.init(zone: CKRecordZone(zoneID: zone), error: CKError(code))],
        failedZoneDeletes: [old: CKError(code)]))
  }

  private static func text(after events: [CKSyncEngine.Event]) -> String {
    var dropped = DroppedChanges()
    for event in events { dropped.note(event) }
    return dropped.text ?? "none"
  }

  @Test(
    "A refused change is dropped unless its error can be resolved without it",
    arguments: [
      (CKError.Code.internalError, "zone Notes, zone Old, Notes/a, Notes/b"),
      (.serverRecordChanged, "zone Notes, zone Old, Notes/b"),
      (.zoneNotFound, "zone Notes, Notes/a"), (.userDeletedZone, "zone Notes, Notes/a"),
      (.unknownItem, "zone Notes, zone Old"),
    ])
  func refusedChangeIsDropped(_ code: CKError.Code, _ items: String) {
    let text = Self.text(after: [Self.refusedRecords(code), Self.refusedZones(code)])
    #expect(text.replacing(" with \(code)", with: "") == items)
    // An older refusal of the same change is forgotten.
    let again = [Self.refusedRecords(.limitExceeded), Self.refusedRecords(code)]
    #expect(Self.text(after: again) == Self.text(after: [Self.refusedRecords(code)]))
  }

  @Test("A refused change that a later event settles is not dropped")
  func explainedChangeIsNotDropped() {
    let record = CKRecord(recordType: "Note", recordID: Self.a)
    let changed = CKRecord.face(
      of: Record(id: Self.a.value, type: "Note", changeTag: ChangeTag("2"), fields: [:]))
    let savedZone = CKRecordZone(zoneID: Self.zone)
    let explanations: KeyValuePairs<String, CKSyncEngine.Event> = [
      "zone Notes, zone Old, Notes/a, Notes/b": .fetchedDatabaseChanges(.init()),
      "none": .accountChange(.init(changeType: .signIn(currentUser: Self.a))),
      "zone Old": .fetchedDatabaseChanges(.init(deletions: [.init(zoneID: Self.zone)])),
      "zone Old, Notes/a, Notes/b": .sentDatabaseChanges(.init(savedZones: [savedZone])),
      "zone Old, Notes/a, Notes/b": .fetchedDatabaseChanges(
        .init(modifications: [.init(zoneID: Self.zone)])),
      "zone Notes, Notes/a, Notes/b": .sentDatabaseChanges(.init(deletedZoneIDs: [Self.old])),
      "zone Notes, zone Old, Notes/b": .sentRecordZoneChanges(.init(savedRecords: [record])),
      "zone Notes, zone Old, Notes/b": .fetchedRecordZoneChanges(
        .init(modifications: [.init(record: changed)])),
      // The version that the app had when it changed the record.
      "zone Notes, zone Old, Notes/a, Notes/b": .fetchedRecordZoneChanges(
        .init(modifications: [.init(record: record)])),
      "zone Notes, zone Old, Notes/b": .fetchedRecordZoneChanges(
        .init(deletions: [.init(recordID: Self.a, recordType: "Note")])),
      "zone Notes, zone Old, Notes/a": .sentRecordZoneChanges(.init(deletedRecordIDs: [Self.b])),
    ]
    let refused = [Self.refusedRecords(.limitExceeded), Self.refusedZones(.limitExceeded)]
    for (left, event) in explanations {
      let text = Self.text(after: refused + [event]).replacing(" with limitExceeded", with: "")
      #expect(text == left, "\(event)")
    }
  }
}
