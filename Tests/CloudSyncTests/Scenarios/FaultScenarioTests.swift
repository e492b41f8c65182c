import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import SyncMachine
import Synchronization
import Testing

@Suite("Scenarios of the engine: pages, tokens, zones, faults and races")
struct FaultScenarioTests {
  private let server = LoopbackServer()
  private static let zone = ZoneID(name: "Notes")

  private func pages(of size: Int) {
    var limits = ServerLimits()
    limits.zoneChangesPage = size
    server.controls.setLimits(limits)
  }

  private func filled(_ count: Int) async throws -> (NotesApp, [String: String]) {
    let phone = NotesApp(server, "phone")
    let texts = Dictionary(uniqueKeysWithValues: (0..<count).map { ("n\($0)", "\($0)") })
    phone.write(texts)
    try await phone.engine.sendChanges()
    return (phone, texts)
  }

  /// Runs automatic sync on a leaping clock until `app` has sent everything.
  private func sendByItself(_ app: NotesApp) async {
    await app.wait { contents in
      contents.log.last?.lowercased() == "didsendchanges"
        && contents.notes.allSatisfy { $0.value.server != nil }
    }
  }

  /// Proves CE-37, CE-88, SC-113, SC-114, SC-115, SC-116.
  @Test(
    "Pages are fetched once each, also after failures, timeouts and a restart")
  func pagesArriveOnceDespiteFailures() async throws {
    let (phone, texts) = try await filled(95)
    pages(of: 10)
    let feed = RequestScope(kind: .fetchZoneChanges, device: "desk")
    // The third page does not come; what was read is kept, and the rest is read later.
    for failingPage in [nil, 2, 4] {
      let desk = NotesApp(server, "desk")
      server.controls.forgetRequests()
      if let failingPage {
        server.controls.hold(in: feed)
        let task = Task { try await desk.engine.fetchChanges() }
        for _ in 0..<failingPage {
          await server.controls.waitForHeldRequests(in: feed)
          server.controls.release(1, in: feed)
        }
        await server.controls.waitForHeldRequests(in: feed)
        desk.device.isOnline = false
        server.controls.clear()
        await #expect(throws: CKError.self) { try await task.value }
        desk.device.isOnline = true
        // Also when the app starts anew before it goes on.
        if failingPage == 4 {
          desk.stop()
          desk.start()
        }
      }
      try await desk.engine.fetchChanges()
      try await desk.engine.sendChanges()
      let answered = server.controls.requests.filter {
        $0.kind == .fetchZoneChanges && $0.device == "desk" && $0.outcome == .answered
      }
      #expect((10...11).contains(answered.count), "no page is read twice: \(answered.count)")
      try expectSame(server, phone, desk, as: texts)
    }
  }

  /// Proves CE-77, FB-2, SC-117, SC-129, SC-162.
  @Test(
    "Temporary failures of fetches and of sends are retried until they end")
  func temporaryFailuresAreRetried() async throws {
    for code in [
      CloudError.Code.networkFailure, .serviceUnavailable, .requestRateLimited, .zoneBusy,
    ] {
      let server = LoopbackServer()
      server.controls.fail(next: 7, with: code, retryAfter: code == .networkFailure ? nil : 30)
      let phone = NotesApp(server, "phone", automatically: true)
      phone.write(["a": "1"])
      let desk = NotesApp(server, "desk", automatically: true)
      await desk.wait { $0.notes["a"] != nil }
      #expect(try stored(server) == ["a": "1"], "\(code)")
      #expect(server.controls.remainingFaultCount == 0, "\(code)")
    }
  }

  /// Proves CE-72, FB-8, SC-119, SC-121, SC-159.
  @Test(
    "A zone that the user removed is removed here, and created again for new items")
  func removedZoneIsCreatedAgainForNewItems() async throws {
    let (phone, _) = try await filled(2)
    // The server says once that there is no zone, although there is one.
    phone.write(["n0": "new"])
    let modify = RequestScope(kind: .modifyRecords)
    server.controls.fail(with: .zoneNotFound, in: modify)
    // The app believes it, forgets the version it had, and then learns that the note is there.
    for _ in 1...2 {
      await #expect(throws: CKError.self) { try await phone.engine.sendChanges() }
    }
    try await phone.engine.sendChanges()
    try expectSame(server, phone, as: ["n0": "new", "n1": "1"])
    // The user deletes it: what was sent goes, what is new is asked about and sent again.
    try server.controls.purgeZone(
      FaultScenarioTests.zone, container: NotesApp.container, account: "alice")
    try await phone.engine.fetchChanges()
    #expect(phone.texts.isEmpty)
    phone.write(["b": "2"])
    await #expect(throws: CKError.self) { try await phone.engine.sendChanges() }
    try await phone.engine.sendChanges()
    try expectSame(server, phone, as: ["b": "2"])
    // A fetch before anybody signed in fails, and leaves nothing wrong for later.
    let desk = NotesApp(server, "desk", account: nil)
    await #expect(throws: CKError.self) { try await desk.engine.fetchChanges() }
    desk.device.signIn(as: "alice")
    try await desk.engine.fetchChanges()
    #expect(desk.texts == ["b": "2"])
  }

