import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import Synchronization
import Testing

@Suite("Scenarios of zones that went while tokens expired", .timeLimit(.minutes(20)))
struct MissingZoneScenarioTests {
  private static let reasons: [ZoneDeletionReason] = [.deleted, .purged, .encryptedDataReset]

  /// Fills `desk`, removes its zone, lets the database's tokens expire, and fetches again.
  private func lose(
    _ zone: ZoneDeletionReason, _ server: LoopbackServer, _ desk: NotesApp
  ) async throws {
    desk.write(["a": "1"])
    try await desk.engine.sendChanges()
    try await desk.engine.fetchChanges()
    let (id, container) = (ZoneID(name: "Notes"), NotesApp.container)
    switch zone {
    case .deleted: try server.controls.deleteZone(id, container: container, account: "alice")
    case .purged: try server.controls.purgeZone(id, container: container, account: "alice")
    case .encryptedDataReset:
      try server.controls.resetEncryptedData(id, container: container, account: "alice")
    }
    try server.controls.expireTokens(container: container, account: "alice")
    try await desk.engine.fetchChanges()
  }

  private func word(_ reason: ZoneDeletionReason) -> CKDatabase.DatabaseChange.Deletion.Reason {
    switch reason {
    case .deleted: .deleted
    case .purged: .purged
    case .encryptedDataReset: .encryptedDataReset
    }
  }

  /// Proves CE-114, SC-167.
  @Test("After an expired token the app learns the true reason, in process", arguments: reasons)
  func reasonInProcess(reason: ZoneDeletionReason) async throws {
    let server = LoopbackServer()
    let desk = NotesApp(server, "desk")
    try await lose(reason, server, desk)
    #expect(desk.contents.withLock { $0.losses } == [word(reason)])
    #expect(desk.texts == (reason == .encryptedDataReset ? ["a": "1"] : [:]))
  }

  /// Proves CE-114, SC-167.
  @Test("After an expired token the app learns the true reason, over HTTP", arguments: reasons)
  func reasonOverHTTP(reason: ZoneDeletionReason) async throws {
    let world = try WebWorld()
    let desk = try world.app("desk")
    desk.start()
    try await lose(reason, world.server, desk)
    #expect(desk.contents.withLock { $0.losses } == [word(reason)])
    desk.stop()
    #expect(await world.end())
  }

  /// Starts `next` with all that `last` kept, on another server, and syncs.
  private func move(_ last: NotesApp, to next: NotesApp, on server: LoopbackServer) async throws {
    next.contents.withLock { contents in
      (contents.notes, contents.state) = last.contents.withLock { ($0.notes, $0.state) }
    }
    next.start()
    try await next.engine.fetchChanges()
    #expect(next.contents.withLock { $0.losses } == [.encryptedDataReset])
    #expect(next.texts == ["a": "1", "b": "2"], "nothing is dropped")
    try await next.engine.sendChanges()
    try expectSame(server, next, as: ["a": "1", "b": "2"])
  }

  /// Proves CE-117, SC-168.
  @Test("A server that began again without its data gets all of it from the app, in process")
  func serverThatBeganAgain() async throws {
    let (first, second) = (LoopbackServer(), LoopbackServer())
    let desk = NotesApp(first, "desk")
    desk.write(["a": "1", "b": "2"])
    try await desk.engine.sendChanges()
    try await desk.engine.fetchChanges()
    try await move(desk, to: NotesApp(second, "desk", starts: false), on: second)
  }

  /// Proves CE-117, SC-168.
  @Test("A server that began again without its data gets all of it from the app, over HTTP")
  func serverThatBeganAgainOverHTTP() async throws {
    let (first, second) = (try WebWorld(), try WebWorld())
    let desk = try first.app("desk")
    desk.start()
    desk.write(["a": "1", "b": "2"])
    try await desk.engine.sendChanges()
    try await desk.engine.fetchChanges()
    desk.stop()
    let next = try second.app("desk")
    try await move(desk, to: next, on: second.server)
    next.stop()
    #expect(await first.end())
    #expect(await second.end())
  }

  /// Proves CE-160, SC-210.
  @Test("A server that began again gets the engine's subscription, so that pushes come")
  func aServerThatBeganAgainGetsTheSubscription() async throws {
    let (first, second) = (LoopbackServer(), LoopbackServer())
    let desk = NotesApp(first, "desk", automatically: true)
    desk.write(["a": "1"])
    try await desk.engine.sendChanges()
    try await desk.engine.fetchChanges()
    func subscriptions(_ server: LoopbackServer) throws -> [String] {
      try server.subscriptions(container: NotesApp.container, account: "alice")
        .map(\.id.rawValue)
    }
    #expect(try subscriptions(first) == ["cloudsync-database-changes"])
    let next = NotesApp(second, "desk", starts: false)
    next.contents.withLock { contents in
      (contents.notes, contents.state) = desk.contents.withLock { ($0.notes, $0.state) }
    }
    desk.stop()
    next.start(automatically: true)
    try await next.engine.fetchChanges()
    try #require(try subscriptions(second) == ["cloudsync-database-changes"])
    try await next.engine.sendChanges()
    let phone = NotesApp(second, "phone", automatically: true)
    await phone.wait { $0.notes["a"] != nil }
    phone.write(["b": "2"])
    await next.wait { $0.notes["b"]?.text == "2" }
    #expect(next.texts == ["a": "1", "b": "2"])
  }
}
