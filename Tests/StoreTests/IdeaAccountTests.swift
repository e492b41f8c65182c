import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import Testing

@testable import IdeaStore

@Suite("Ideas and accounts", .timeLimit(.minutes(20)))
struct IdeaAccountTests {
  let server = LoopbackServer()

  /// Every byte a device still holds: what its store says, and its files with their names.
  private func bytes(of device: IdeaDevice) throws -> Data {
    var data = Data()
    for name in device.folder.names() {
      data += Data(name.utf8)
      data += try Data(contentsOf: device.folder.url.appendingPathComponent(name))
    }
    let store = device.store
    var said = ""
    dump(store, to: &said)
    return data
      + Data("\(said)\(store.ideas)\(store.deletedIdeas)\(store.log)\(store.status)".utf8)
  }

  private func traces(of secrets: [String], in device: IdeaDevice) throws -> [String] {
    let data = try bytes(of: device)
    return secrets.filter { data.range(of: Data($0.utf8)) != nil }
  }

  @Test(
    "I: After a switch or sign-out no byte of the old account stays in memory, files or log",
    arguments: ["ben", nil])
  func accountSwitchErasesOldIdeas(_ next: String?) async throws {
    let folder = ResultFolder()
    try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
    try Data("damaged geheim".utf8).write(
      to: folder.url.appendingPathComponent("ideas.journal"))
    let phone = try IdeaDevice(server, "phone", folder: folder)
    try await phone.begin()
    let sent = try phone.store.create(title: "geheim gesendet", description: "geheim eins")
    let gone = try phone.store.create(title: "geheim gelöscht")
    await phone.status(\.isDone)
    try phone.store.delete(gone.id)
    await phone.status(\.isDone)
    phone.device.isOnline = false
    let unsent = try phone.store.create(title: "geheim ungesendet")
    let secrets = ["geheim"] + [sent, gone, unsent].map(\.id.uuidString)
    #expect(try traces(of: secrets, in: phone) == secrets, "the search finds what is there")
    if let next { phone.device.signIn(as: next) } else { phone.device.signOut() }
    phone.device.isOnline = true
    try await phone.store.syncNow()
    await phone.status { _ in phone.store.ideas.isEmpty }
    #expect(try traces(of: secrets, in: phone) == [])
    let status = await phone.status { $0.phase == (next == nil ? .offline : .synced) }
    #expect(status.pending == 0 && status.damage == nil)
    if next == nil { #expect(status.message?.contains("Sign in") == true) }
    phone.device.signIn(as: "ada")
    try await phone.store.syncNow()
    #expect(phone.titles == ["geheim gesendet"])
    await phone.store.stop()
  }

  @Test("I: Ideas made while signed out wait, and belong to the account that signs in")
  func ideasBeforeSignInBelongToNewAccount() async throws {
    let phone = try IdeaDevice(server, "phone", account: nil)
    let idea = try phone.store.create(title: "before")
    let status = try await phone.begin()
    #expect(status.phase == .offline && status.pending == 1 && status.code == .notAuthenticated)
    #expect(status.nextAttempt == nil)
    phone.device.signIn(as: "ada")
    await phone.status(\.isDone)
    #expect(try server.ideas().count == 1 && phone.store.ideas == [idea])
    await phone.store.stop()
  }

  @Test("I: a switch while the app was not running is noticed before anything is sent")
  func switchWhileStopped() async throws {
    let folder = ResultFolder()
    let phone = try IdeaDevice(server, "phone", folder: folder)
    try await phone.begin()
    await phone.store.stop()
    try phone.store.create(title: "ada's")
    phone.device.signIn(as: "ben")
    let again = try IdeaDevice(server, "phone", account: "ben", folder: folder)
    try await again.begin()
    #expect(again.store.ideas.isEmpty)
    #expect(try server.ideas(of: "ben").isEmpty)
    await again.store.stop()
  }

  @Test("I: An answer that arrives after the account changed is ignored")
  func lateAnswerOfOldAccountIsIgnored() async throws {
    let other = try IdeaDevice(server, "other", account: "ben")
    try await other.begin()
    let bens = try other.store.create(title: "ben's")
    await other.status(\.isDone)
    let phone = try IdeaDevice(server, "phone", account: "ada")
    try await phone.begin()
    let adas = try phone.store.create(title: "ada's")
    await phone.status(\.isDone)
    let scope = RequestScope(kind: .queryRecords, device: "phone")
    server.controls.hold(next: 1, at: .afterCommit, in: scope)
    phone.store.trigger(.scheduled)
    await server.controls.waitForHeldRequests(in: scope)
    phone.device.signIn(as: "ben")
    server.controls.release()
    try await phone.store.syncNow()
    #expect(phone.store.ideas == [bens])
    #expect(try server.ideas(of: "ben").map(\.id.name) == [bens.id.uuidString])
    #expect(try server.ideas(of: "ada").map(\.id.name) == [adas.id.uuidString])
    await phone.store.stop()
    await other.store.stop()
  }

  @Test(
    "I: With an account that can't be used everything is kept, and sync resumes when it can",
    arguments: [
      (AccountAvailability.temporarilyUnavailable, CKError.Code.accountTemporarilyUnavailable),
      (.restricted, .managedAccountRestricted),
      (.couldNotDetermine, .accountTemporarilyUnavailable),
    ])
  func unusableAccountKeepsIdeasAndResumes(
    _ availability: AccountAvailability, _ code: CKError.Code
  ) async throws {
    let phone = try IdeaDevice(server, "phone")
    try await phone.begin()
    try phone.store.create(title: "before")
    await phone.status(\.isDone)
    phone.device.setAvailability(availability)
    try phone.store.create(title: "a")
    let status = await phone.status { $0.code == code }
    #expect(status.pending == 1 && phone.store.ideas.count == 2)
    phone.device.setAvailability(.available)
    await phone.status(\.isDone)
    await phone.store.stop()
  }

  @Test("A deletion that a push names is followed though the account may have changed meanwhile")
  func deletionSurvivesPossibleAccountChange() async throws {
    let phone = try IdeaDevice(server, "phone")
    let tablet = try IdeaDevice(server, "tablet")
    try await phone.begin()
    try await tablet.begin()
    let idea = try phone.store.create(title: "a")
    await tablet.status { _ in tablet.store.idea(idea.id) != nil }
    await tablet.rest()
    let queries = RequestScope(kind: .queryRecords, device: "tablet")
    server.controls.runAfterCommit(next: 1, in: queries) { _ in
      tablet.store.accountMayHaveChanged()
    }
    try phone.store.delete(idea.id)
    await phone.status(\.isDone)
    await tablet.rest()
    #expect(tablet.store.idea(idea.id) == nil)
    #expect(server.controls.requestCount(in: queries) > 1)
    for device in [phone, tablet] { await device.store.stop() }
  }
}
