import Foundation
import Synchronization
import Testing
import VerificationSupport

@testable import CloudSyncTesting

@Suite("Simulated devices")
struct DeviceTests {
  @Test("A quota of an account that does not exist is refused, as its contents are")
  func quotaOfAnUnknownAccountIsRefused() throws {
    let cloud = SimulatedCloud()
    #expect(throws: CloudError.self) { try cloud.setQuota(0, of: "nobody") }
    #expect(throws: CloudError.self) { try cloud.contents(of: "nobody") }
    _ = try cloud.device("phone") { try Notes($0.folder) }
    try cloud.setQuota(0, of: "alice")
  }

  @Test("Recorded calls and the contents of the server print as their snapshots")
  func recordsPrintAsSnapshots() async throws {
    let cloud = SimulatedCloud()
    let phone = try cloud.device("phone") { try Notes($0.folder) }
    try phone.app.write("Bread", as: "shopping", phone.engine)
    try await phone.sync()
    #expect("\(phone.events)" == phone.events.snapshotText && !phone.events.names.isEmpty)
    let contents = try cloud.contents()
    #expect("\(contents)" == contents.snapshotText && "\(contents)".contains("Bread"))
  }

  /// Proves X2.
  @Test("The clock of an automatic engine moves when the test advances it")
  func virtualClockMovesOnlyByTest() async throws {
    let cloud = SimulatedCloud()
    let phone = try cloud.device("phone", automaticallySync: true) { try Notes($0.folder) }
    try await phone.events.wait(for: "didFetchChanges")
    try phone.app.write("Bread", as: "shopping", phone.engine)
    await cloud.clock.waitForSleepers()
    #expect(try cloud.contents().records.isEmpty, "nothing is sent before the clock moves")
    cloud.clock.advance(by: .seconds(60))
    try await phone.events.wait(for: "sentRecordZoneChanges")
    #expect(try cloud.contents().records.map(\.recordID.recordName) == ["shopping"])
    #expect(cloud.clock.date.timeIntervalSince1970 == 1_767_225_660)
  }

  /// Proves SC-155, X2.
  @Test("Every scripted fault has the effect that its call describes")
  func scriptedFaultsHaveTheirEffect() async throws {
    let cloud = SimulatedCloud()
    let phone = try cloud.device("phone") { try Notes($0.folder) }
    let app = try phone.app
    try app.write("1", as: "a", phone.engine)
    try app.write("1", as: "b", phone.engine)

    cloud.refuseSaves(of: "a", with: .batchRequestFailed)
    await #expect(throws: CKError.self) { try await phone.engine.sendChanges() }
    #expect(
      try cloud.contents().records.map(\.recordID.recordName) == ["b"], "the other save was made")
    try await phone.sync()

    cloud.loseAnswers()
    try app.write("2", as: "a", phone.engine)
    await #expect(throws: CKError.self) { try await phone.engine.sendChanges() }
    #expect(try app.texts == ["a": "2", "b": "1"] && stored(cloud) == ["a": "2", "b": "1"])
    try await phone.sync()

    try cloud.setQuota(0, of: "alice")
    try app.write("more", as: "a", phone.engine)
    await #expect(throws: CKError.self) { try await phone.sync() }
    try cloud.setQuota(nil, of: "alice")
    try await phone.sync()
    #expect(try stored(cloud) == ["a": "more", "b": "1"])

    cloud.refuseDeletions(of: "b", with: .limitExceeded)
    try app.write(nil, as: "b", phone.engine)
    await #expect(throws: CKError.self) { try await phone.engine.sendChanges() }
    #expect(try stored(cloud) == ["a": "more", "b": "1"])
    try await phone.sync()
    #expect(try stored(cloud) == ["a": "more"])

    try cloud.expireTokens(of: "alice")
    phone.events.forget()
    try await phone.sync()
    #expect(phone.events.all.contains { $0.text.hasSuffix("from its beginning") })

    cloud.throttle(to: 1, per: 60)
    try app.write("even more", as: "a", phone.engine)
    await #expect(throws: CKError.self) { try await phone.sync() }
    cloud.throttle(to: nil)
    cloud.clock.advance(by: .seconds(61))
    try await phone.sync()

