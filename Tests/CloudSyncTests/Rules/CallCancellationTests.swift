import CloudSync
import Foundation
import LoopbackServer
import Synchronization
import Testing
import VerificationSupport

/// Cancellation of the tasks that call `fetchChanges` and `sendChanges`.
@Suite("Calls whose task is cancelled", .timeLimit(.minutes(20)))
struct CallCancellationTests {
  private let server = LoopbackServer()
  private let listener = Listener()

  private func code(of call: Task<Void, any Error>) async -> CKError.Code? {
    do {
      try await call.value
      return nil
    } catch {
      return (error as? CKError)?.code
    }
  }

  private func count(_ word: String) -> Int { listener.told.count { $0.hasPrefix(word) } }

  /// Proves CE-124.
  @Test(
    "A call ends at once with operationCancelled, and its operation goes on to its end",
    arguments: [RequestKind.fetchCurrentUser, .fetchDatabaseChanges, .modifyZones])
  func aCancelledCallEndsAtOnce(kind: RequestKind) async throws {
    let engine = listener.engine(server)
    if kind != .fetchCurrentUser { try await engine.fetchChanges() }
    let scope = RequestScope(kind: kind)
    server.controls.hold(in: scope)
    engine.state.add(pendingDatabaseChanges: [.saveZone(NotesApp.zone)])
    let isSend = kind == .modifyZones
    let call = Task {
      if isSend { try await engine.sendChanges() } else { try await engine.fetchChanges() }
    }
    await server.controls.waitForHeldRequests(in: scope)
    call.cancel()
    #expect(await code(of: call) == .operationCancelled)
    #expect(server.controls.openRequestCount == 1, "the request is still under way")
    server.controls.clear()
    // The next calls wait for what goes on, and succeed.
    try await engine.fetchChanges()
    try await engine.sendChanges()
    #expect(engine.state.pendingDatabaseChanges.isEmpty)
    for (will, did) in [("willFetch manual", "didFetch manual"), ("willSend", "didSend")] {
      #expect(count(will) == count(did), "\(listener.told)")
    }
    #expect(listener.contents.withLock { $0.mostRunning } == 1)
  }

  /// Proves CE-124.
  @Test("A call ends while the delegate is in a callback, which goes on undisturbed")
  func aCallIsCancelledDuringACallback() async throws {
    let (entered, didEnter) = AsyncStream.makeStream(of: Void.self)
    let (gate, open) = AsyncStream.makeStream(of: Void.self)
    let listener = Listener { event, _ in
      guard case .willFetchChanges = event else { return }
      didEnter.yield()
      for await _ in gate { return }
    }
    let engine = listener.engine(server)
    let call = Task { try await engine.fetchChanges() }
    for await _ in entered { break }
    call.cancel()
    #expect(await code(of: call) == .operationCancelled)
    #expect(!listener.told.contains { $0.hasPrefix("didFetch manual") })
    open.finish()
    try await engine.fetchChanges()
    #expect(listener.told.count { $0.hasPrefix("didFetch manual") } == 2)
  }

  /// An engine, and a fetch of it that waits for its answer.
  private func engineWithHeldFetch() async throws -> (CKSyncEngine, Task<Void, any Error>) {
    let engine = listener.engine(server)
    try await engine.fetchChanges()
    let scope = RequestScope(kind: .fetchDatabaseChanges)
    server.controls.hold(in: scope)
    let fetch = Task { try await engine.fetchChanges() }
    await server.controls.waitForHeldRequests(in: scope)
    return (engine, fetch)
  }

  /// Proves CE-125.
  @Test("A call that waits for its turn is withdrawn; one that others share goes on for them")
  func aQueuedCallIsWithdrawn() async throws {
    let (engine, first) = try await engineWithHeldFetch()
    let options = CKSyncEngine.FetchChangesOptions(scope: .zoneIDs([NotesApp.zone.zoneID]))
    let alone = Task { try await engine.fetchChanges(options) }
    let shared = [
      Task { try await engine.fetchChanges() }, Task { try await engine.fetchChanges() },
    ]
    while engine.waiterCount < 4 { await Task.yield() }
    alone.cancel()
    shared[0].cancel()
    #expect(await code(of: alone) == .operationCancelled)
    #expect(await code(of: shared[0]) == .operationCancelled)
    server.controls.clear()
    try await first.value
    try await shared[1].value
    #expect(count("willFetch manual") == 3 && count("didFetch manual") == 3)
    #expect(engine.waiterCount == 0)
  }