  /// Proves CE-113, SC-120.
  @Test(
    "A fetch that the server denies once loses no data",
    arguments: [CloudError.Code.zoneNotFound, .userDeletedZone])
  func deniedFetchLosesNothing(code: CloudError.Code) async throws {
    let (_, texts) = try await filled(2)
    for way in ["again", "relaunch", "automatic"] {
      let desk = NotesApp(server, way)
      server.controls.fail(with: code, in: RequestScope(kind: .fetchZoneChanges, device: way))
      if way == "automatic" {
        desk.start(automatically: true)
        await desk.wait { $0.notes.mapValues(\.text) == texts }
        continue
      }
      await #expect(throws: CKError.self) { try await desk.engine.fetchChanges() }
      #expect(desk.texts.isEmpty)
      if way == "relaunch" { desk.start() }
      try await desk.engine.fetchChanges()
      #expect(desk.texts == texts, "\(way)")
    }
  }

  /// Proves SC-166.
  @Test("An app that starts from a state of the middle of a send sends what was under way")
  func relaunchDuringSend() async throws {
    let phone = NotesApp(server, "phone")
    try await phone.engine.fetchChanges()
    phone.write(["a": "1"])
    for kind in [RequestKind.modifyZones, .modifyRecords] {
      let scope = RequestScope(kind: kind)
      server.controls.hold(in: scope)
      let engine = try phone.engine
      let send = Task { try await engine.sendChanges() }
      await server.controls.waitForHeldRequests(in: scope)
      let state = CKSyncEngine.State.Serialization(engine.syncState.snapshot)
      phone.device.isOnline = false
      server.controls.clear()
      _ = await send.result
      phone.device.isOnline = true
      phone.contents.withLock { $0.state = state }
      phone.start()
      #expect(try phone.engine.state.pendingRecordZoneChanges.count == 1, "\(kind)")
    }
    // The server may have stored what was under way: then the first send reports a conflict.
    if (try? await phone.engine.sendChanges()) == nil { try await phone.engine.sendChanges() }
    try expectSame(server, phone, as: ["a": "1"])
  }

  /// Proves SC-123, SC-124.
  @Test(
    "Many zones are created and deleted in one send, also if some are missing")
  func manyZonesChangeInOneSend() async throws {
    let (phone, desk) = (NotesApp(server, "phone"), NotesApp(server, "desk"))
    let zones = (0..<5).map { CKRecordZone(zoneName: "Z\($0)") }
    try phone.engine.state.add(pendingDatabaseChanges: zones.map { .saveZone($0) })
    try await phone.engine.sendChanges()
    try await desk.engine.fetchChanges()
    #expect(desk.contents.withLock { $0.zones } == ["Notes", "Z0", "Z1", "Z2", "Z3", "Z4"])
    try server.controls.deleteZone(
      ZoneID(name: "Z3"), container: NotesApp.container, account: "alice")
    try phone.engine.state.add(pendingDatabaseChanges: zones.map { .deleteZone($0.zoneID) })
    do { try await phone.engine.sendChanges() } catch let error as CKError {
      #expect(error.code == .zoneNotFound || error.code == .partialFailure)
    }
    let left = try server.zones(container: NotesApp.container, account: "alice").map(\.name)
    #expect(left == ["Notes"])
    #expect(try phone.engine.state.pendingDatabaseChanges.isEmpty)
  }

  /// Proves CE-106, SC-125.
  @Test(
    "Pushes arrive although the first save of the subscription failed")
  func pushesArriveAfterFailedSubscription() async throws {
    server.controls.fail(
      next: 2, with: .serviceUnavailable, in: RequestScope(kind: .modifySubscriptions))
    let desk = NotesApp(server, "desk", automatically: true)
    let phone = NotesApp(server, "phone", automatically: true)
    phone.write(["a": "1"])
    await desk.wait { $0.notes["a"] != nil }
    phone.write(["a": "2"])
    await desk.wait { $0.notes["a"]?.text == "2" }
    let names = try server.subscriptions(container: NotesApp.container, account: "alice")
    #expect(names.count == 1)
  }

  /// Proves CE-52, SC-128.
  @Test(
    "Changes in flight when the process ended are sent again")
  func staleInFlight() async throws {
    let (phone, _) = try await filled(1)
    phone.write(["n0": "new", "b": "2"])
    let modify = RequestScope(kind: .modifyRecords)
    server.controls.hold(next: 1, at: .beforeCommit, in: modify)
    let task = Task { try await phone.engine.sendChanges() }
    await server.controls.waitForHeldRequests(in: modify)
    phone.stop()
    task.cancel()
    server.controls.clear()
    _ = try? await task.value
    phone.start()
    do { try await phone.engine.sendChanges() } catch {
      // The held request may have been carried out: then the conflict is with ourselves.
      try await phone.engine.sendChanges()
    }
    try expectSame(server, phone, as: ["n0": "new", "b": "2"])
  }

