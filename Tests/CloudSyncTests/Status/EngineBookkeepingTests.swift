import LoopbackServer
import Synchronization
import Testing

@testable import CloudSync

@Suite("What an engine keeps of operations that have ended", .timeLimit(.minutes(10)))
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
