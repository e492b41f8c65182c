import CloudSync
import Foundation
import LoopbackServer
import Records
import Synchronization
import Testing

@Suite("Scenarios of stores: shared lists between two people")
struct ListsSharingTests {
  private let world = ListsWorld()
  private var alice: ListsApp { world.phone }

  /// Alice shares a list with a reminder; bob has joined and fetched it.
  private func shared(
    _ permission: CKShare.ParticipantPermission = .readWrite
  ) async throws -> (bob: ListsApp, list: CKRecord.ID, theirs: CKRecord.ID) {
    let list = try alice.put("List", "a", ["title": "A"])
    try alice.put("Reminder", "1", ["title": "one"], under: list)
    try await world.sync(alice)
    let share = try await alice.share(list, permission)
    let bob = world.bob()
    try await world.sync(bob)
    try await bob.accept(try #require(share.url))
    return (bob, list, try #require(bob.row(named: "List:a")))
  }

  /// Proves SC-85, SC-86, SC-87.
  @Test(
    "In a read-only share, edits are refused before anything is sent")
  func readOnlyShareRefusesEdits() async throws {
    let (bob, _, list) = try await shared(.readOnly)
    let item = try #require(bob.row(named: "Reminder:1"))
    #expect(throws: ListsError.readOnly) { try bob.put("Reminder", "2", under: list) }
    #expect(throws: ListsError.readOnly) { try bob.delete(item) }
    #expect(throws: ListsError.readOnly) { try bob.put("Reminder", "1", ["title": "x"]) }
    #expect(bob.value(item, "title") == "one")
  }

  /// Proves SC-88.
  @Test("An edit that the server refuses is replaced by the server's version")
  func refusedByServer() async throws {
    let (bob, list, theirs) = try await shared()
    try await alice.share(list, .readOnly)
    let item = try #require(bob.row(named: "Reminder:1"))
    try bob.put("Reminder", "1", ["title": "mine"])
    try bob.put("Reminder", "2", ["title": "new"], under: theirs)
    try? await bob.engine(.shared)?.sendChanges()
    #expect(bob.value(item, "title") == "one" && bob.row(named: "Reminder:2") == nil)
    try await world.sync(bob, alice)
    #expect(try world.stored() == ["List:a", "Reminder:1"])
  }

  /// Proves SC-89, SC-90, SC-91, SC-100.
  @Test(
    "Each share that cannot be made or ended names its obstacle")
  func refusedShareNamesObstacle() async throws {
    let list = try alice.put("List", "a")
    let item = try alice.put("Reminder", "1", under: list)
    let place = try alice.put("Position", "a", under: list)
    try await world.sync(alice)
    await #expect(throws: ListsError.notRoot(parent: "List:a")) { try await alice.share(item) }
    await #expect(throws: ListsError.privateTable("Position")) { try await alice.share(place) }
    await #expect(throws: ListsError.notShared) { try await alice.unshare(list) }
    alice.stop()
    await #expect(throws: ListsError.stopped) { try await alice.share(list) }
  }

  /// Proves SC-92, SC-93.
  @Test("Private records stay in the user's own zone, below a shared root too")
  func privateRecordsStayInOwnZone() async throws {
    let list = try alice.put("List", "a")
    try alice.put("Position", "a", ["place": "1"], under: list)
    try await world.sync(alice)
    let share = try await alice.share(list)
    let bob = world.bob()
    try await bob.accept(try #require(share.url))
    #expect(Set(bob.rows.keys) == ["List:a"], "what is private does not come along")
    let theirs = try #require(bob.row(named: "List:a"))
    let place = try bob.put("Position", "a", ["place": "9"], under: theirs)
    try await world.sync(bob, alice)
    #expect(try place.zoneID == ListsApp.zone.zoneID && world.stored("bob") == ["Position:a"])
    #expect(try world.stored() == ["List:a", "Position:a"])
  }

  /// Proves SC-53, SC-94, SC-96, SC-97.
  @Test(
    "A participant creates and deletes children in the owner's zone")
  func participantChangesChildrenInOwnersZone() async throws {
    let (bob, _, list) = try await shared()
    let item = try bob.put("Reminder", "2", ["title": "by bob"], under: list)
    let task = try bob.put("Subtask", "2", ["title": "too"], under: item)
    #expect(task.zoneID == list.zoneID && list.zoneID.ownerName != CKCurrentUserDefaultName)
    try await bob.engine(.shared)?.sendChanges()
    #expect(try world.stored() == ["List:a", "Reminder:1", "Reminder:2", "Subtask:2"])
    try await world.sync(alice)
    #expect(alice.rows["Reminder:2"]?["title"] == "by bob")
    try bob.delete(item)
    try await world.sync(bob, alice)
    #expect(try world.stored() == ["List:a", "Reminder:1"])
    try world.expectSame(alice, bob)
  }

  /// Proves CE-110, SC-95, SC-102, SC-103.
  @Test(
    "Leaving a share removes its records from the participant and none from the owner")
  func leavingShareKeepsOwnersRecords() async throws {
    let (bob, _, list) = try await shared()
    #expect(bob.contents.withLock { $0.shares.count } == 1)
    try bob.delete(list)
    try await world.sync(bob, alice)
    #expect(try bob.rows.isEmpty && world.stored() == ["List:a", "Reminder:1"])
    try world.expectSame(bob)
  }

  /// Proves SC-98, SC-99, SC-101, SC-104.
  @Test(
    "Sharing again changes the share; when it ends, participants lose its records")
  func endedShareRemovesParticipantRecords() async throws {
    let (bob, list, _) = try await shared()
    let first = try await alice.share(list)
    let second = try await alice.share(list)
    #expect(first.recordID == second.recordID && first.url == second.url)
    try await alice.unshare(list)
    try await world.sync(bob, alice)
    #expect(bob.rows.isEmpty && alice.rows.count == 2)
    let third = try await alice.share(list)
    #expect(third.url == first.url)
    try await bob.accept(try #require(third.url))
    #expect(bob.rows.count == 2)
    try alice.delete(list)
    try await world.sync(alice, bob)
    #expect(try bob.rows.isEmpty && world.stored().isEmpty)
  }

  /// Proves SC-105, SC-109.
  @Test(
    "A subtree moved below a shared root is created in the owner's zone, also while stopped",
    arguments: [false, true])
  func subtreeMovesIntoSharedZone(whileStopped: Bool) async throws {
    let (bob, _, theirs) = try await shared()
    let mine = try bob.put("List", "mine")
    let item = try bob.put("Reminder", "m", ["title": "moving"], under: mine)
    try bob.put("Subtask", "m", under: item)
    try await world.sync(bob)
    if whileStopped { bob.stop() }
    let moved = try bob.move(item, under: theirs)
    if whileStopped { bob.start() }
    try await world.sync(bob, alice)
    #expect(try moved.zoneID == theirs.zoneID && world.stored("bob") == ["List:mine"])
    #expect(try world.stored() == ["List:a", "Reminder:1", "Reminder:m", "Subtask:m"])
    #expect(alice.rows["Reminder:m"]?["title"] == "moving")
    try world.expectSame(bob)
  }

  /// Proves SC-106, SC-107.
  @Test(
    "A moved subtree exists on the other device, whichever of deletion and save arrives first",
    arguments: [CKDatabase.Scope.private, .shared])
  func movedSubtreeReachesOtherDevice(first: CKDatabase.Scope) async throws {
    let (bob, _, theirs) = try await shared()
    let mine = try bob.put("List", "mine")
    let item = try bob.put("Reminder", "m", ["title": "moving"], under: mine)
    try await world.sync(bob)
    let other = world.bob("bob's other")
    try await world.sync(other)
    #expect(other.rows.count == 4)
    _ = try bob.move(item, under: theirs)
    try await world.sync(bob)
    let second: CKDatabase.Scope = first == .private ? .shared : .private
    try await other.engine(first)?.fetchChanges()
    try await other.engine(second)?.fetchChanges()
    let place = try #require(other.row(named: "Reminder:m"))
    #expect(place.zoneID.ownerName == theirs.zoneID.ownerName)
    #expect(other.value(place, "title") == "moving" && other.rows.count == 4)
  }

  /// Proves SC-108.
  @Test("A subtree moved out of a shared root is created in the private zone")
  func subtreeMovesBackToPrivateZone() async throws {
    let (bob, _, _) = try await shared()
    let mine = try bob.put("List", "mine")
    let item = try #require(bob.row(named: "Reminder:1"))
    try await world.sync(bob)
    _ = try bob.move(item, under: mine)
    try await world.sync(bob, alice)
    #expect(try world.stored() == ["List:a"])
    #expect(try world.stored("bob") == ["List:mine", "Reminder:1"])
    #expect(alice.rows.count == 1)
    try world.expectSame(bob)
  }

  /// Proves SC-110, SC-111, SC-112.
  @Test(
    "Edits and deletions of shared records made while stopped are sent after the start")
  func offlineSharedEditsAreSentAfterStart() async throws {
    let (bob, list, theirs) = try await shared()
    bob.stop()
    try bob.put("Reminder", "2", ["title": "while stopped"], under: theirs)
    bob.start()
    try await world.sync(bob, alice)
    #expect(alice.rows["Reminder:2"]?["title"] == "while stopped")
    bob.stop()
    try bob.delete(theirs)
    bob.start()
    try await world.sync(bob, alice)
    #expect(try bob.rows.isEmpty && world.stored().count == 3, "just the share is left")
    alice.stop()
    try alice.delete(list)
    alice.start()
    try await world.sync(alice)
    #expect(try world.stored().isEmpty && alice.rows.isEmpty)
    let shares = try world.server.records(
      in: ZoneID(name: "Lists"), container: ListsApp.container, account: "alice")
    #expect(shares.isEmpty, "the share went with its root")
  }

  /// Proves SC-50.
  @Test("A child created in a shared list while signed out is saved in the owner's zone")
  func softSignOut() async throws {
    let (bob, _, theirs) = try await shared()
    bob.contents.withLock { $0.keepsDataAtSignOut = true }
    bob.device.signOut()
    try? await bob.engine(.shared)?.fetchChanges()
    try? await bob.engine(.private)?.fetchChanges()
    try bob.put("Reminder", "2", ["title": "signed out"], under: theirs)
    bob.device.signIn(as: "bob")
    try await world.sync(bob, alice)
    #expect(alice.rows["Reminder:2"]?["title"] == "signed out")
    try world.expectSame(bob)
  }
}
