import CloudSync
import Foundation
import LoopbackServer
import Records
import Synchronization
import Testing

/// The server's records of the app, by name, with what they say.
func stored(_ server: LoopbackServer, _ account: String = "alice") throws -> [String: String] {
  let records = try server.records(
    in: ZoneID(name: "Notes"), container: NotesApp.container, account: account)
  return Dictionary(
    uniqueKeysWithValues: records.map { record in
      guard case .string(let text)? = record.fields["text"]?.value else {
        return (record.id.name, "")
      }
      return (record.id.name, text)
    })
}

/// Checks that the apps and the server hold the same, and that nothing waits anywhere.
func expectSame(
  _ server: LoopbackServer, _ apps: NotesApp..., as expected: [String: String],
  _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
) throws {
  #expect(try stored(server) == expected, comment, sourceLocation: sourceLocation)
  for app in apps {
    #expect(app.texts == expected, comment, sourceLocation: sourceLocation)
    let state = try app.engine.state
    #expect(
      state.pendingRecordZoneChanges.isEmpty && state.pendingDatabaseChanges.isEmpty
        && !state.hasPendingUntrackedChanges, comment, sourceLocation: sourceLocation)
  }
  #expect(server.controls.openRequestCount == 0, comment, sourceLocation: sourceLocation)
}