  /// Proves CE-125.
  @Test("An operation that waits for its turn is withdrawn when the last of its calls is")
  func operationOfCancelledCallsIsWithdrawn() async throws {
    let (engine, first) = try await engineWithHeldFetch()
    let calls = (0..<3).map { _ in Task { try await engine.fetchChanges() } }
    while engine.waiterCount < 4 { await Task.yield() }
    for call in calls { call.cancel() }
    for call in calls { #expect(await code(of: call) == .operationCancelled) }
    server.controls.clear()
    try await first.value
    try await engine.sendChanges()
    #expect(count("willFetch manual") == 2 && count("didFetch manual") == 2)
    #expect(engine.waiterCount == 0)
  }

  @Test("A call that is withdrawn during a send takes no record from that send's error")
  func withdrawnCallLeavesErrorOfSend() async throws {
    let database = CKContainer(
      identifier: NotesApp.container, transport: server.device("desk", signedInAs: "alice")
    ).privateCloudDatabase
    _ = try await database.save(NotesApp.zone)
    _ = try await database.save(CKRecord(recordType: "Note", recordID: NotesApp.id("a")))
    let (isAsked, release) = (Signal(), Signal())
    let listener = Listener { event, _ in
      guard case .sentRecordZoneChanges = event else { return }
      isAsked.fire()
      await release.wait()
    }
    let engine = listener.engine(server)
    engine.state.add(pendingRecordZoneChanges: [.saveRecord(NotesApp.id("a"))])
    let send = Task { try await engine.sendChanges() }
    await isAsked.wait()
    let fetch = Task { try await engine.fetchChanges() }
    while engine.waiterCount < 2 { await Task.yield() }
    fetch.cancel()
    #expect(await code(of: fetch) == .operationCancelled)
    release.fire()
    let error = await #expect(throws: CKError.self) { try await send.value }
    let conflict = error?.partialErrorsByItemID?[NotesApp.id("a")] as? CKError
    #expect(conflict?.code == .serverRecordChanged)
    #expect(conflict?.clientRecord?.recordID == NotesApp.id("a"))
  }

  @Test("A call that is withdrawn during a scheduled fetch leaves that fetch its operation group")
  func withdrawnCallLeavesGroupOfFetch() async throws {
    let (isAsked, release) = (Signal(), Signal())
    let groups = Mutex<[String]>([])
    let listener = Listener { event, _ in
      switch event {
      case .willFetchChanges(let event):
        groups.withLock { $0.append(event.context.options.operationGroup.operationGroupID) }
        isAsked.fire()
        await release.wait()
      case .didFetchChanges(let event):
        groups.withLock { $0.append(event.context.options.operationGroup.operationGroupID) }
      default: break
      }
    }
    let engine = listener.engine(server, automatically: true)
    await isAsked.wait()
    let send = Task { try await engine.sendChanges() }
    while engine.waiterCount < 1 { await Task.yield() }
    send.cancel()
    #expect(await code(of: send) == .operationCancelled)
    release.fire()
    await listener.wait(for: "didFetch scheduled")
    let found = groups.withLock { $0 }
    #expect(found.count >= 2 && found[0] == found[1])
    withExtendedLifetime(engine) {}
  }

  /// Proves CE-125.
  @Test("In a task that is cancelled already nothing begins")
  func aCallInACancelledTaskBeginsNothing() async throws {
    let engine = listener.engine(server)
    try await engine.fetchChanges()
    server.controls.forgetRequests()
    let call = Task {
      while !Task.isCancelled { await Task.yield() }
      try await engine.fetchChanges()
    }
    call.cancel()
    #expect(await code(of: call) == .operationCancelled)
    #expect(server.controls.requestCount() == 0 && engine.waiterCount == 0)
  }

  /// Proves CE-124.
  @Test("Calls cancelled at any moment leave no call waiting and an engine that works")
  func callsAreCancelledAtAnyMoment() async throws {
    let engine = listener.engine(server)
    for round in 0..<60 {
      engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneName: "Z\(round)"))])
      let calls = (0..<4).map { number in
        Task {
          if number.isMultiple(of: 2) {
            try await engine.sendChanges()
          } else {
            try await engine.fetchChanges()
          }
        }
      }
      for _ in 0..<round { await Task.yield() }
      for call in calls { call.cancel() }
      for call in calls {
        let code = await code(of: call)
        #expect(code == nil || code == .operationCancelled)
      }
    }
    try await engine.sendChanges()
    try await engine.fetchChanges()
    #expect(engine.state.pendingDatabaseChanges.isEmpty && engine.waiterCount == 0)
    #expect(count("willSend") == count("didSend"))
    #expect(count("willFetch manual") == count("didFetch manual"))
  }
}
