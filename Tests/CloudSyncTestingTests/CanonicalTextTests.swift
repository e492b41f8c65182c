import CloudSync
import Records
import Testing

@testable import CloudSyncTesting

@Suite("Texts of values and events")
struct CanonicalTextTests {
  static let values: [(FieldValue, String)] = [
    (.string("a\n\"\u{7}"), #""a\n\"\u{7}""#),
    (.int64(-7), "-7"),
    (.double(0.5), "0.5"),
    (.date(Timestamp(secondsSinceReferenceDate: 0)), "2001-01-01T00:00:00.000Z"),
    (.date(Timestamp(secondsSinceReferenceDate: .infinity)), "date inf"),
    (.bytes([]), "0 bytes cbf29ce484222325"),
    (.bytes([97]), "1 byte af63dc4c8601ec8c"),
    (.asset(Asset(checksum: "0123456789", size: 2)), "file of 2 bytes 01234567"),
    (.location(Location(latitude: 1, longitude: -2.5)), "(1.0, -2.5)"),
    (.list([.string("a"), .int64(1)]), #"["a", 1]"#),
    (.reference(Reference(target: target, action: .none)), #"-> Z/"a b""#),
  ]
  private static let target = RecordID(name: "a b", zone: ZoneID(name: "Z"))

  @Test("Each kind of value has a text that is the same everywhere", arguments: values)
  func valueHasItsText(_ value: FieldValue, _ text: String) {
    #expect(CanonicalText.value(value) == text)
  }

  @Test("Each event has its name and a line for each item")
  func eventHasLineForEachItem() {
    let (zone, old) = (CKRecordZone.ID(zoneName: "Notes"), CKRecordZone.ID(zoneName: "Old"))
    let (a, b) = (
      CKRecord.ID(recordName: "a", zoneID: zone), CKRecord.ID(recordName: "b", zoneID: zone)
    )
    let record = CKRecord(recordType: "Note", recordID: a)
    record["text"] = "Bread"
    let (error, saved) = (CKError(.zoneBusy), CKRecordZone(zoneID: zone))
    let events: [CKSyncEngine.Event] = [
      .willFetchChanges(.init(context: .init(reason: .manual))),
      .fetchedDatabaseChanges(
        .init(
          modifications: [.init(zoneID: zone)], deletions: [.init(zoneID: old, reason: .purged)])),
      .willFetchRecordZoneChanges(.init(zoneID: zone, startsOver: true)),
      .fetchedRecordZoneChanges(
        .init(
          modifications: [.init(record: record)],
          deletions: [.init(recordID: b, recordType: "Note")])),
      .didFetchRecordZoneChanges(.init(zoneID: zone, error: error)),
      .didFetchChanges(.init(context: .init(reason: .scheduled))),
      .willSendChanges(.init(context: .init(reason: .manual))),
      .sentDatabaseChanges(
        .init(
          savedZones: [saved], failedZoneSaves: [.init(zone: saved, error: error)],
          deletedZoneIDs: [old], failedZoneDeletes: [old: error])),
      .sentRecordZoneChanges(
        .init(
          savedRecords: [record], failedRecordSaves: [.init(record: record, error: error)],
          deletedRecordIDs: [b], failedRecordDeletes: [b: error, a: error])),
      .didSendChanges(.init(context: .init(reason: .scheduled))),
      .accountChange(.init(changeType: .signIn(currentUser: a))),
      .accountChange(.init(changeType: .signOut(previousUser: a))),
      .accountChange(.init(changeType: .switchAccounts(previousUser: a, currentUser: b))),
    ]
    #expect(
      events.map(\.lines).joined(separator: "\n") == """
        willFetchChanges manual
        fetchedDatabaseChanges
          zone Notes
          gone Old: purged
        willFetchRecordZoneChanges Notes, from its beginning
        fetchedRecordZoneChanges
          Note Notes/a
            text: "Bread"
          gone Note Notes/b
        didFetchRecordZoneChanges Notes: zoneBusy
        didFetchChanges scheduled
        willSendChanges manual
        sentDatabaseChanges
          saved Notes
          failed save Notes: zoneBusy
          deleted Old
          failed deletion Old: zoneBusy
        sentRecordZoneChanges
          saved Notes/a
          failed save Notes/a: zoneBusy
          deleted Notes/b
          failed deletion Notes/a: zoneBusy
          failed deletion Notes/b: zoneBusy
        didSendChanges scheduled
        accountChange signIn a
        accountChange signOut a
        accountChange switchAccounts a b
        """)
  }
}
