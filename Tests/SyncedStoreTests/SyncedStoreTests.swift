import CloudSync
import Foundation
import LoopbackServer
import Testing

@testable import SyncedStore

@Suite("SyncedStore with a server", .timeLimit(.minutes(20)))
struct SyncedStoreTests {
  let server = LoopbackServer()

  @Test("Items reach the other device: new, changed and deleted ones")
  func itemsReachTheOtherDevice() async throws {
    let (phone, desk) = (try NoteDevice(server, "phone"), try NoteDevice(server, "desk"))
    try phone.write("a", "one")
    try phone.write("b", "two")
    #expect(phone.store.status.unsentCount == 2)
    try await phone.store.sync()
    try await desk.store.sync()
    #expect(desk.texts == ["a": "one", "b": "two"])
    try desk.write("a", "changed", 2)
    try desk.store.delete(Note("b", ""))
    try await desk.store.sync()
    try await phone.store.sync()
    #expect(phone.texts == ["a": "changed"])
    #expect(phone.store.status.unsentCount == 0)
    #expect(phone.store.status.lastSync == Date(timeIntervalSince1970: 1_000))
    #expect(phone.store.items(Note.self).map(\.id) == ["a"])
  }

  @Test("An unsent change survives a crash, and is sent by the next launch")
  func unsentChangeSurvivesCrash() async throws {
    let folder = TemporaryFolder()
    let phone = try NoteDevice(server, "phone", folder: folder)
    try phone.write("a", "one")
    try await phone.store.sync()
    try phone.write("a", "two", 2)
    try phone.write("c", "three")
    try phone.store.delete(Note("a", ""))
    // Without a shutdown: the app is killed.
    let again = try NoteDevice(server, "phone", folder: folder)
    #expect(again.texts == ["c": "three"])
    #expect(again.store.status.unsentCount == 2)
    try await again.store.sync()
    let desk = try NoteDevice(server, "desk")
    try await desk.store.sync()
    #expect(desk.texts == ["c": "three"])
  }

  @Test("A conflict ends alike on both devices, whoever sends first", arguments: [true, false])
  func conflictEndsAlike(isPhoneFirst: Bool) async throws {
    let (phone, desk) = (try NoteDevice(server, "phone"), try NoteDevice(server, "desk"))
    try phone.write("a", "base")
    try await phone.store.sync()
    try await desk.store.sync()
    try phone.write("a", "older", 2)
    try desk.write("a", "later", 3)
    let order = isPhoneFirst ? [phone, desk, phone] : [desk, phone, desk]
    for device in order { try await device.store.sync() }
    #expect(phone.texts == ["a": "later"])
    #expect(desk.texts == ["a": "later"])
    let resolutions = (isPhoneFirst ? desk : phone).store.status.activity.conflicts
      .map(\.resolution)
    #expect(resolutions == [isPhoneFirst ? .clientWon : .serverWon])
  }

  @Test("An edit is kept against a deletion of another device, and the app is informed once")
  func editIsKeptAgainstDeletion() async throws {
    let (phone, desk) = (try NoteDevice(server, "phone"), try NoteDevice(server, "desk"))
    for name in ["edited", "untouched"] { try phone.write(name, "base") }
    try await phone.store.sync()
    try await desk.store.sync()
    for name in ["edited", "untouched"] { try desk.store.delete(Note(name, "")) }
    try await desk.store.sync()
    try phone.write("edited", "later", 2)
    var changes = phone.store.changes.makeAsyncIterator()
    try await phone.store.fetchChanges()
    var shown: [String: SyncedStore.ItemChange] = [:]
    for _ in 0..<2 {
      let change = try #require(await changes.next())
      shown[change.recordID.recordName] = change
    }
    #expect(shown["edited"]?.kind == .kept && shown["edited"]?.resolution == .clientWon)
    #expect(shown["untouched"]?.kind == .removed && shown["untouched"]?.resolution == nil)
    #expect(phone.store.status.activity.conflicts.map(\.resolution) == [.clientWon])
    try await phone.store.sync()
    try await desk.store.sync()
    #expect(phone.texts == ["edited": "later"] && desk.texts == phone.texts)
  }

  @Test("Per property, changes of different properties are both kept")
  func propertiesAreMergedAlone() async throws {
    let policy = MergePolicy<Note>.perProperty(otherwise: Note.later)
    let phone = try NoteDevice(server, "phone", merging: policy)
    let desk = try NoteDevice(server, "desk", merging: policy)
    try phone.write("a", "base")
    try await phone.store.sync()
    try await desk.store.sync()
    try phone.store.save(Note("a", "text of the phone", modified: 1))
    try desk.store.save(Note("a", "base", title: "title of the desk", modified: 1))
    try await phone.store.sync()
    try await desk.store.sync()
    try await phone.store.sync()
    let expected = Note("a", "text of the phone", title: "title of the desk", modified: 1)
    #expect(phone.store.items() == [expected])
    #expect(desk.store.items() == [expected])
  }

