import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import Testing

/// The result of every call in each of the five states of an account.
@Suite("Account states", .timeLimit(.minutes(20)))
struct AccountStateTests {
  /// The transports from a device to the server.
  enum Route: CaseIterable, Sendable {
    case inProcess, overHTTP
  }

  /// A state, its account status and the error of every call; `nil` where there is none.
  struct Case: Sendable {
    var availability: AccountAvailability?
    var status: CKAccountStatus
    var code: CKError.Code?
  }

  static let cases = [
    Case(availability: .available, status: .available, code: nil),
    Case(availability: .restricted, status: .restricted, code: .notAuthenticated),
    Case(availability: nil, status: .noAccount, code: .notAuthenticated),
    Case(
      availability: .temporarilyUnavailable, status: .temporarilyUnavailable,
      code: .accountTemporarilyUnavailable),
    Case(availability: .couldNotDetermine, status: .couldNotDetermine, code: .notAuthenticated),
  ]

  /// Proves CS-174, CS-175, CE-150.
  @Test(arguments: cases, Route.allCases)
  func everyCallAnswersAsTheAccountStateSaysAndNothingPendingIsDropped(
    _ row: Case, _ route: Route
  ) async throws {
    let world = try WebWorld()
    let app = try app(in: world, route)
    app.start()
    app.enqueueAll(try app.engine.state)
    try await app.engine.sendChanges()
    try await app.engine.fetchChanges()
    app.write(["kept": "1"])
    try await setState(row.availability, of: app)

    let container = CKContainer(identifier: NotesApp.container, transport: app.transport)
    #expect(try await container.accountStatus() == row.status)
    let database = container.privateCloudDatabase
    let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
    let fresh = CKRecord(recordType: "Note", recordID: NotesApp.id("fresh"))
    let code = row.code
    #expect(await failure { _ = try await database.records(for: [NotesApp.id("a")]) } == code)
    #expect(await failure { _ = try await database.save(fresh) } == code)
    #expect(
      await failure {
        _ = try await database.records(matching: query, inZoneWith: NotesApp.zone.zoneID)
      } == code)
    if row.availability != nil {
      #expect(await failure { try await app.engine.fetchChanges() } == code)
      #expect(await failure { try await app.engine.sendChanges() } == code)
      let pending = try app.engine.state.pendingRecordZoneChanges
      #expect(pending.isEmpty == (row.code == nil))
      #expect(app.told().allSatisfy { !$0.hasPrefix("signOut") })
      try await setState(.available, of: app)
      try await app.engine.sendChanges()
      #expect(try stored(world.server)["kept"] == "1")
    }
    app.stop()
    #expect(await world.end())
  }

  /// Proves CE-174.
  @Test func aTokenThatTheServerRefusesSignsNoAccountOutAndDropsNoChange() async throws {
    let world = try WebWorld()
    let app = try world.app("phone")
    app.start()
    app.enqueueAll(try app.engine.state)
    try await app.engine.sendChanges()
    try await app.engine.fetchChanges()
    app.write(["kept": "1"])
    let transport = try #require(app.transport as? WebServicesTransport)
    let token = transport.webAuthToken
    transport.signIn(webAuthToken: "expired")
    let container = CKContainer(identifier: NotesApp.container, transport: transport)
    #expect(try await container.accountStatus() == .temporarilyUnavailable)
    let code = CKError.Code.accountTemporarilyUnavailable
    #expect(await failure { try await app.engine.fetchChanges() } == code)
    #expect(await failure { try await app.engine.sendChanges() } == code)
    #expect(try !app.engine.state.pendingRecordZoneChanges.isEmpty)
    #expect(app.told().allSatisfy { !$0.hasPrefix("signOut") })
    transport.signIn(webAuthToken: token)
    try await app.engine.sendChanges()
    #expect(try stored(world.server)["kept"] == "1")
    app.stop()
    #expect(await world.end())
  }

  /// Proves CE-151.
  @Test func aRestrictedAccountThatIsAvailableAgainSendsByItself() async throws {
    let server = LoopbackServer()
    let app = NotesApp(server, "phone", automatically: true)
    app.enqueueAll(try app.engine.state)
    app.write(["first": "1"])
    await app.wait { $0.notes["first"]?.server != nil }
    app.device.setAvailability(.restricted)
    app.write(["second": "1"])
    #expect(await failure { try await app.engine.sendChanges() } == .notAuthenticated)
    app.device.setAvailability(.available)
    await app.wait { $0.notes["second"]?.server != nil }
    #expect(try stored(server) == ["first": "1", "second": "1"])
    app.stop()
    server.close()
  }

  private func app(in world: WebWorld, _ route: Route) throws -> NotesApp {
    switch route {
    case .inProcess: NotesApp(world.server, "phone", starts: false)
    case .overHTTP: try world.app("phone")
    }
  }

  private func setState(_ availability: AccountAvailability?, of app: NotesApp) async throws {
    if let availability { return app.device.setAvailability(availability) }
    if let way = app.transport as? WebServicesTransport {
      way.signIn(webAuthToken: nil)
    } else {
      app.device.signOut()
    }
  }

  private func failure(_ work: () async throws -> Void) async -> CKError.Code? {
    do { try await work() } catch { return (error as? CKError)?.code }
    return nil
  }
}
