import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import SyncSupport
import Synchronization
import Testing

@testable import IdeaStore

@Suite("Ideas that two devices changed", .timeLimit(.minutes(20)))
struct IdeaConflictTests {
  let server = LoopbackServer()

  private func pair() async throws -> (IdeaDevice, IdeaDevice, Idea) {
    let phone = try IdeaDevice(server, "phone")
    let tablet = try IdeaDevice(server, "tablet")
    try await phone.begin()
    try await tablet.begin()
    let idea = try phone.store.create(title: "X")
    await tablet.status { _ in tablet.store.idea(idea.id) != nil }
    phone.device.isOnline = false
    tablet.device.isOnline = false
    return (phone, tablet, idea)
  }

  /// Brings both online, in an order, and syncs until nothing moves.
  private func meet(_ first: IdeaDevice, _ second: IdeaDevice) async throws {
    first.device.isOnline = true
    try await first.store.syncNow()
    second.device.isOnline = true
    for device in [second, first, second] { try await device.store.syncNow() }
    for device in [first, second] { await device.status(\.isDone) }
    #expect(first.store.canonicalText == second.store.canonicalText)
    #expect(try server.ideas().count == first.store.ideas.count)
    await first.store.stop()
    await second.store.stop()
  }

  @Test(
    "I: Of two offline edits the later one stays, whichever arrives first",
    arguments: [false, true])
  func laterOfflineEditWins(_ isPhoneFirst: Bool) async throws {
    let (phone, tablet, idea) = try await pair()
    phone.wall.move(by: 0.100)
    tablet.wall.move(by: 0.050)
    let later = try phone.store.update(idea.id, title: "12:00:00.100")
    try tablet.store.update(idea.id, title: "12:00:00.050")
    try await meet(isPhoneFirst ? phone : tablet, isPhoneFirst ? tablet : phone)
    #expect(phone.store.ideas == [later] && later.version == 1)
    let logs = phone.store.log + tablet.store.log
    #expect(logs.contains { $0.operation == .conflict && $0.ideaID == idea.id })
  }

  @Test("I: At the same moment the higher version stays, then the greater device")
  func equalMomentHigherVersionWins() async throws {
    let (phone, tablet, idea) = try await pair()
    try phone.store.update(idea.id, title: "phone")
    let second = try phone.store.update(idea.id, title: "phone again")
    try tablet.store.update(idea.id, title: "tablet")
    try await meet(tablet, phone)
    #expect(tablet.store.ideas == [second] && second.version == 2)
  }

  @Test("I: At the same moment and version the greater device stays")
  func equalVersionGreaterDeviceWins() async throws {
    let (phone, tablet, idea) = try await pair()
    try phone.store.update(idea.id, title: "phone")
    let second = try tablet.store.update(idea.id, title: "tablet")
    try await meet(tablet, phone)
    #expect(phone.store.ideas == [second])
  }

  @Test(
    "I: a deletion and an edit: the later one stays, whichever arrives first",
    arguments: [true, false], [true, false])
  func deletionAndEdit(_ isEditLater: Bool, _ isDeletionFirst: Bool) async throws {
    let (phone, tablet, idea) = try await pair()
    phone.wall.move(by: 10)
    tablet.wall.move(by: isEditLater ? 20 : 5)
    try phone.store.delete(idea.id)
    let edit = try tablet.store.update(idea.id, title: "edited")
    try await meet(isDeletionFirst ? phone : tablet, isDeletionFirst ? tablet : phone)
    #expect(phone.store.ideas == (isEditLater ? [edit] : []))
  }

  @Test("I: Both devices can delete the same idea")
  func bothDevicesMayDeleteIdea() async throws {
    let (phone, tablet, idea) = try await pair()
    try phone.store.delete(idea.id)
    try tablet.store.delete(idea.id)
    try await meet(phone, tablet)
    #expect(phone.store.ideas.isEmpty && phone.store.deletedIdeas.count == 1)
  }