  @Test("The version that was sent last is the base of a change made meanwhile")
  func sentVersionIsTheBase() async throws {
    let policy = MergePolicy<Note>.perProperty(otherwise: MergePolicy<Note>.serverWins)
    let phone = try NoteDevice(server, "phone", merging: policy)
    let desk = try NoteDevice(server, "desk", merging: policy)
    try phone.store.save(Note("a", "first"))
    try await phone.store.sync()
    try phone.store.save(Note("a", "second"))
    let scope = RequestScope(kind: .modifyRecords, device: "phone")
    server.controls.hold(next: 1, at: .afterCommit, in: scope)
    async let sent: Void = phone.store.sendChanges()
    await server.controls.waitForHeldRequests(1, in: scope)
    try phone.store.save(Note("a", "third"))
    try await desk.store.sync()
    try desk.store.save(Note("a", "second", title: "title of the desk"))
    try await desk.store.sync()
    server.controls.release(in: scope)
    // The conflict is reported, and merged by the next sync.
    try? await sent
    for device in [phone, desk] { try await device.store.sync() }
    let merged = [Note("a", "third", title: "title of the desk")]
    #expect(phone.store.items() == merged && desk.store.items() == merged)
  }

  @Test("Another account sees nothing of the former one, on the disk neither")
  func accountSwitchLeavesNothing() async throws {
    let phone = try NoteDevice(server, "phone")
    try phone.write("a", "secret of anna")
    try await phone.store.sync()
    try phone.write("b", "another secret of anna")
    phone.link.signIn(as: "ben")
    try? await phone.store.sync()
    try await phone.store.sync()
    #expect(phone.texts == [:])
    for name in try FileManager.default.contentsOfDirectory(atPath: phone.folder.url.path) {
      let data = try Data(contentsOf: phone.folder.url.appendingPathComponent(name))
      #expect(data.range(of: Data("secret".utf8)) == nil, "\(name)")
    }
    phone.link.signIn(as: "anna")
    try? await phone.store.sync()
    try await phone.store.sync()
    #expect(phone.texts == ["a": "secret of anna"])
  }

  @Test("Signing out removes the items; those from before the first sign-in stay and are sent")
  func signOutRemovesItems() async throws {
    let phone = try NoteDevice(server, "phone", account: nil)
    try phone.write("a", "from before")
    await #expect(throws: CKError.self) { try await phone.store.sync() }
    #expect(phone.texts == ["a": "from before"])
    phone.link.signIn(as: "anna")
    try await phone.store.sync()
    let desk = try NoteDevice(server, "desk")
    try await desk.store.sync()
    #expect(desk.texts == ["a": "from before"])
    phone.link.signOut()
    await #expect(throws: CKError.self) { try await phone.store.sync() }
    #expect(phone.texts == [:])
  }

  @Test("The choice to sync is kept when the account signs out")
  func signOutKeepsTheChoiceToSync() async throws {
    let phone = try NoteDevice(server, "phone")
    try phone.store.setEnabled(true)
    try phone.write("a", "of anna")
    try await phone.store.sync()
    phone.link.signOut()
    await #expect(throws: CKError.self) { try await phone.store.sync() }
    #expect(phone.texts == [:] && phone.store.isEnabled == true)
    try await phone.store.shutDown()
    let again = try NoteDevice(server, "phone", folder: phone.folder, isStarted: false)
    #expect(again.store.isEnabled == true)
  }

  @Test("A request refused as not authenticated removes no items while the account is there")
  func refusedRequestRemovesNoItems() async throws {
    let phone = try NoteDevice(server, "phone")
    try phone.write("a", "sent")
    try await phone.store.sync()
    try phone.write("b", "unsent")
    server.controls.fail(with: .notAuthenticated, in: RequestScope(device: "phone"))
    await #expect(throws: CKError.self) { try await phone.store.sync() }
    #expect(phone.texts == ["a": "sent", "b": "unsent"])
    try await phone.store.sync()
    #expect(phone.texts == ["a": "sent", "b": "unsent"])
    #expect(phone.store.status.unsentCount == 0)
    #expect(phone.store.status.activity.wipes == 0)
  }