@Suite("Scenarios of the engine: accounts, launches, automatic sync")
struct EngineScenarioTests {
  /// Proves CE-89, CE-91, CE-94, CE-95, CS-105, FB-11, SC-48, SC-56, SC-143, SC-145.
  @Test("Data written before a sign-in or before the start is sent afterwards, the zone first")
  func beforeTheAccount() async throws {
    let server = LoopbackServer()
    let app = NotesApp(server, "phone", account: nil, starts: false)
    app.write(["a": "1"])
    #expect(server.controls.requestCount() == 0, "writeAndThenStart: nothing is sent yet")
    app.start()
    app.write(["b": "2"])
    for call in ["send", "fetch"] {
      await #expect(throws: CKError.self, "testNoCloudKitAccount: \(call)") {
        if call == "send" {
          try await app.engine.sendChanges()
        } else {
          try await app.engine.fetchChanges()
        }
      }
    }
    app.device.signIn(as: "alice")
    try await app.engine.fetchChanges()
    try await app.engine.sendChanges()
    try expectSame(server, app, as: ["a": "1", "b": "2"], "testCloudKitLogin")
  }

  /// Proves CE-80, CE-93, SC-144.
  @Test("With an account from the start, the sign-in is reported before the first send")
  func signInIsReportedBeforeFirstSend() async throws {
    let server = LoopbackServer()
    let app = NotesApp(server, "phone")
    app.write(["a": "1"])
    try await app.engine.sendChanges()
    let told = app.told()
    #expect(told.first == "accountChange" || told.first == "AccountChange")
    try expectSame(server, app, as: ["a": "1"])
  }

  /// Proves SC-49, SC-54.
  @Test("A delegate may keep its data at a sign-out; nothing the server has is sent again")
  func softSignOut() async throws {
    let server = LoopbackServer()
    let app = NotesApp(server, "phone")
    app.contents.withLock { $0.keepsDataAtSignOut = true }
    app.write(["a": "1"])
    try await app.engine.sendChanges()
    app.device.signOut()
    await #expect(throws: CKError.self) { try await app.engine.fetchChanges() }
    #expect(app.texts == ["a": "1"], "accountChanged: the delegate kept the data")
    app.write(["b": "2"])
    app.device.signIn(as: "alice")
    try await app.engine.fetchChanges()
    server.controls.forgetRequests()
    try await app.engine.sendChanges()
    let saves = server.controls.requests.filter { $0.kind == .modifyRecords }
    #expect(saves.map(\.itemCount) == [1], "only what the server does not know goes up")
    try expectSame(server, app, as: ["a": "1", "b": "2"])
  }

  /// Proves FB-10, SC-55.
  @Test("Signing out and switching accounts leave no data of the former account")
  func signOutLeavesNoFormerAccountData() async throws {
    let server = LoopbackServer()
    let app = NotesApp(server, "phone")
    app.write(["a": "1"])
    try await app.engine.sendChanges()
    app.write(["unsent": "x"])
    app.device.signOut()
    await #expect(throws: CKError.self) { try await app.engine.fetchChanges() }
    #expect(try app.texts.isEmpty && app.engine.state.pendingRecordZoneChanges.isEmpty)
    app.device.signIn(as: "bert")
    try await app.engine.fetchChanges()
    try await app.engine.sendChanges()
    #expect(try stored(server, "bert").isEmpty && stored(server) == ["a": "1"])
  }

  /// Proves CE-77, SC-58.
  @Test("With a virtual clock, automatic sync carries edits and deletions")
  func automaticSyncCarriesEditsAndDeletions() async throws {
    let server = LoopbackServer()
    let phone = NotesApp(server, "phone", automatically: true)
    let desk = NotesApp(server, "desk", automatically: true)
    phone.write(["a": "1", "b": "2"])
    await desk.wait { $0.notes.mapValues(\.text) == ["a": "1", "b": "2"] }
    phone.delete("a")
    await desk.wait { $0.notes.mapValues(\.text) == ["b": "2"] }
    desk.write(["b": "3"])
    await phone.wait { $0.notes.mapValues(\.text) == ["b": "3"] }
    #expect(try stored(server) == ["b": "3"], "delete: nothing comes back")
  }

  /// Proves CE-60, FB-3, SC-141.
  @Test("10,000 records arrive on the other device by automatic sync")
  func tenThousandRecordsSyncAutomatically() async throws {
    let server = LoopbackServer()
    let phone = NotesApp(server, "phone", automatically: true)
    let desk = NotesApp(server, "desk", automatically: true)
    let texts = Dictionary(uniqueKeysWithValues: (0..<10_000).map { ("n\($0)", "text \($0)") })
    phone.write(texts)
    await desk.wait { $0.notes.count == 10_000 }
    await phone.wait { $0.notes.allSatisfy { $0.value.server != nil } }
    #expect(try stored(server) == texts && desk.texts == texts && phone.texts == texts)
    let largest = server.controls.requests.filter { $0.kind == .modifyRecords }.map(\.itemCount)
      .max()
    #expect(largest == 250)
  }

  /// Proves CE-108, S4, SC-52, SC-126, SC-127.
  @Test("A push to a stopped engine has no effect; one without changes or during launch is handled")
  func pushToStoppedEngineHasNoEffect() async throws {
    let server = LoopbackServer()
    let phone = NotesApp(server, "phone")
    phone.write(["a": "1"])
    try await phone.engine.sendChanges()
    let desk = NotesApp(server, "desk", automatically: true)
    await desk.wait { $0.notes.count == 1 }
    phone.write(["a": "2"])
    try await phone.engine.sendChanges()
    await desk.wait { $0.notes["a"]?.text == "2" }
    let push = try #require(server.controls.pushes.first?.push)
    // A push that brings nothing new is a fetch without records.
    _ = desk.told()
    server.controls.deliver(push, to: "desk")
    await desk.wait { $0.log.contains { $0.lowercased() == "didfetchchanges" } }
    #expect(!desk.told().contains { $0.lowercased() == "fetchedrecordzonechanges" })
    // While the app is not running nobody hears one.
    desk.stop()
    server.controls.forgetRequests()
    server.controls.deliver(push, to: "desk")
    #expect(server.controls.requestCount() == 0)
    // One that comes while the app starts is heard, or its news are found anyway.
    phone.write(["b": "2"])
    try await phone.engine.sendChanges()
    desk.start(automatically: true)
    server.controls.deliver(push, to: "desk")
    await desk.wait { $0.notes.count == 2 }
    try expectSame(server, phone, desk, as: ["a": "2", "b": "2"])
  }

  /// Proves CS-99, S4, SC-21, SC-22.
  @Test(
    "A late push leads to the current records, and deletes none that was created again")
  func latePushFetchesCurrentRecords() async throws {
    let server = LoopbackServer()
    let phone = NotesApp(server, "phone")
    let desk = NotesApp(server, "desk", automatically: true)
    phone.write(["a": "1", "b": "1"])
    try await phone.engine.sendChanges()
    await desk.wait { $0.notes.count == 2 }
    server.controls.holdPushes()
    phone.write(["a": "2"])
    phone.delete("b")
    try await phone.engine.sendChanges()
    phone.write(["a": "3", "b": "again"])
    try await phone.engine.sendChanges()
    _ = desk.told()
    server.controls.releasePushes()
    await desk.wait { $0.notes["b"]?.text == "again" }
    #expect(desk.texts == ["a": "3", "b": "again"])
    let fetched = desk.told().filter { $0.lowercased() == "fetchedrecordzonechanges" }
    #expect(fetched.count <= 1, "the versions in between are not delivered")
    #expect(server.controls.heldPushCount == 0)
  }

  /// Proves CE-101, FB-9, I21, SC-40.
  @Test("After a reset of encrypted data the device uploads everything again")
  func encryptedDataReset() async throws {
    let server = LoopbackServer()
    let (phone, desk) = (NotesApp(server, "phone"), NotesApp(server, "desk"))
    phone.write(["a": "1", "b": "2"])
    try await phone.engine.sendChanges()
    try await desk.engine.fetchChanges()
    try server.controls.resetEncryptedData(
      ZoneID(name: "Notes"), container: NotesApp.container, account: "alice")
    for app in [phone, desk, phone, desk] {
      try await app.engine.fetchChanges()
      // The second device finds the records there already, takes them and is done.
      do { try await app.engine.sendChanges() } catch let error as CKError {
        #expect(error.code == .partialFailure || error.code == .serverRecordChanged)
        try await app.engine.sendChanges()
      }
    }
    try expectSame(server, phone, desk, as: ["a": "1", "b": "2"])
  }

  /// Proves FB-3, SC-17, SC-68.
  @Test("batchAssociations: 500 records are read again in pieces that keep to the limit")
  func manyByID() async throws {
    let server = LoopbackServer()
    let app = NotesApp(server, "phone")
    let names = (0..<500).map { "n\($0)" }
    app.write(Dictionary(uniqueKeysWithValues: names.map { ($0, "x") }))
    try await app.engine.sendChanges()
    let database = CKContainer(identifier: NotesApp.container, transport: app.device)
      .privateCloudDatabase
    let ids = names.map { NotesApp.id($0) }
    await #expect(throws: CKError.self) { try await database.records(for: ids) }
    var found = 0
    for start in stride(from: 0, to: ids.count, by: 200) {
      let piece = Array(ids[start..<min(start + 200, ids.count)])
      found += try await database.records(for: piece).count
    }
    #expect(found == 500)
  }
}
