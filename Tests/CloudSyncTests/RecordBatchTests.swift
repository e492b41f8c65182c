import CloudSync
import Foundation
import Testing

@Suite("Batches and engine values")
struct RecordBatchTests {
  typealias Batch = CKSyncEngine.RecordZoneChangeBatch

  private func ids(_ count: Int) -> [CKRecord.ID] {
    (0..<count).map { CKRecord.ID(recordName: "r\($0)") }
  }

  private func record(_ id: CKRecord.ID, bytes: Int) -> CKRecord {
    let record = CKRecord(recordType: "T", recordID: id)
    record["data"] = Data(count: bytes)
    return record
  }

  /// Proves CE-59, CE-60, CE-66.
  @Test("A batch takes 250 changes in order, saves and deletions together")
  func batchTakes250ChangesInOrder() async throws {
    let ids = ids(300)
    let changes = ids.enumerated().map { index, id in
      index % 3 == 0
        ? CKSyncEngine.PendingRecordZoneChange.deleteRecord(id) : .saveRecord(id)
    }
    let asked = Asked()
    let batch = try #require(
      await Batch(pendingChanges: changes) { id in
        await asked.note(id)
        return self.record(id, bytes: 10)
      })
    let taken = ids.prefix(250)
    #expect(
      batch.recordIDsToDelete
        == taken.enumerated().filter { $0.offset % 3 == 0 }.map(\.element))
    #expect(
      batch.recordsToSave.map(\.recordID)
        == taken.enumerated().filter { $0.offset % 3 != 0 }.map(\.element))
    #expect(await asked.ids == batch.recordsToSave.map(\.recordID), "nothing is asked in vain")
    #expect(!batch.atomicByZone)
  }

  /// Proves CE-61.
  @Test("A batch stays under 1.9 MB, and a larger record is sent alone")
  func batchStaysUnderByteLimit() async throws {
    let ids = ids(10)
    let sizes = [900_000, 900_000, 900_000, 10]
    let changes = ids.prefix(4).map { CKSyncEngine.PendingRecordZoneChange.saveRecord($0) }
    let batch = await Batch(pendingChanges: changes) { id in
      self.record(id, bytes: sizes[ids.firstIndex(of: id) ?? 0])
    }
    #expect(batch?.recordsToSave.map(\.recordID) == Array(ids.prefix(2)))
    let huge = await Batch(pendingChanges: changes) { id in self.record(id, bytes: 3_000_000) }
    #expect(huge?.recordsToSave.map(\.recordID) == [ids[0]])
  }

  /// Proves CE-54, CE-62.
  @Test("A record that the provider does not have is left out, and an empty batch is nil")
  func recordMissingFromProviderIsLeftOut() async {
    let ids = ids(3)
    let changes = ids.map { CKSyncEngine.PendingRecordZoneChange.saveRecord($0) }
    let some = await Batch(pendingChanges: changes) { id in
      id == ids[1] ? nil : self.record(id, bytes: 1)
    }
    #expect(some?.recordsToSave.map(\.recordID) == [ids[0], ids[2]])
    let none = await Batch(pendingChanges: changes) { _ in nil }
    let empty = await Batch(pendingChanges: []) { self.record($0, bytes: 1) }
    #expect(none == nil && empty == nil)
    let deletions = await Batch(pendingChanges: [.deleteRecord(ids[0])]) { _ in nil }
    #expect(deletions?.recordIDsToDelete == [ids[0]])
  }

  /// Proves CE-63.
  @Test("A record named twice is in a batch once")
  func duplicateRecordIsBatchedOnce() async {
    let id = CKRecord.ID(recordName: "r")
    let batch = await Batch(
      pendingChanges: [.saveRecord(id), .saveRecord(id), .deleteRecord(id)]
    ) { self.record($0, bytes: 1) }
    #expect(batch?.recordsToSave.count == 1 && batch?.recordIDsToDelete == [])
    let plain = Batch(recordIDsToDelete: [id, id], atomicByZone: true)
    #expect(
      plain.recordIDsToDelete.count == 2 && plain.atomicByZone, "the plain one checks nothing")
  }

  @Test("A record that is provided under another ID leaves no other change of the ID asked for")
  func recordUnderAnotherIDCountsForBoth() async {
    let ids = ids(2)
    let asked = Asked()
    let batch = await Batch(
      pendingChanges: [.saveRecord(ids[0]), .saveRecord(ids[0]), .deleteRecord(ids[0])]
    ) { id in
      await asked.note(id)
      return self.record(ids[1], bytes: 1)
    }
    #expect(batch?.recordsToSave.map(\.recordID) == [ids[1]] && batch?.recordIDsToDelete == [])
    #expect(await asked.ids == [ids[0]])
  }

  @Test(
    "A deletion takes the bytes of its name in a batch, and one without space ends the batch",
    arguments: [([10], 1), ([11], 0), ([6, 4], 2), ([6, 6], 1), ([11, 1], 0)])
  func deletionTakesBytesOfItsName(lengths: [Int], count: Int) async {
    let id = ids(1)[0]
    // Without the names of record, type and field, ten bytes remain.
    let bytes = Batch.maximumByteCount - "r0".count - "T".count - "data".count - 10
    let deletions = lengths.enumerated().map { index, length in
      CKRecord.ID(recordName: String(repeating: "\(index)", count: length))
    }
    let batch = await Batch(
      pendingChanges: [.saveRecord(id)] + deletions.map { .deleteRecord($0) }
    ) { self.record($0, bytes: bytes) }
    #expect(batch?.recordsToSave.map(\.recordID) == [id])
    #expect(batch?.recordIDsToDelete == Array(deletions.prefix(count)))
  }

  @Test("A deletion whose name is larger than a batch is sent alone")
  func hugeDeletionIsSentAlone() async {
    let name = String(repeating: "n", count: Batch.maximumByteCount + 1)
    let ids = [CKRecord.ID(recordName: name), CKRecord.ID(recordName: "a")]
    let batch = await Batch(pendingChanges: ids.map { .deleteRecord($0) }) { _ in nil }
    #expect(batch?.recordIDsToDelete == [ids[0]])
  }

  /// Proves CE-3.
  @Test("Scopes contain the items that they name")
  func scopesContainNamedItems() {
    let first = CKRecordZone.ID(zoneName: "A")
    let second = CKRecordZone.ID(zoneName: "B")
    let id = CKRecord.ID(recordName: "r", zoneID: first)
    let other = CKRecord.ID(recordName: "s", zoneID: first)
    typealias Fetch = CKSyncEngine.FetchChangesOptions.Scope
    let fetches: [(Fetch, Bool, Bool)] = [
      (.all, true, true), (.allExcluding([first]), false, true), (.allExcluding([]), true, true),
      (.zoneIDs([first]), true, false), (.zoneIDs([]), false, false),
    ]
    for (scope, hasFirst, hasSecond) in fetches {
      #expect(scope.contains(first) == hasFirst && scope.contains(second) == hasSecond, "\(scope)")
    }
    typealias Send = CKSyncEngine.SendChangesOptions.Scope
    let sends: [(Send, Bool, Bool)] = [
      (.all, true, true), (.allExcluding([first]), false, false),
      (.allExcluding([second]), true, true), (.zoneIDs([first]), true, true),
      (.zoneIDs([second]), false, false), (.recordIDs([id]), true, false),
    ]
    for (scope, hasID, hasOther) in sends {
      #expect(scope.contains(id) == hasID && scope.contains(other) == hasOther, "\(scope)")
      #expect(scope.contains(.saveRecord(id)) == hasID, "\(scope)")
      #expect(scope.contains(.deleteRecord(other)) == hasOther, "\(scope)")
    }
  }

  /// Proves CE-7.
  @Test("pending zone changes compare by zone, not by object")
  func pendingDatabaseChanges() {
    typealias Change = CKSyncEngine.PendingDatabaseChange
    let id = CKRecordZone.ID(zoneName: "Z")
    let save = Change.saveZone(CKRecordZone(zoneID: id))
    #expect(save == .saveZone(CKRecordZone(zoneID: id)) && save != .deleteZone(id))
    #expect(Set([save, .saveZone(CKRecordZone(zoneID: id)), .deleteZone(id)]).count == 2)
  }

  /// Proves CE-2, CE-9.
  @Test("Every event can be built and described")
  func everyEventIsBuiltAndDescribed() throws {
    let id = CKRecord.ID(recordName: "r")
    let zone = CKRecordZone(zoneName: "Z")
    let fetch = CKSyncEngine.FetchChangesContext(reason: .manual)
    let send = CKSyncEngine.SendChangesContext(reason: .scheduled)
    let events: [(CKSyncEngine.Event, String)] = [
      (.accountChange(.init(changeType: .signIn(currentUser: id))), "AccountChange"),
      (
        .fetchedDatabaseChanges(
          .init(deletions: [.init(zoneID: zone.zoneID, reason: .encryptedDataReset)])),
        "FetchedDatabaseChanges(modifications: 0, deletions: 1)"
      ),
      (
        .fetchedRecordZoneChanges(
          .init(
            modifications: [.init(record: CKRecord(recordType: "T"))],
            deletions: [.init(recordID: id, recordType: "T")])),
        "FetchedRecordZoneChanges(modifications: 1, deletions: 1)"
      ),
      (
        .sentDatabaseChanges(
          .init(
            savedZones: [zone], failedZoneSaves: [.init(zone: zone, error: CKError(.zoneBusy))])),
        "SentDatabaseChanges(savedZones: 1, failedZoneSaves: 1"
      ),
      (
        .sentRecordZoneChanges(
          .init(
            failedRecordSaves: [
              .init(record: CKRecord(recordType: "T"), error: CKError(.unknownItem))
            ], failedRecordDeletes: [id: CKError(.zoneNotFound)])),
        "SentRecordZoneChanges(savedRecords: 0, failedRecordSaves: 1"
      ),
      (.willFetchChanges(.init(context: fetch)), "WillFetchChanges(context: FetchChangesContext("),
      (.willFetchRecordZoneChanges(.init(zoneID: zone.zoneID)), "WillFetchRecordZoneChanges"),
      (
        .didFetchRecordZoneChanges(.init(zoneID: zone.zoneID, error: CKError(.zoneNotFound))),
        "DidFetchRecordZoneChanges"
      ),
      (.didFetchChanges(.init(context: fetch)), "reason: manual"),
      (.willSendChanges(.init(context: send)), "WillSendChanges"),
      (.didSendChanges(.init(context: send)), "reason: scheduled"),
    ]
    for (event, part) in events { #expect(event.description.contains(part), "\(event)") }
  }
}

private actor Asked {
  var ids: [CKRecord.ID] = []
  func note(_ id: CKRecord.ID) { ids.append(id) }
}