    try cloud.removeZone(Notes.zone.zoneID, of: "alice", reason: .purged)
    #expect(try cloud.contents().snapshotText == "gone Notes: purged")
    try await phone.sync()
    #expect(app.texts.isEmpty)
    #expect(phone.events.snapshotText.contains("\n  gone Notes: purged"))
  }

  @Test("A fault asks for the wait that it is given, and the end of faults removes them all")
  func faultsHaveTheirWaitAndTheirEnd() async throws {
    let cloud = SimulatedCloud()
    let phone = try cloud.launch(on: "phone") { $0 }
    let database = try phone.app.container.privateCloudDatabase
    cloud.fail(with: .requestRateLimited, retryAfter: 7)
    let error = await #expect(throws: CKError.self) { try await database.allRecordZones() }
    #expect(error?.retryAfterSeconds == 7)
    cloud.fail(next: 2, with: .zoneBusy)
    cloud.loseAnswers()
    cloud.refuseSaves(with: .limitExceeded)
    cloud.endFaults()
    let id = CKRecord.ID(recordName: "a")
    _ = try await database.save(CKRecord(recordType: "Note", recordID: id))
    _ = try phone.app
  }

  @Test(
    "A refusal concerns the saves of its name and device, and their zone in an atomic request",
    arguments: [
      (CKRecordZone.ID.default, true, ["a", "c"]), (CKRecordZone.ID.default, false, ["a", "c"]),
      (Notes.zone.zoneID, true, [String]()), (Notes.zone.zoneID, false, ["a", "c"]),
    ])
  func refusalConcernsItsChanges(
    _ zone: CKRecordZone.ID, _ isAtomic: Bool, _ saved: [String]
  ) async throws {
    let cloud = SimulatedCloud()
    let phone = try cloud.launch(on: "phone") { $0 }
    let database = try phone.app.container.privateCloudDatabase
    if zone != .default { _ = try await database.save(CKRecordZone(zoneID: zone)) }
    cloud.refuseSaves(of: "b", with: .limitExceeded, from: "phone")
    cloud.refuseSaves(of: "c", with: .limitExceeded, from: "desk")
    let ids = ["a", "b", "c"].map { CKRecord.ID(recordName: $0, zoneID: zone) }
    let results = try await database.modifyRecords(
      saving: ids.map { CKRecord(recordType: "Note", recordID: $0) }, deleting: [],
      atomically: isAtomic
    ).saveResults
    let codes = ids.map { id -> CKError.Code? in
      guard case .failure(let error) = results[id] else { return nil }
      return (error as? CKError)?.code
    }
    let companion: CKError.Code? = saved.isEmpty ? .batchRequestFailed : nil
    #expect(codes == [companion, .limitExceeded, companion])
    #expect(try cloud.contents().records.map(\.recordID.recordName) == saved)
    _ = try phone.app
  }

  @Test("A leaping clock ends short sleeps at once, and long ones when it is advanced")
  func leapingClockEndsShortSleepsAtOnce() async throws {
    let clock = SimulatedClock(leapingOver: .seconds(10))
    try await clock.sleep(until: clock.now.advanced(by: .seconds(10)))
    #expect(clock.now.sinceStart == .seconds(10) && clock.sleeperCount == 0)
    async let long: Void = clock.sleep(until: clock.now.advanced(by: .seconds(11)))
    await clock.waitForSleepers()
    #expect(clock.timeToNextSleeper == .seconds(11))
    clock.advance(by: .seconds(11))
    try await long
    let cancelled = Task { try await clock.sleep(until: clock.now.advanced(by: .seconds(99))) }
    await clock.waitForSleepers()
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
  }

  @Test("A leap of the clock wakes the tasks whose time has come")
  func leapWakesDueSleepers() async throws {
    let clock = SimulatedClock(leapingOver: .seconds(10))
    async let long: Void = clock.sleep(until: clock.now.advanced(by: .seconds(15)))
    await clock.waitForSleepers()
    for _ in 0..<2 { try await clock.sleep(until: clock.now.advanced(by: .seconds(10))) }
    try await long
    #expect(clock.sleeperCount == 0 && clock.timeToNextSleeper == nil)
  }

  @Test("A task that waits for sleepers ends when it is cancelled")
  func waitForSleepersEndsWithItsTask() async {
    let clock = SimulatedClock()
    let executor = SerialTaskExecutor()
    let ended = Mutex(0)
    let tasks = [false, true].map { isExact in
      executor.start {
        if isExact {
          await clock.waitForSleeper(of: .seconds(1))
        } else {
          await clock.waitForSleepers(2)
        }
        ended.withLock { $0 += 1 }
      }
    }
    // Both wait when none is ready.
    await executor.settle()
    #expect(ended.withLock { $0 } == 0)
    for task in tasks { task.cancel() }
    for task in tasks { _ = await task.result }
  }

  @Test("The clock wakes tasks in the order of their deadlines, and then of their sleeps")
  func clockWakesInOrder() async throws {
    let clock = SimulatedClock()
    let executor = SerialTaskExecutor()
    let woken = Mutex<[String]>([])
    var tasks: [Task<Void, any Error>] = []
    for (name, seconds) in [("late", 20), ("early", 10), ("late, too", 20)] {
      let task = executor.start {
        try await clock.sleep(until: SimulatedClock.Instant(sinceStart: .seconds(seconds)))
        woken.withLock { $0.append(name) }
      }
      tasks.append(task)
      await executor.settle()
    }
    clock.advance(by: .seconds(20))
    for task in tasks { try await task.value }
    #expect(woken.withLock { $0 } == ["early", "late", "late, too"])
  }

  @Test("A wait for an event ends when the delegate has handled it")
  func waitEndsAfterTheDelegate() async throws {
    let cloud = SimulatedCloud()
    let phone = try cloud.device("phone") { _ in SlowDelegate() }
    let (app, engine) = (try phone.app, try phone.engine)
    engine.state.add(pendingDatabaseChanges: [.saveZone(Notes.zone)])
    let send = Task { try await engine.sendChanges() }
    await app.hasBegun.wait()
    let wait = Task {
      try await phone.events.wait(for: "sentDatabaseChanges")
      return app.hasEnded.hasFired
    }
    #expect(!phone.events.names.contains("sentDatabaseChanges"))
    app.mayEnd.fire()
    #expect(try await wait.value, "the wait ended before the delegate")
    try await send.value
  }

  @Test("A condition of a wait may read the calls, and may change between its evaluations")
  func conditionOfWaitMayReadEvents() async throws {
    let cloud = SimulatedCloud()
    let phone = try cloud.device("phone") { try Notes($0.folder) }
    let evaluations = Atomic(0)
    let alternating = Task {
      try await phone.events.wait { _ in
        evaluations.wrappingAdd(1, ordering: .relaxed).newValue.isMultiple(of: 2)
      }
    }
    let reading = Task {
      try await phone.events.wait { [events = phone.events] _ in events.names.contains("batch") }
    }
    try phone.app.write("Bread", as: "shopping", phone.engine)
    try await phone.sync()
    try await alternating.value
    try await reading.value
  }

  @Test("An app that does not retain its delegate does not sync")
  func unretainedDelegateDoesNotSync() async throws {
    let cloud = SimulatedCloud()
    let phone = try cloud.launch(on: "phone") { surroundings in
      CKSyncEngine(
        .init(
          database: surroundings.container.privateCloudDatabase, stateSerialization: nil,
          delegate: try Notes(surroundings.folder)))
    }
    await #expect(throws: CKError.self) { try await phone.app.sendChanges() }
  }

  @Test("An app may release its engine and delegate, and create others")
  func engineCanBeReplaced() async throws {
    let cloud = SimulatedCloud()
    let phone = try cloud.launch(on: "phone") { $0 }
    for text in ["first", "second"] {
      let app = try TestedNotes(phone.app)
      try app.write(text, as: "shopping")
      try await app.engine.sendChanges()
    }
    _ = try phone.app
    #expect(try stored(cloud) == ["shopping": "second"])
  }

  @Test("A refusal of changes does not reach a device that is offline or signed out")
  func refusalNeedsConnection() async throws {
    let cloud = SimulatedCloud()
    let phone = try cloud.device("phone") { try Notes($0.folder) }
    try await phone.sync()
    try phone.app.write("Bread", as: "shopping", phone.engine)
    cloud.refuseSaves(with: .limitExceeded)
    phone.isOnline = false
    let offline = await #expect(throws: CKError.self) { try await phone.engine.sendChanges() }
    #expect(offline?.code == .networkUnavailable)
    phone.isOnline = true
    let refused = await #expect(throws: CKError.self) { try await phone.engine.sendChanges() }
    #expect(refused?.code == .partialFailure)
    try await phone.sync()
    #expect(try stored(cloud) == ["shopping": "Bread"])
  }

  @Test(
    "A launch that has ended has its folder, gets no call, and nothing it does is kept or recorded",
    arguments: ["sentDatabaseChanges", "stateUpdate"])
  func endedLaunchKeepsItsFolder(_ event: String) async throws {
    let cloud = SimulatedCloud()
    let phone = try cloud.device("phone") { SlowDelegate($0.folder, blockedIn: event) }
    let (old, engine) = (try phone.app, try phone.engine)
    engine.state.add(pendingDatabaseChanges: [.saveZone(Notes.zone)])
    let send = Task { try await engine.sendChanges() }
    await old.hasBegun.wait()
    let state = phone.savedState
    let (calls, recorded) = (old.callCount, phone.events.all.count)
    try phone.crash()
    let folder = try #require(old.folder)
    #expect(FileManager.default.fileExists(atPath: folder.path))
    old.mayEnd.fire()
    _ = await send.result
    #expect(phone.savedState?.snapshotText == state?.snapshotText)
    #expect(old.callCount == calls && phone.events.all.count == recorded)
  }

  @Test("An engine of Apple's API alone has the simulated clock", .timeLimit(.minutes(20)))
  func engineWithoutClockHasSimulatedOne() async throws {
    let cloud = SimulatedCloud()
    let small = try cloud.launch(on: "phone") { try SmallNotes($0, .lastWriteWins, nil) }
    try small.app.write("Bread", as: "shopping")
    // The delay of its state update; without the clock this never returns.
    await cloud.clock.waitForSleeper(of: .milliseconds(50))
  }

  @Test("A recorder logs the events and batches of any delegate it wraps")
  func recorderLogsEventsOfAnyDelegate() async throws {
    let cloud = SimulatedCloud()
    let notes = try cloud.launch(on: "phone") { surroundings in
      let notes = try Notes(surroundings.folder)
      let recorder = EventRecorder(notes)
      var configuration = CKSyncEngine.Configuration(
        database: surroundings.container.privateCloudDatabase, stateSerialization: nil,
        delegate: recorder)
      configuration.automaticallySync = false
      configuration.clock = surroundings.clock
      return (notes: notes, recorder: recorder, engine: CKSyncEngine(configuration))
    }
    let app = try notes.app
    try app.notes.write("Bread", as: "shopping", app.engine)
    try await app.engine.sendChanges()
    let batch = app.recorder.events.all.first { $0.name == "batch" }
    #expect(batch?.batch?.recordsToSave.map(\.recordID.recordName) == ["shopping"])
    #expect(batch?.text == "batch\n  save Note Notes/shopping\n    text: \"Bread\"")
    #expect(app.recorder.events.snapshotText == notes.events.snapshotText)
    #expect(throws: DeviceError.self) { try notes.engine }
  }

  @Test(
    "Waiting for an event ends with the task, and refuses an unknown name",
    .timeLimit(.minutes(20)))
  func waitingForEventsEndsWithTheTask() async throws {
    let events = RecordedEvents()
    let error = await #expect(throws: DeviceError.self) {
      try await events.wait(for: "sentRecordZoneChange")
    }
    #expect(error?.message.contains("sentRecordZoneChanges") == true)
    let waiting = Task { try await events.wait(for: "sentRecordZoneChanges") }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    let (started, starting) = AsyncStream.makeStream(of: Void.self)
    let second = Task {
      try await events.wait { _ in
        starting.yield()
        return false
      }
    }
    for await _ in started { break }
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
  }

  @Test("A sync fails when a refused change was dropped, and the error names the codes")
  func droppedChangeFailsTheSync() async throws {
    let phone = try SimulatedCloud().device("phone") { _ in Beginner() }
    let id = CKRecord.ID(recordName: "a", zoneID: CKRecordZone.ID(zoneName: "Notes"))
    try phone.engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
    let error = await #expect(throws: CKError.self) { try await phone.engine.sendChanges() }
    #expect("\(try #require(error))".contains("Codes: zoneNotFound (1)"))
    try phone.engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
    let dropped = await #expect(throws: DeviceError.self) { try await phone.sync() }
    #expect(dropped?.message.contains("Notes/a with zoneNotFound") == true)
    try await phone.sync()
    phone.cloud.fail(with: .serverRejectedRequest, of: .modifyZones)
    try phone.engine.state.add(pendingDatabaseChanges: [.saveZone(Notes.zone)])
    let zone = await #expect(throws: DeviceError.self) { try await phone.sync() }
    #expect(zone?.message.contains(": zone Notes with serverRejectedRequest.") == true)
  }

  @Test("A sync fails when changes still wait after its rounds")
  func changesThatStillWaitFailTheSync() async throws {
    let phone = try SimulatedCloud().device("phone") { _ in SlowDelegate() }
    let id = CKRecord.ID(recordName: "a", zoneID: Notes.zone.zoneID)
    try phone.engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
    let error = await #expect(throws: DeviceError.self) { try await phone.sync(rounds: 2) }
    #expect(error?.message == "After 2 rounds of sync, 1 change still wait on phone.")
  }

  @Test("The name of a device that is gone is free for a new one, which inherits nothing")
  func nameOfReleasedDeviceIsFree() throws {
    let cloud = SimulatedCloud()
    do {
      let phone = try cloud.device("phone") { _ in Beginner() }
      phone.isOnline = false
      phone.link.setAvailability(.restricted)
    }
    let phone = try cloud.device("phone", signedInAs: nil) { _ in Beginner() }
    #expect(phone.link.account == nil && phone.link.availability == .available && phone.isOnline)
  }

  @Test("A second device of the same name and a second engine of one database are refused")
  func secondStateOfOneDeviceIsRefused() async throws {
    let cloud = SimulatedCloud()
    let phone = try cloud.device("phone") { _ in Beginner() }
    let error = #expect(throws: DeviceError.self) { try cloud.device("phone") { _ in Beginner() } }
    #expect(error?.message.contains("already has a device \"phone\"") == true)
    #expect(phone.name == "phone")
    let desk = try cloud.launch(on: "desk") { surroundings in
      let app = Beginner()
      let engines = (0..<2).map { _ in
        var configuration = CKSyncEngine.Configuration(
          database: surroundings.container.privateCloudDatabase, stateSerialization: nil,
          delegate: app)
        configuration.automaticallySync = false
        return CKSyncEngine(configuration)
      }
      return (app: app, engines: engines)
    }
    let engines = try desk.app.engines
    for engine in engines { try await engine.fetchChanges() }
    let second = #expect(throws: DeviceError.self) { try desk.app }
    #expect(second?.message.contains("one engine for each database") == true)
  }

  @Test("A state that is not one is refused with an error that says so")
  func foreignStateIsRefusedWithReason() throws {
    for text in ["{}", "[]", "{\"data\": 3}", "{\"data\": \"AAAA\"}"] {
      let error = #expect(throws: CKSyncEngine.State.SerializationError.self) {
        try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: Data(text.utf8))
      }
      #expect(error?.code == .foreign, "\(text)")
    }
  }

  private func stored(_ cloud: SimulatedCloud) throws -> [String: String] {
    var texts: [String: String] = [:]
    for record in try cloud.contents().records {
      texts[record.recordID.recordName] = record["text"] as? String
    }
    return texts
  }
}

/// An app that saves a record without its zone and ignores the error.
private final class Beginner: CKSyncEngineDelegate {
  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {}

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    await CKSyncEngine.RecordZoneChangeBatch(
      pendingChanges: syncEngine.state.pendingRecordZoneChanges
    ) { CKRecord(recordType: "Note", recordID: $0) }
  }
}

/// A delegate that handles events of one kind when a test lets it.
private final class SlowDelegate: CKSyncEngineDelegate {
  let folder: URL?
  let (hasBegun, mayEnd, hasEnded) = (Signal(), Signal(), Signal())
  private let blocked: String
  private let calls = Atomic(0)

  init(_ folder: URL? = nil, blockedIn event: String = "sentDatabaseChanges") {
    self.folder = folder
    blocked = event
  }

  /// The number of its events.
  var callCount: Int { calls.load(ordering: .relaxed) }

  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    calls.wrappingAdd(1, ordering: .relaxed)
    guard event.name == blocked else { return }
    hasBegun.fire()
    await mayEnd.wait()
    hasEnded.fire()
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? { nil }
}
