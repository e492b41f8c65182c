import CloudMachine
import CloudProtocol
import Foundation
import Records
import Testing

@testable import LoopbackServer

@Suite("Emptying a server")
struct ResetTests {
  /// Proves S9.
  @Test("A reset keeps only the devices, and nothing issued before is accepted as new")
  func resetKeepsOnlyDevices() async throws {
    let file = try TemporaryFile()
    defer { file.remove() }
    for server in [LoopbackServer(identity: 1), try LoopbackServer(path: file.path, identity: 1)] {
      let world = try await ArchiveWorld(filling: server)
      let archive = try server.exportArchive()
      let phone = server.device("phone")
      #expect(throws: CloudError.self) { try server.reset(identity: 1) }
      #expect(try server.exportArchive() == archive)
      try server.reset()
      #expect(try server.exportArchive().count { $0 == 10 } == 2)
      #expect(try server.accounts().isEmpty && server.databases().isEmpty)
      #expect(phone.account == "alice" && server.device("phone") === phone)

      // The same steps make the same users, zones and numbers again.
      let again = try await ArchiveWorld(filling: server)
      #expect(again.url != world.url)
      #expect(again.databaseToken != world.databaseToken && again.zoneToken != world.zoneToken)
      let old = try await world.continued(on: server)
      #expect(
        Array(old.prefix(4)) == [
          "changeTokenExpired", "changeTokenExpired", "changeTokenExpired", "invalidArguments",
        ])
      #expect(old.last?.contains("failure") == true)
      let new = try await again.continued(on: server)
      #expect(new.allSatisfy { $0.contains("(") })

      // Another reset is another life again, and the archive of the first can come back.
      try server.reset(identity: 9)
      let empty = try server.exportArchive()
      #expect(throws: CloudError.self) { try server.importArchive(archive.dropLast(5)) }
      #expect(try server.exportArchive() == empty)
      try server.importArchive(archive)
      #expect(try server.exportArchive() == archive)
      #expect(try await world.continued(on: server).allSatisfy { $0.contains("(") })
      #expect(try await again.continued(on: server).first == "changeTokenExpired")
      server.close()
    }
  }

  @Test("A reset and an import are events of the server, and a refused import is none")
  func replacementsAreEvents() throws {
    let server = LoopbackServer()
    let archive = try server.exportArchive()
    func events(of replace: () throws -> Void) throws -> [ServerEvent.Content] {
      let last = server.lastEventNumber
      try replace()
      return server.events(after: last).events.map(\.content)
    }
    #expect(try events { try server.reset() } == [.replacement])
    #expect(try events { try server.importArchive(archive) } == [.replacement])
    let refused = try events {
      #expect(throws: CloudError.self) { try server.importArchive(archive.dropLast(5)) }
    }
    #expect(refused == [])
    server.close()
  }

  @Test("After an import or a reset a name is the user that the new contents give it")
  func namesAreThoseOfTheNewContents() async throws {
    let storage = MemoryStorage(identity: 2, secret: .random())
    let other = UserID("_0123456789abcdef0123456789abcdef")
    try storage.commit([.putAccount(AccountRow(name: "alice", user: other))])
    let archive = try LoopbackServer(storage: storage).exportArchive()
    let server = LoopbackServer()
    let own = try server.user(of: "alice")
    #expect(own != other)
    try server.importArchive(archive)
    #expect(try server.user(of: "alice") == other)
    #expect(try await user(of: server.device("phone", signedInAs: "alice")) == other)
    try server.reset()
    #expect(try server.user(of: "alice") == own)
    server.close()
  }

  @Test("A server that was reset pushes the next change of another server on the file")
  func nextChangeAfterResetIsPushed() async throws {
    let file = try TemporaryFile()
    defer { file.remove() }
    let servers = try (0..<2).map { _ in try LoopbackServer(path: file.path) }
    try servers[0].reset()
    let tablet = servers[0].device("tablet", signedInAs: "alice")
    let phone = servers[1].device("phone", signedInAs: "alice")
    let subscription = Subscription(id: SubscriptionID("all"), kind: .database(recordType: nil))
    _ = try await phone.send(call("z", .modifyZones(ModifyZones(save: [zoneA]))))
    _ = try await phone.send(
      call("s", .modifySubscriptions(ModifySubscriptions(save: [subscription]))))
    _ = try await phone.send(saving("a"))
    #expect(try servers[0].checkForForeignChanges())
    #expect(try servers[0].signingSecret() == servers[1].signingSecret())
    withExtendedLifetime(tablet) {}
    for server in servers { server.close() }
  }

  @Test("Another server on the same file sees changes after a reset and after an import")
  func resetAndImportReachOtherServer() async throws {
    let file = try TemporaryFile()
    defer { file.remove() }
    let first = try LoopbackServer(path: file.path)
    let second = try LoopbackServer(path: file.path)
    let tablet = second.device("tablet", signedInAs: "alice")
    let phone = first.device("phone", signedInAs: "alice")
    let subscription = Subscription(id: SubscriptionID("all"), kind: .database(recordType: nil))
    func start() async throws {
      _ = try await phone.send(call("z\(zoneA)", .modifyZones(ModifyZones(save: [zoneA]))))
      _ = try await phone.send(
        call("s", .modifySubscriptions(ModifySubscriptions(save: [subscription]))))
    }
    try await start()
    let other = first.device("other", signedInAs: "bob")
    _ = try await other.send(call("z", .modifyZones(ModifyZones(save: [zoneA]))))
    _ = try await other.send(
      call("s", .modifySubscriptions(ModifySubscriptions(save: [subscription]))))
    for name in ["a", "b", "c", "d"] { _ = try await phone.send(saving(name)) }
    _ = try second.checkForForeignChanges()
    second.controls.forgetRequests()
    let archive = try first.exportArchive()
    try first.reset()
    #expect(try !second.checkForForeignChanges())
    try await start()
    #expect(try second.checkForForeignChanges(), "its numbers are below those of before")
    #expect(second.controls.pushes.map(\.device) == ["tablet"])
    try first.reset()
    try first.importArchive(archive)
    #expect(try !first.checkForForeignChanges(), "its own import is no news to it")
    _ = try await tablet.send(saving("e"))
    first.controls.forgetRequests()
    #expect(try first.checkForForeignChanges())
    #expect(first.controls.pushes.map(\.device) == ["phone"], "bob's zone did not change")
    first.close()
    second.close()
  }
}
