import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import Testing

@Suite("The engine over HTTP", .timeLimit(.minutes(20)))
struct WebEngineTests {
  /// Proves CE-108, CE-111, S2, WS-71.
  @Test("Writes on one device reach the other by push, in both directions, without a request")
  func writesReachOtherDeviceByPush() async throws {
    let world = try WebWorld()
    let (phone, desk) = (try world.app("phone"), try world.app("desk"))
    for app in [phone, desk] {
      app.start(automatically: true)
      app.enqueueAll(try app.engine.state)
    }
    phone.write(["a": "1"])
    await desk.wait { $0.notes["a"]?.text == "1" }
    desk.write(["b": "2"])
    await phone.wait { $0.notes["b"]?.text == "2" }
    phone.write(["b": "3"])
    await desk.wait { $0.notes["b"]?.text == "3" }
    try await phone.engine.sendChanges()
    try await desk.engine.sendChanges()
    #expect(try stored(world.server) == ["a": "1", "b": "3"])
    phone.stop()
    desk.stop()
    #expect(await world.end())
  }

  @Test("Apps that name no device are separate devices, and get each other's pushes")
  func unnamedDevicesGetEachOthersPushes() async throws {
    let world = try WebWorld()
    let apps = try ["phone", "desk"].map { name in
      NotesApp(
        world.server.remoteDevice(name, account: "alice"), by: try world.transport(nil))
    }
    for app in apps {
      app.start(automatically: true)
      app.enqueueAll(try app.engine.state)
    }
    apps[0].write(["a": "1"])
    await apps[1].wait { $0.notes["a"]?.text == "1" }
    apps[1].write(["b": "2"])
    await apps[0].wait { $0.notes["b"]?.text == "2" }
    for app in apps { app.stop() }
    #expect(await world.end())
  }

  /// Proves WS-98.
  @Test("A lost answer leads to a conflict with the device's own save, which the app merges")
  func lostAnswerResolvesAsOwnConflict() async throws {
    let world = try WebWorld()
    let phone = try world.app("phone")
    phone.start()
    phone.enqueueAll(try phone.engine.state)
    try await phone.engine.sendChanges()
    for code in [CloudError.Code.networkFailure, .serverResponseLost, .serviceUnavailable] {
      world.server.controls.dropAnswers(as: code, in: RequestScope(kind: .modifyRecords))
      phone.write(["a": "\(code)"])
      // The engine asks for the batch anew, since the app may have changed it meanwhile.
      for _ in 0..<3 where try !phone.engine.state.pendingRecordZoneChanges.isEmpty {
        _ = try? await phone.engine.sendChanges()
      }
      try expectSame(world.server, phone, as: ["a": "\(code)"])
    }
    phone.stop()
    #expect(await world.end())
  }

  @Test("After a server restart, writes made meanwhile arrive and pushes continue")
  func writesArriveAfterServerRestart() async throws {
    let world = try WebWorld()
    let (phone, desk) = (try world.app("phone"), try world.app("desk"))
    for app in [phone, desk] {
      app.start(automatically: true)
      app.enqueueAll(try app.engine.state)
    }
    phone.write(["a": "1"])
    await desk.wait { $0.notes["a"]?.text == "1" }
    await world.goAway()
    await #expect(throws: CKError.self) { try await phone.engine.fetchChanges() }
    phone.write(["a": "2", "b": "1"])
    try world.comeBack()
    await desk.wait { $0.notes["a"]?.text == "2" && $0.notes["b"]?.text == "1" }
    desk.write(["c": "1"])
    await phone.wait { $0.notes["c"]?.text == "1" }
    phone.stop()
    desk.stop()
    #expect(await world.end())
  }

  @Test("A number without a form in plain Web Services is an error of its record")
  func numberWithoutFormIsError() async throws {
    let world = try WebWorld()
    let transport = ForwardingTransport(try world.transport("phone", understandsExtras: false))
    let database = CKContainer(identifier: "iCloud.plain", transport: transport)
      .privateCloudDatabase
    let values: [any CKRecordValueProtocol] = [
      Double.nan, -Double.infinity, [1, .nan], Date(timeIntervalSinceReferenceDate: 1e300),
    ]
    for value in values {
      let (bad, good) = (CKRecord(recordType: "Note"), CKRecord(recordType: "Note"))
      bad["number"] = value
      good["number"] = 1.5
      let results = try await database.modifyRecords(
        saving: [bad, good], deleting: [], atomically: false
      ).saveResults
      #expect(throws: CKError.self) { try results[bad.recordID]?.get() }
      #expect(try results[good.recordID]?.get()["number"] as? Double == 1.5)
      await #expect(throws: CKError.self) { try await database.record(for: bad.recordID) }
    }
    let zone = try await database.save(CKRecordZone(zoneName: "Numbers"))
    let (bad, good) = (
      CKRecord(recordType: "Note", recordID: .init(recordName: "bad", zoneID: zone.zoneID)),
      CKRecord(recordType: "Note", recordID: .init(recordName: "good", zoneID: zone.zoneID))
    )
    bad["number"] = Double.nan
    let results = try await database.modifyRecords(saving: [good, bad], deleting: []).saveResults
    #expect(throws: CKError.self) { try results[good.recordID]?.get() }
    await #expect(throws: CKError.self) { try await database.record(for: good.recordID) }
    #expect(await world.end())
  }

