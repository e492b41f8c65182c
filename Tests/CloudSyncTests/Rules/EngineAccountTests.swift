import CloudProtocol
import CloudSync
import LoopbackServer
import Records
import Testing

/// Rules of accounts, databases, zones and subscriptions that no scenario is about.
@Suite("Rules of the engine: accounts, zones, subscriptions", .timeLimit(.minutes(20)))
struct EngineAccountTests {
  private let server = LoopbackServer()

  /// Proves CE-89.
  @Test("An engine that nobody is signed in for starts by itself when somebody is")
  func signInWakes() async throws {
    let app = NotesApp(server, "phone", account: nil, automatically: true)
    app.write(["a": "1"])
    app.device.signIn(as: "alice")
    await app.wait { $0.notes["a"]?.server != nil }
    #expect(try stored(server) == ["a": "1"])
  }

  /// Proves CE-92, FB-10.
  @Test("Account changes while the app is off are reported as one, from the last known account")
  func offlineAccountSwitchesAreReportedAsOne() async throws {
    let listener = Listener()
    var engine: CKSyncEngine? = listener.engine(server)
    try await engine?.fetchChanges()
    engine?.state.add(pendingRecordZoneChanges: [.saveRecord(NotesApp.id("old"))])
    await listener.wait(for: "stateUpdate")
    engine = nil
    let device = server.device("phone", signedInAs: "alice")
    for account in ["bob", "carol"] {
      device.signOut()
      device.signIn(as: account)
    }
    let alice = try #require(listener.told.first { $0.hasPrefix("signIn") })
    let before = listener.told.count
    let next = listener.engine(server, account: "carol")
    try await next.fetchChanges()
    let accounts = listener.told.dropFirst(before).filter {
      $0.hasPrefix("sign") || $0.hasPrefix("switch")
    }
    let carol = try await CKContainer(identifier: NotesApp.container, transport: device)
      .userRecordID().recordName
    #expect(accounts == ["switch \(alice.dropFirst("signIn ".count)) \(carol)"])
    #expect(next.state.pendingRecordZoneChanges.isEmpty)
  }

  /// Proves CE-97.
  @Test("A public database cannot be synced, and every operation fails with that error")
  func publicDatabaseSyncIsRefused() async throws {
    let listener = Listener()
    let container = CKContainer(
      identifier: NotesApp.container, transport: server.device("phone", signedInAs: "alice"))
    let engine = CKSyncEngine(
      CKSyncEngine.Configuration(
        database: container.publicCloudDatabase, stateSerialization: nil, delegate: listener))
    for isSend in [true, false] {
      do {
        if isSend { try await engine.sendChanges() } else { try await engine.fetchChanges() }
        Issue.record("a public database was synced")
      } catch { #expect((error as? CKError)?.code == .badDatabase) }
    }
    #expect(server.controls.requestCount() == 0 && listener.told.isEmpty)
  }

  /// Proves CE-98.
  @Test("No zone is made unasked: a save into a missing one is zoneNotFound")
  func noImplicitZone() async throws {
    let listener = Listener()
    let engine = listener.engine(server)
    engine.state.add(pendingRecordZoneChanges: [.saveRecord(NotesApp.id("a"))])
    await #expect(throws: CKError.self) { try await engine.sendChanges() }
    #expect(listener.told.contains("sent 0 [\(CKError.Code.zoneNotFound.rawValue)]"))
    #expect(try server.zones(container: NotesApp.container, account: "alice").isEmpty)
    #expect(engine.state.pendingRecordZoneChanges.isEmpty)
  }

  /// Proves CE-106, CE-107.
  @Test("An engine uses an existing subscription or creates one, and none in manual mode")
  func engineReusesExistingSubscription() async throws {
    func subscriptions(_ server: LoopbackServer) throws -> [Subscription] {
      try server.subscriptions(container: NotesApp.container, account: "alice")
    }
    let cases: [(name: String?, existing: String?, automatic: Bool, expected: [String])] = [
      (nil, nil, true, ["cloudsync-database-changes"]), (nil, "theirs", true, ["theirs"]),
      ("mine", nil, true, ["mine"]), ("mine", "theirs", true, ["mine", "theirs"]),
      (nil, nil, false, []), ("mine", nil, false, []),
    ]
    for (name, existing, isAutomatic, expected) in cases {
      let server = LoopbackServer()
      if let existing {
        let database = CKContainer(
          identifier: NotesApp.container, transport: server.device("desk", signedInAs: "alice")
        ).privateCloudDatabase
        let subscription = CKDatabaseSubscription(subscriptionID: existing)
        subscription.notificationInfo = .init(shouldSendContentAvailable: true)
        _ = try await database.save(subscription)
      }
      let listener = Listener()
      let engine = listener.engine(server, automatically: isAutomatic, subscription: name)
      try await engine.fetchChanges()
      await listener.wait(for: "didFetch")
      let found = try subscriptions(server)
      #expect(found.map(\.id.rawValue).sorted() == expected, "\(name ?? "-") \(existing ?? "-")")
      for one in found {
        #expect(one.kind == .database(recordType: nil))
        #expect(one.notificationInfo?.shouldSendContentAvailable == true)
        #expect(one.notificationInfo?.alertBody == nil)
      }
    }
  }
}