  /// Proves CE-28, CE-29, SC-37, SC-130, SC-134.
  @Test(
    "An edit during a failing request, and equal items created on both sides, end as one record")
  func concurrentEditsEndAsOneRecord() async throws {
    let (phone, _) = try await filled(1)
    phone.device.isOnline = false
    phone.write(["n0": "first"])
    await #expect(throws: CKError.self) { try await phone.engine.sendChanges() }
    phone.write(["n0": "second"])
    phone.device.isOnline = true
    try await phone.engine.sendChanges()
    try expectSame(server, phone, as: ["n0": "second"], "the later edit is what is sent")
    // Both devices make the same notes; one of them is told so, and settles it.
    let desk = NotesApp(server, "desk")
    desk.write(["x": "desk", "y": "desk"])
    phone.write(["x": "phone", "y": "phone"])
    try await phone.engine.sendChanges()
    await #expect(throws: CKError.self) { try await desk.engine.sendChanges() }
    try await desk.engine.sendChanges()
    for app in [phone, desk] { try await app.engine.fetchChanges() }
    try expectSame(server, phone, desk, as: ["n0": "second", "x": "desk", "y": "desk"])
  }

  /// Proves CE-73, SC-133, SC-138.
  @Test(
    "A deletion and its replacement arrive in one fetch; an edit of a deleted record creates it")
  func deletionAndReplacementArriveTogether() async throws {
    let (phone, _) = try await filled(2)
    let desk = NotesApp(server, "desk")
    try await desk.engine.fetchChanges()
    try await desk.engine.sendChanges()
    phone.delete("n0")
    phone.write(["other": "0"])
    try await phone.engine.sendChanges()
    try await desk.engine.fetchChanges()
    try expectSame(server, phone, desk, as: ["other": "0", "n1": "1"])
    // An edit of what is gone meanwhile is told so, and the app makes it anew.
    phone.delete("n1")
    try await phone.engine.sendChanges()
    desk.write(["n1": "kept"])
    await #expect(throws: CKError.self) { try await desk.engine.sendChanges() }
    try await desk.engine.sendChanges()
    try await phone.engine.fetchChanges()
    try expectSame(server, phone, desk, as: ["other": "0", "n1": "kept"])
  }

  /// Proves SC-80, SC-84, SC-136, SC-137, SC-139.
  @Test(
    "Unreadable, foreign and newer records are kept unchanged, with their unknown fields")
  func unreadableRecordsAreKeptUnchanged() async throws {
    let (phone, _) = try await filled(1)
    let database = CKContainer(identifier: NotesApp.container, transport: phone.device)
      .privateCloudDatabase
    let foreign = CKRecord(recordType: "Future", recordID: NotesApp.id("foreign"))
    let broken = CKRecord(recordType: "Note", recordID: NotesApp.id("broken"))
    let wider = CKRecord(recordType: "Note", recordID: NotesApp.id("wider"))
    wider["text"] = "w"
    wider["later"] = 7
    _ = try await database.modifyRecords(saving: [foreign, broken, wider], deleting: [])
    let desk = NotesApp(server, "desk")
    try await desk.engine.fetchChanges()
    #expect(desk.texts == ["n0": "0", "wider": "w"])
    // A field that this version does not know survives its edit.
    desk.write(["wider": "edited"])
    try await desk.engine.sendChanges()
    let record = try await database.record(for: NotesApp.id("wider"))
    #expect(record["text"] as? String == "edited" && record["later"] as? Int == 7)
  }

  /// Proves CE-22, CE-43, CE-88, FB-6, I11, SC-140, SC-142, SC-146.
  @Test(
    "A device that lost its state or its data fetches everything again without a conflict")
  func lostStateIsFetchedWithoutConflict() async throws {
    let (phone, texts) = try await filled(444)
    let sizes = server.controls.requests.filter { $0.kind == .modifyRecords }.map(\.itemCount)
    #expect(sizes == [250, 194])
    // A device that lost its state, or all its data, gets everything again, and doubles nothing.
    let desk = NotesApp(server, "desk")
    try await desk.engine.fetchChanges()
    for losesData in [false, true] {
      desk.stop()
      desk.contents.withLock { contents in
        contents.state = nil
        if losesData { contents.notes = [:] }
      }
      desk.start()
      try await desk.engine.fetchChanges()
      try await desk.engine.sendChanges()
      #expect(desk.texts == texts)
    }
    // Saved again without a change of content: the date moves, the text stays, no conflict comes.
    phone.write(["n0": "0"])
    try await phone.engine.sendChanges()
    try await desk.engine.fetchChanges()
    desk.write(["n0": "edited"])
    try await desk.engine.sendChanges()
    try await phone.engine.fetchChanges()
    var expected = texts
    expected["n0"] = "edited"
    try expectSame(server, phone, desk, as: expected)
  }
}