  /// Proves CE-111, WS-38, WS-97, X6.
  @Test("Sync works as with Apple's service: no extra members, one zone a request, bare conflicts")
  func syncWorksAgainstAppleStyleService() async throws {
    let world = try WebWorld()
    let phone = try world.app("phone", understandsExtras: false)
    let desk = try world.app("desk", understandsExtras: false)
    for app in [phone, desk] {
      app.start(automatically: true)
      app.enqueueAll(try app.engine.state)
    }
    phone.write(["a": "1"])
    await desk.wait { $0.notes["a"]?.text == "1" }
    desk.delete("a")
    await phone.wait { $0.notes["a"] == nil }
    phone.stop()
    desk.stop()
    // A conflict brings the server's record, which the answer itself does not hold.
    let transport = try world.transport("third", understandsExtras: false)
    let database = CKContainer(identifier: "iCloud.plain", transport: transport)
      .privateCloudDatabase
    let zones = [CKRecordZone(zoneName: "A"), CKRecordZone(zoneName: "B")]
    _ = try await database.modifyRecordZones(saving: zones, deleting: [])
    func record(_ text: String, _ zone: CKRecordZone) -> CKRecord {
      let record = CKRecord(
        recordType: "Note", recordID: CKRecord.ID(recordName: "n", zoneID: zone.zoneID))
      record["text"] = text
      return record
    }
    let first = try await database.modifyRecords(
      saving: zones.map { record("first", $0) }, deleting: [])
    #expect(
      try first.saveResults.map { try $0.value.get()["text"] as? String } == ["first", "first"])
    let second = try await database.modifyRecords(
      saving: [record("second", zones[1])],
      deleting: [CKRecord.ID(recordName: "n", zoneID: zones[0].zoneID)])
    let id = CKRecord.ID(recordName: "n", zoneID: zones[1].zoneID)
    guard case .failure(let error)? = second.saveResults[id] else {
      Issue.record("the record is there already")
      return
    }
    let theirs = (error as? CKError)?.serverRecord
    #expect((error as? CKError)?.code == .serverRecordChanged)
    #expect(theirs?["text"] as? String == "first" && theirs?.recordChangeTag != nil)
    #expect(try second.deleteResults.values.first?.get() != nil)
    let token = try await database.databaseChanges(since: nil).changeToken
    #expect(try await database.databaseChanges(since: token).modifications.isEmpty)
    #expect(await world.end())
  }

  /// Proves WS-83.
  @Test("Files are transferred by the server's URLs, and another account has no access")
  func filesTransferByServerURLs() async throws {
    let world = try WebWorld()
    func database(_ device: String, _ account: String) throws -> CKDatabase {
      CKContainer(
        identifier: "iCloud.assets", transport: try world.transport(device, of: account)
      ).privateCloudDatabase
    }
    let content = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    let file = world.folder.appendingPathComponent("image")
    try content.write(to: file)
    let record = CKRecord(recordType: "Photo", recordID: CKRecord.ID(recordName: "p"))
    record["image"] = CKAsset(fileURL: file)
    record["pages"] = [CKAsset(fileURL: file), CKAsset(fileURL: file)]
    try await database("phone", "alice").save(record)
    let read = try await database("desk", "alice").record(for: record.recordID)
    let copy = try #require((read["image"] as? CKAsset)?.fileURL)
    #expect(try Data(contentsOf: copy) == content && copy != file)
    #expect((read["pages"] as? [CKAsset])?.count == 2)
    await #expect(throws: CKError.self) {
      _ = try await database("other", "bob").record(for: record.recordID)
    }
    #expect(await world.end())
  }

  @Test("Errors keep their codes without an account, with an unknown token and without a server")
  func transportErrorsKeepTheirCodes() async throws {
    let world = try WebWorld()
    func code(_ transport: WebServicesTransport) async -> CKError.Code? {
      let container = CKContainer(identifier: "iCloud.errors", transport: transport)
      do {
        _ = try await container.privateCloudDatabase.allRecordZones()
        return nil
      } catch { return (error as? CKError)?.code }
    }
    #expect(await code(try world.transport("a")) == nil)
    #expect(await code(try world.transport("a", of: nil)) == .notAuthenticated)
    for (api, web) in [("wrong", "wrong"), ("", "")] {
      let stranger = WebServicesTransport(
        url: world.url, apiToken: api, webAuthToken: web, device: "x")
      #expect(await code(stranger) == .accountTemporarilyUnavailable)
    }
    let known = try world.transport("a")
    known.signIn(webAuthToken: nil)
    #expect(await code(known) == .notAuthenticated)
    await world.goAway()
    let late = WebServicesTransport(url: world.url, apiToken: "x", webAuthToken: "y")
    #expect(await code(late) == .networkFailure)
    #expect(await world.end())
  }
}

/// A transport of an app that forwards to another one.
private struct ForwardingTransport: CloudTransport {
  private let base: any CloudTransport

  init(_ base: any CloudTransport) { self.base = base }

  func send(_ call: CloudCall) async throws(CloudError) -> CloudReply { try await base.send(call) }

  func observeSignals(
    _ listener: @escaping @Sendable (CloudSignal) -> Void
  ) -> any SignalObservation { base.observeSignals(listener) }
}