  @Test("I: Fields of a newer version survive an edit, and an idea that is created again")
  func newerFieldsSurviveEdit() async throws {
    let phone = try IdeaDevice(server, "phone")
    try await phone.begin()
    let idea = try phone.store.create(title: "X")
    try await phone.store.syncNow()
    let other = server.database("newer app")
    let record = try await other.record(for: IdeaRecord.recordID(idea.id))
    record["colour"] = "green"
    record["tags"] = ["a", "b"]
    try await other.save(record)
    try await phone.store.syncNow()
    try phone.store.update(idea.id, title: "Y")
    try await phone.store.syncNow()
    func fields() throws -> Fields { try #require(try server.ideas().first).fields }
    #expect(try fields()["colour"]?.value == .string("green"))
    #expect(try fields()["title"]?.value == .string("Y"))
    phone.device.isOnline = false
    try phone.store.update(idea.id, title: "Z")
    try await other.deleteRecord(withID: IdeaRecord.recordID(idea.id))
    phone.device.isOnline = true
    try await phone.store.syncNow()
    #expect(try fields()["colour"]?.value == .string("green"))
    #expect(try fields()["tags"]?.value == .list([.string("a"), .string("b")]))
    #expect(try fields()["title"]?.value == .string("Z"))
    await phone.store.stop()
  }

  @Test("I: A record of a newer version is kept and not shown until it can be read")
  func newerRecordIsHiddenUntilReadable() async throws {
    let phone = try IdeaDevice(server, "phone")
    let tablet = try IdeaDevice(server, "tablet")
    try await phone.begin()
    let ideas = try (0..<3).map { try phone.store.create(title: "idea \($0)") }
    try await phone.store.syncNow()
    try await tablet.begin()
    let other = server.database("newer app")
    let strange = CKRecord(recordType: "Idea", recordID: CKRecord.ID(recordName: "not a UUID"))
    strange["title"] = "t"
    try await other.save(strange)
    tablet.device.isOnline = false
    let edit = try tablet.store.update(ideas[0].id, title: "edited")
    for idea in ideas.prefix(2) {
      let record = try await other.record(for: IdeaRecord.recordID(idea.id))
      record["isCompleted"] = Int64(2)
      try await other.save(record)
    }
    tablet.device.isOnline = true
    try await phone.store.syncNow()
    try await tablet.store.syncNow()
    #expect(phone.store.ideas == [ideas[2]])
    let status = await phone.status(\.isDone)
    #expect(status.unreadable == 3)
    // What was changed here waits, is shown, and overwrites nothing.
    #expect(Set(tablet.store.ideas) == [edit, ideas[2]])
    await tablet.status { $0.heldBack == 1 && $0.phase == .synced }
    #expect(tablet.store.syncState(of: edit.id)?.heldBack?.contains("isCompleted") == true)
    let values = try server.ideas().compactMap { $0.fields["isCompleted"]?.value }
    #expect(values.filter { $0 == .int64(2) }.count == 2)
    for idea in ideas.prefix(2) {
      let record = try await other.record(for: IdeaRecord.recordID(idea.id))
      record["isCompleted"] = Int64(1)
      try await other.save(record)
    }
    for device in [tablet, phone, tablet] { try await device.store.syncNow() }
    await tablet.status(\.isDone)
    #expect(phone.store.ideas.count == 3)
    #expect(phone.store.canonicalText == tablet.store.canonicalText)
    #expect(try server.ideas().contains { $0.id.name == "not a UUID" })
    await phone.store.stop()
    await tablet.store.stop()
  }

  @Test("I: an edit made while a save is on its way is sent after it")
  func editInFlight() async throws {
    let phone = try IdeaDevice(server, "phone")
    try await phone.begin()
    let scope = RequestScope(kind: .modifyRecords)
    server.controls.hold(next: 1, in: scope)
    let idea = try phone.store.create(title: "first")
    await server.controls.waitForHeldRequests(in: scope)
    try phone.store.update(idea.id, title: "second")
    server.controls.release()
    await phone.status(\.isDone)
    #expect(try server.ideas().first?.fields["title"]?.value == .string("second"))
    #expect(phone.store.syncState(of: idea.id)?.remoteVersion == 1)
    await phone.store.stop()
  }

  @Test("I: a change of another device between look and deletion is seen and kept")
  func deletionLooksFirst() async throws {
    let (phone, tablet, idea) = try await pair()
    for device in [phone, tablet] {
      device.device.isOnline = true
      await device.pass()
    }
    server.controls.dropPushes(next: 10)
    phone.wall.move(by: 1)
    tablet.wall.move(by: 2)
    // The phone's pass has begun when the tablet's later edit reaches the cloud.
    server.controls.runAfterCommit(
      next: 1, in: RequestScope(kind: .fetchCurrentUser, device: "phone")
    ) { _ in
      _ = try? tablet.store.update(idea.id, title: "later")
      await tablet.status(\.isDone)
    }
    try phone.store.delete(idea.id)
    await phone.status(\.isDone)
    #expect(phone.titles == ["later"])
    #expect(try server.ideas().count == 1)
    await phone.store.stop()
    await tablet.store.stop()
  }

  @Test(
    "I: An update of the app reads what the version before could not", arguments: [true, false])
  func updateReadsUnreadableRecords(keptFields: Bool) async throws {
    let phone = try IdeaDevice(server, "phone")
    try await phone.begin()
    let idea = try phone.store.create(title: "a")
    try await phone.store.syncNow()
    let record = try await server.database("reader").record(for: IdeaRecord.recordID(idea.id))
    // As a version stores it that does not know a part of the record.
    phone.store.state.withLock { state in
      var row = IdeaRow(name: idea.id.uuidString)
      row.tag = record.recordChangeTag
      row.archive = keptFields ? record.allFields : record.systemFields
      row.unreadable = "unknown"
      state.shelf.put(row)
      state.flush()
    }
    #expect(phone.store.ideas == [])
    await phone.store.stop()
    let updated = try IdeaDevice(server, "phone", folder: phone.folder)
    #expect(updated.titles == (keptFields ? ["a"] : []))
    try await updated.begin()
    #expect(updated.titles == ["a"] && updated.store.status.unreadable == 0)
    #expect(updated.store.status.pending == 0)
    await updated.store.stop()
  }
}
