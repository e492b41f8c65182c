import CloudSync
import Foundation
import LoopbackServer
import Records
import Synchronization
import Testing

@Suite("Scenarios of stores: parents, orphans, references")
struct ListsParentTests {
  private let world = ListsWorld()
  private var phone: ListsApp { world.phone }
  private var desk: ListsApp { world.desk }

  /// Proves SC-29, SC-31, SC-34.
  @Test("A changed parent arrives on the other device, with the fields of its child")
  func changedParentArrivesWithChildFields() async throws {
    let a = try phone.put("List", "a", ["title": "A"])
    let b = try phone.put("List", "b", ["title": "B"])
    let item = try phone.put("Reminder", "1", ["title": "one"], under: a)
    let tag = try phone.put("Tag", "home")
    let place = try phone.put("Position", "a", ["place": "3"], under: a)
    try await world.sync(phone, desk)
    #expect(desk.contents.withLock { $0.rows[tag] } != nil, "a record of nothing but its name")
    try phone.put("Reminder", "1", under: b)
    try await world.sync(phone, desk)
    #expect(desk.parent(item) == b.recordName)
    try desk.put("Reminder", "1", ["notes": "n"])
    try await world.sync(desk, phone)
    #expect(phone.parent(item) == b.recordName && phone.value(item, "notes") == "n")
    let record = try await phone.container.privateCloudDatabase.record(for: place)
    #expect(record.parent == nil, "savePrivateRecord: never in a hierarchy")
    try world.expectSame(phone, desk)
  }

  /// Proves CE-38, SC-33, SC-62.
  @Test("A child that arrives before its parent is kept and can be edited")
  func childBeforeParentIsKeptAndEditable() async throws {
    let list = try phone.put("List", "a", ["title": "A"])
    let item = try phone.put("Reminder", "1", ["title": "one"], under: list)
    try await world.sync(phone)
    // The list changes again, so that the feed names it after its reminder.
    try phone.put("List", "a", ["title": "A2"])
    try await world.sync(phone)
    var limits = ServerLimits()
    limits.zoneChangesPage = 1
    world.server.controls.setLimits(limits)
    try await world.sync(desk)
    #expect(desk.value(item, "title") == "one" && desk.parent(item) == list.recordName)
    try desk.put("Reminder", "1", ["title": "edited"])
    try await world.sync(desk, phone)
    try world.expectSame(phone, desk)
  }

  /// Proves SC-39, SC-63.
  @Test(
    "Parts of a chain arrive, change and are deleted in any order; an invalid ID is reported")
  func chainPartsSyncInAnyOrder() throws {
    func record(_ type: String, _ name: String, up: String? = nil) -> CKRecord {
      let record = CKRecord(recordType: type, recordID: ListsApp.id(type, name))
      record["up"] = up
      return record
    }
    let (a, b) = (record("List", "a"), record("Reminder", "b", up: "List:a"))
    let c = record("Subtask", "c", up: "Reminder:b")
    desk.apply([a, c])
    #expect(desk.contents.withLock { $0.orphans.count } == 1)
    desk.remove(b.recordID)
    desk.remove(c.recordID)
    #expect(desk.contents.withLock { $0.orphans.isEmpty && $0.rows.count == 1 })
    let strange = CKRecord(
      recordType: "List", recordID: .init(recordName: "no-type", zoneID: a.recordID.zoneID))
    desk.apply([strange])
    #expect(desk.contents.withLock { $0.rows.count == 1 && $0.opaque.isEmpty })
  }

  /// Proves SC-64.
  @Test("A child whose new parent is not here yet moves when the parent arrives")
  func childMovesWhenNewParentArrives() async throws {
    let a = try phone.put("List", "a")
    let item = try phone.put("Reminder", "1", under: a)
    try await world.sync(phone, desk)
    let b = try phone.put("List", "b", ["title": "B"])
    try phone.put("Reminder", "1", under: b)
    try await world.sync(phone)
    // The list is saved again: the feed names it after the reminder.
    try phone.put("List", "b", ["title": "B2"])
    try await world.sync(phone)
    try await world.sync(desk)
    #expect(desk.parent(item) == b.recordName)
    try world.expectSame(phone, desk)
  }

  /// Proves SC-65, SC-66.
  @Test(
    "When both devices change the parent, the later edit decides on both", arguments: [true, false])
  func laterParentChangeWins(fetchingFirst: Bool) async throws {
    let lists = try ["a", "b", "c"].map { try phone.put("List", $0) }
    let item = try phone.put("Reminder", "1", under: lists[0], at: 1)
    try await world.sync(phone, desk)
    try phone.put("Reminder", "1", under: lists[1], at: 10)
    try await world.sync(phone)
    try desk.put("Reminder", "1", under: lists[2], at: 20)
    try await desk.sync(fetchingFirst: fetchingFirst)
    try await world.sync(phone, desk)
    #expect(phone.parent(item) == lists[2].recordName, "the later edit wins")
    try world.expectSame(phone, desk)
  }

  /// Proves SC-70, SC-71.
  @Test(
    "The deletion of a parent with a new child is refused, and both are restored",
    arguments: [false, true])
  func parentWithNewChildIsRestored(fetchingFirst: Bool) async throws {
    let list = try phone.put("List", "a", ["title": "A"])
    try await world.sync(phone, desk)
    let item = try desk.put("Reminder", "1", ["title": "new"], under: list)
    try await world.sync(desk)
    try phone.delete(list)
    try await phone.sync(fetchingFirst: fetchingFirst)
    try await world.sync(phone, desk)
    #expect(phone.value(list, "title") == "A" && phone.value(item, "title") == "new")
    try world.expectSame(phone, desk)
  }

  /// Proves SC-69, SC-72.
  @Test(
    "A child moved to a parent that was deleted meanwhile is removed or gets the default",
    arguments: [false, true])
  func movedToNothing(setsDefault: Bool) async throws {
    let home = try phone.put("List", "home")
    let gone = try phone.put("List", "gone")
    let item = try phone.put("Reminder", "1", ["title": "one"], under: home)
    try await world.sync(phone, desk)
    if setsDefault {
      var table = ListsTable.reminder
      table.whenParentGoes = .setDefault("List:home")
      phone.register(table)
    }
    try desk.delete(gone)
    try await world.sync(desk)
    try phone.put("Reminder", "1", under: gone)
    try await phone.sync(fetchingFirst: false)
    try await world.sync(phone, desk)
    if setsDefault {
      #expect(phone.parent(item) == home.recordName && desk.value(item, "title") == "one")
    } else {
      // It goes here; the server's version, still in its old place, comes back with a fetch.
      #expect(phone.value(item, "title") == nil || phone.parent(item) == home.recordName)
    }
  }

  /// Proves SC-44, SC-67.
  @Test("The deletion of a parent deletes its children on every device")
  func parentDeletionCascadesToChildren() async throws {
    let lists = try ["a", "b", "c"].map { try phone.put("List", $0) }
    for (number, list) in lists.enumerated() {
      let item = try phone.put("Reminder", "\(number)", under: list)
      try phone.put("Subtask", "\(number)", under: item)
    }
    try await world.sync(phone, desk)
    try phone.delete(lists[0])
    try phone.delete(lists[1])
    try await world.sync(phone, desk)
    #expect(try world.stored() == ["List:c", "Reminder:2", "Subtask:2"])
    try world.expectSame(phone, desk)
  }
}
