import LoopbackServer
import SyncMachine
import Synchronization
import Testing

@testable import CloudSync

/// A clock on which no sleep ends until it is cancelled, and that knows the sleeps.
private final class EndlessClock: Clock, Sendable {
  private let leaping = LeapingClock()
  private let deadlines = Mutex<[Duration]>([])

  /// The number of sleeps that have not ended.
  var sleepCount: Int { deadlines.withLock { $0.count } }
  /// The deadline of the only sleep that has not ended; `nil` if there is none, or another one.
  var onlyDeadline: Duration? { deadlines.withLock { $0.count == 1 ? $0.first : nil } }
  var now: LeapingClock.Instant { leaping.now }
  var minimumResolution: Duration { .zero }

  func sleep(until deadline: LeapingClock.Instant, tolerance: Duration?) async throws {
    deadlines.withLock { $0.append(deadline.offset) }
    defer {
      deadlines.withLock { deadlines in
        if let index = deadlines.firstIndex(of: deadline.offset) { deadlines.remove(at: index) }
      }
    }
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    for await _ in stream {}
    withExtendedLifetime(continuation) {}
    throw CancellationError()
  }
}

/// A delegate that reads the pending changes, retains none of them and has no batch.
private final class Reader: CKSyncEngineDelegate {
  private struct Contents {
    weak var first: CKRecord.ID?
    var isListKept: [Bool] = []
  }

  private let contents = Mutex(Contents())

  /// Whether the engine still retains the first ID of the list that was read.
  var isListKept: Bool { contents.withLock { $0.first != nil } }
  /// The same at each end of a send.
  var isListKeptAtEnds: [Bool] { contents.withLock { $0.isListKept } }

  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    guard case .didSendChanges = event else { return }
    contents.withLock { $0.isListKept.append($0.first != nil) }
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    if case .saveRecord(let id)? = syncEngine.state.pendingRecordZoneChanges.first {
      contents.withLock { $0.first = id }
    }
    return nil
  }
}

@Suite("What an engine keeps of operations that have ended", .timeLimit(.minutes(20)))
struct EngineBookkeepingTests {
  @Test("After fetches and sends nothing of them is left")
  func endedOperationsLeaveNothing() async throws {
    let delegate = Recorder()
    let engine = CKSyncEngine(EngineTests.configuration(LoopbackServer(), "phone", delegate))
    engine.state.add(pendingDatabaseChanges: [.saveZone(EngineTests.zone)])
    for number in 0..<5 {
      engine.state.add(pendingRecordZoneChanges: [.saveRecord(EngineTests.id("\(number)"))])
      try await engine.sendChanges()
      try await engine.fetchChanges()
    }
    let counts = engine.driver.core.withLock { core in
      [
        core.fetchOptions.count, core.sendOptions.count, core.requests.count, core.waiters.count,
        core.batch.count, core.failedRecords.count,
      ]
    }
    #expect(counts == [0, 0, 0, 0, 0, 0])
    #expect(engine.state.pendingRecordZoneChanges.isEmpty)
    withExtendedLifetime(delegate) {}
  }

  @Test("After a send that fails for single records none of them is left")
  func failedSendLeavesNoRecord() async {
    let delegate = Recorder()
    let engine = CKSyncEngine(EngineTests.configuration(LoopbackServer(), "phone", delegate))
    // Their zone does not exist.
    engine.state.add(
      pendingRecordZoneChanges: ["a", "b"].map { .saveRecord(EngineTests.id($0)) })
    let error = await #expect(throws: CKError.self) { try await engine.sendChanges() }
    #expect(error?.partialErrorsByItemID?.count == 2)
    let counts = engine.driver.core.withLock { [$0.batch.count, $0.failedRecords.count] }
    #expect(counts == [0, 0])
    withExtendedLifetime(delegate) {}
  }

  @Test("The list of pending changes that a delegate reads is kept until the end of the send")
  func readListIsReleasedAfterSend() async throws {
    let delegate = Reader()
    let container = CKContainer(
      identifier: "iCloud.test", transport: LoopbackServer().device("phone", signedInAs: "alice"))
    var configuration = CKSyncEngine.Configuration(
      database: container.privateCloudDatabase, stateSerialization: nil, delegate: delegate)
    configuration.automaticallySync = false
    let engine = CKSyncEngine(configuration)
    engine.state.add(pendingRecordZoneChanges: [.saveRecord(EngineTests.id("a"))])
    try await engine.sendChanges()
    #expect(delegate.isListKeptAtEnds == [true])
    #expect(!delegate.isListKept)
    withExtendedLifetime(engine) {}
  }

  @Test("An engine that is released cancels its timer")
  func releasedEngineCancelsTimer() async throws {
    let clock = EndlessClock()
    let delegate = Recorder()
    var configuration = EngineTests.configuration(LoopbackServer(), "phone", delegate)
    configuration.automaticallySync = true
    configuration.clock = clock
    var engine: CKSyncEngine? = CKSyncEngine(configuration)
    let driver = try #require(engine).driver
    try await engine?.fetchChanges()
    // The send of this change has a delay.
    engine?.state.add(pendingRecordZoneChanges: [.saveRecord(EngineTests.id("a"))])
    var deadline: Duration?
    while deadline == nil || clock.onlyDeadline != deadline {
      await Task.yield()
      deadline = driver.core.withLock { $0.timer?.deadline.sinceStart }
    }
    engine = nil
    // Sufficient for all tasks that have been cancelled to run to their end.
    for _ in 0..<100_000 where clock.sleepCount > 0 { await Task.yield() }
    #expect(clock.sleepCount == 0)
    withExtendedLifetime((delegate, configuration)) {}
  }

  @Test("A reader of the status that was cancelled is not signalled any more")
  func cancelledReaderIsForgotten() async {
    let delegate = Recorder()
    let engine = CKSyncEngine(EngineTests.configuration(LoopbackServer(), "phone", delegate))
    let driver = engine.driver
    func observers() -> Int? { driver.statusObservers.withLock { $0?.count } }
    let updates = engine.statusUpdates
    let reader = Task { for await _ in updates {} }
    while observers() == 0 { await Task.yield() }
    reader.cancel()
    await reader.value
    #expect(observers() == 0)
    withExtendedLifetime((engine, delegate)) {}
  }
}