  @Test("A zone that another device deleted takes the items with it, and is not uploaded again")
  func deletedZoneIsNotUploadedAgain() async throws {
    let (phone, desk) = (try NoteDevice(server, "phone"), try NoteDevice(server, "desk"))
    try phone.write("a", "one")
    try await phone.store.sync()
    try await desk.store.sync()
    let database = CKContainer(identifier: NoteDevice.container, transport: phone.link)
      .privateCloudDatabase
    try desk.write("b", "unsent")
    _ = try await database.deleteRecordZone(withID: NoteDevice.zone)
    try await phone.store.sync()
    // The send finds that the zone is missing, before a fetch tells why.
    try? await desk.store.sendChanges()
    #expect(desk.texts == ["a": "one", "b": "unsent"])
    try await desk.store.sync()
    #expect(phone.texts == [:])
    #expect(desk.texts == [:])
    #expect(try await database.allRecordZones().allSatisfy { $0.zoneID != NoteDevice.zone })
    try desk.write("c", "new")
    try await desk.store.sync()
    try await phone.store.sync()
    #expect(phone.texts == ["c": "new"])
  }

  @Test("A record of a newer version is kept, not shown, and shown after an update")
  func newerRecordIsShownAfterUpdate() async throws {
    let folder = TemporaryFolder()
    let phone = try NoteDevice(server, "phone", folder: folder)
    try phone.write("a", "one")
    try await phone.store.sync()
    let database = CKContainer(identifier: NoteDevice.container, transport: phone.link)
      .privateCloudDatabase
    let record = CKRecord(
      recordType: "Note", recordID: CKRecord.ID(recordName: "n", zoneID: NoteDevice.zone))
    record["version"] = 2
    record["text"] = "new format"
    try await database.save(record)
    try await phone.store.sync()
    #expect(phone.texts == ["a": "one"])
    #expect(phone.store.unreadableNames == ["n"])
    // The server loses the records; this device has the only copy of what it can't read.
    try server.controls.resetEncryptedData(
      ZoneID(name: NoteDevice.zone.zoneName), container: NoteDevice.container, account: "anna")
    try await phone.store.sync()
    #expect(phone.texts == ["a": "one"])
    #expect(phone.store.unreadableNames == ["n"])
    try await phone.store.shutDown()
    let updated = try SyncedStore(
      zoneID: NoteDevice.zone, directory: folder.url,
      types: [
        SyncedType(
          Note.self, merging: Note.later,
          reading: { record, _ in
            Note(record.recordID.recordName, record["text"] as? String ?? "")
          })
      ])
    updated.connect(
      to: CKContainer(identifier: NoteDevice.container, transport: phone.link),
      automaticallySync: false)
    try updated.start()
    #expect(updated.items(Note.self).map(\.text).sorted() == ["new format", "one"])
    #expect(updated.unreadableNames == [])
    try await updated.shutDown()
  }

  @Test("An item that stays on the device is never sent, and leaves the server when it begins to")
  func localItemIsNeverSent() async throws {
    let (phone, desk) = (try NoteDevice(server, "phone"), try NoteDevice(server, "desk"))
    var local = Note("a", "private")
    local.isSynced = false
    try phone.store.save(local)
    try phone.write("b", "shared")
    try await phone.store.sync()
    try await desk.store.sync()
    #expect(desk.texts == ["b": "shared"])
    var withdrawn = Note("b", "withdrawn")
    withdrawn.isSynced = false
    try phone.store.save(withdrawn)
    try await phone.store.sync()
    try await desk.store.sync()
    #expect(desk.texts == [:])
    #expect(phone.texts == ["a": "private", "b": "withdrawn"])
    phone.link.signOut()
    await #expect(throws: CKError.self) { try await phone.store.sync() }
    #expect(phone.texts == ["a": "private", "b": "withdrawn"])
  }

  @Test("A shared zone is another person's store, until the sharing ends")
  func sharedZoneIsAnotherStore() async throws {
    let phone = try NoteDevice(server, "phone")
    try phone.write("a", "for ben")
    let share = try await phone.store.share { $0.publicPermission = .readWrite }
    let url = try #require(share.url)
    #expect(phone.store.knownShare()?.url == url)

    let link = server.device("tablet", signedInAs: "ben")
    let container = CKContainer(identifier: NoteDevice.container, transport: link)
    let zone = try await SyncedStore.accept(url, in: container)
    let folder = TemporaryFolder()
    let store = try SyncedStore(
      zoneID: zone, directory: folder.url, types: [SyncedType(Note.self, merging: Note.later)])
    store.connect(to: container, scope: .shared, automaticallySync: false)
    try store.start()
    try await store.sync()
    #expect(store.items(Note.self).map(\.text) == ["for ben"])
    try store.save(Note("b", "from ben"))
    try await store.sync()
    try await phone.store.sync()
    #expect(phone.texts == ["a": "for ben", "b": "from ben"])
    try await phone.store.endSharing()
    try? await store.sync()
    #expect(store.items(Note.self) == [])
    try await phone.store.sync()
    #expect(phone.texts == ["a": "for ben", "b": "from ben"])
    try await store.shutDown()
  }

  @Test("A change is taken back when it can't be stored or its closure throws")
  func failedChangeIsTakenBack() throws {
    let phone = try NoteDevice(server, "phone", isStarted: false)
    try phone.write("a", "one")
    #expect(throws: CKError.self) {
      try phone.store.change { change in
        try change.save(Note("a", "two"))
        change.delete(Note.self, named: "a")
        try change.save(Note("b", "three"))
        throw CKError(.internalError)
      }
    }
    #expect(phone.texts == ["a": "one"])
    #expect(phone.store.status.unsentCount == 1)
    let again = try NoteDevice(server, "phone", folder: phone.folder, isStarted: false)
    #expect(again.texts == ["a": "one"])
  }

  @Test("The record of a newer version is available until this version can read it")
  func unreadableRecordIsAvailable() async throws {
    let phone = try NoteDevice(server, "phone")
    let id = CKRecord.ID(recordName: "a", zoneID: NoteDevice.zone)
    let record = CKRecord(recordType: Note.recordType, recordID: id)
    record["version"] = Int64(2)
    record["text"] = "newer"
    try phone.store.receive([record])
    #expect(phone.store.unreadableRecord(named: "a")?["version"] as? Int64 == 2)
    record["version"] = nil
    try phone.store.receive([record])
    #expect(phone.store.unreadableRecord(named: "a") == nil && phone.texts == ["a": "newer"])
  }

  @Test("Records that the app received by itself are told to those who listen")
  func receivedRecordsAreToldToListeners() async throws {
    let phone = try NoteDevice(server, "phone")
    try await phone.store.sync()
    var changes = phone.store.changes.makeAsyncIterator()
    let id = CKRecord.ID(recordName: "a", zoneID: NoteDevice.zone)
    let record = CKRecord(recordType: Note.recordType, recordID: id)
    record["text"] = "found"
    try phone.store.receive([record])
    #expect(await changes.next()?.kind == .saved)
    #expect(phone.texts == ["a": "found"])
    try phone.store.receive([], deleted: [id])
    #expect(await changes.next()?.kind == .removed)
    #expect(phone.texts == [:] && phone.store.status.unsentCount == 0)
  }

  @Test("A share that was changed meanwhile is configured and saved again, three times at most")
  func aShareInConflictIsSavedAgain() async throws {
    let phone = try NoteDevice(server, "phone")
    try phone.write("a", "for ben")
    try await phone.store.sync()
    var calls = 0
    for (conflicts, expected) in [(1, 2), (2, 3)] {
      calls = 0
      server.controls.fail(
        next: conflicts, with: .serverRecordChanged, in: RequestScope(kind: .modifyRecords))
      let share = try await phone.store.share { _ in calls += 1 }
      #expect(share.url != nil && calls == expected)
    }
    calls = 0
    server.controls.fail(
      next: 3, with: .serverRecordChanged, in: RequestScope(kind: .modifyRecords))
    await #expect(throws: CKError.self) { try await phone.store.share { _ in calls += 1 } }
    #expect(calls == 3)
    // Another error ends it at once.
    calls = 0
    server.controls.fail(with: .quotaExceeded, in: RequestScope(kind: .modifyRecords))
    await #expect(throws: CKError.self) { try await phone.store.share { _ in calls += 1 } }
    #expect(calls == 1)
  }

  @Test("Changes from the server are told to those who listen")
  func changesAreToldToListeners() async throws {
    let (phone, desk) = (try NoteDevice(server, "phone"), try NoteDevice(server, "desk"))
    var changes = desk.store.changes.makeAsyncIterator()
    try phone.write("a", "one")
    try await phone.store.sync()
    try await desk.store.sync()
    let first = await changes.next()
    #expect(first?.recordID.recordName == "a")
    #expect(first?.kind == .saved)
    try phone.store.delete(Note("a", ""))
    try await phone.store.sync()
    try await desk.store.sync()
    #expect(await changes.next()?.kind == .removed)
  }

  @Test("A record that a query found before the latest sync does not take an item back")
  func outdatedRecordIsIgnored() async throws {
    let (phone, desk) = (try NoteDevice(server, "phone"), try NoteDevice(server, "desk"))
    try phone.write("a", "old")
    try await phone.store.sync()
    try await desk.store.sync()
    let container = CKContainer(identifier: NoteDevice.container, transport: desk.link)
    let id = CKRecord.ID(recordName: "a", zoneID: NoteDevice.zone)
    let found = try await container.privateCloudDatabase.record(for: id)
    try phone.write("a", "new")
    try await phone.store.sync()
    try await desk.store.sync()
    try desk.store.receive([found])
    #expect(desk.texts == ["a": "new"])
    let latest = try await container.privateCloudDatabase.record(for: id)
    try desk.store.receive([latest])
    #expect(desk.texts == ["a": "new"] && desk.store.unsentRecordIDs == [])
    for device in [phone, desk] { try await device.store.shutDown() }
  }
}
