import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import StateInspection
import Synchronization
import Testing

/// Keeps everything that is taken down.
private final class Trace: SyncTracer {
  let entries = Mutex<[SyncTraceEntry]>([])

  func record(_ entry: SyncTraceEntry) { entries.withLock { $0.append(entry) } }
}

@Suite("Status, diagnostics and trace of an engine")
struct EngineStatusTests {
  /// Names that must show nowhere but in what the app itself is given.
  private static let secrets = ["Notes", "secret-name", "alice", "iCloud.test", "secret text"]

  /// An engine that has sent three records, one of which was refused, and has one more pending.
  private static func world(
    _ tracer: (any SyncTracer)? = nil, observe: (CKSyncEngine) -> Void = { _ in }
  ) async throws -> (engine: CKSyncEngine, delegate: Recorder, server: LoopbackServer) {
    let server = LoopbackServer()
    let delegate = Recorder()
    var configuration = EngineTests.configuration(server, "phone", delegate)
    configuration.tracer = tracer
    let engine = CKSyncEngine(configuration)
    observe(engine)
    let names = ["secret-name-1", "secret-name-2", "secret-name-3"]
    delegate.contents.withLock { contents in
      for name in names { contents.texts[name] = "secret text" }
    }
    engine.state.add(pendingDatabaseChanges: [.saveZone(EngineTests.zone)])
    engine.state.add(pendingRecordZoneChanges: names.map { .saveRecord(EngineTests.id($0)) })
    try await engine.sendChanges()
    try await engine.fetchChanges()
    engine.state.add(pendingRecordZoneChanges: [.saveRecord(EngineTests.id("secret-name-4"))])
    return (engine, delegate, server)
  }

  /// Proves X5.
  @Test("The status counts pending changes and reports the last success and failure")
  func statusCountsPendingChangesAndFailures() async throws {
    let (engine, delegate, server) = try await Self.world()
    let status = engine.status
    #expect(status.activity == .idle && status.progress == nil && status.lastFailure == nil)
    #expect(status.pendingRecordZoneChangeCount == 1 && status.inFlightChangeCount == 0)
    #expect(status.lastSend != nil && status.lastFetch != nil)
    server.controls.fail(with: CloudError(.networkFailure, "secret text"))
    await #expect(throws: CKError.self) { try await engine.sendChanges() }
    #expect(engine.status.lastFailure?.code == .networkFailure)
    #expect(engine.status.lastFailure?.activity == .sending)
    withExtendedLifetime(delegate) {}
  }

  /// Proves X5.
  @Test("Status updates report the start and end of a send, and the end of the engine")
  func statusUpdatesFollowSendAndEngineEnd() async throws {
    let updates = Mutex<CKSyncEngine.StatusUpdates?>(nil)
    var world: (engine: CKSyncEngine, delegate: Recorder, server: LoopbackServer)? =
      try await Self.world { engine in updates.withLock { $0 = engine.statusUpdates } }
    let sequence = try #require(updates.withLock { $0 })
    var iterator = sequence.makeAsyncIterator()
    let first = await iterator.next()
    #expect(first?.pendingRecordZoneChangeCount == 1)
    var seen: [CKSyncEngine.Status] = []
    do {
      let engine = try #require(world?.engine)
      async let sending: Void = engine.sendChanges()
      while let status = await iterator.next() {
        seen.append(status)
        if status.activity == .idle, status.pendingRecordZoneChangeCount == 0 { break }
      }
      try await sending
    }
    #expect(seen.contains { $0.activity == .sending })
    #expect(zip(seen, seen.dropFirst()).allSatisfy { $0 != $1 })
    world = nil
    var last: CKSyncEngine.Status?
    while let status = await iterator.next() { last = status }
    #expect(last?.activity == .stopped)
    // Nothing comes of one that is gone either.
    var late = sequence.makeAsyncIterator()
    let lateStatus = await late.next()
    #expect(lateStatus?.activity == .stopped)
    let afterwards = await late.next()
    #expect(afterwards == nil)
  }

  @Test("The status during a send has the numbers of completed, remaining and in-flight changes")
  func statusDuringSendHasNumbers() async throws {
    let numbers = Mutex<[[Int?]]>([])
    let listener = Listener { event, engine in
      switch event {
      case .sentDatabaseChanges, .sentRecordZoneChanges: break
      default: return
      }
      let status = engine.status
      numbers.withLock {
        $0.append([
          status.progress?.completedZoneCount, status.progress?.totalZoneCount,
          status.progress?.completedRecordCount, status.progress?.totalRecordCount,
          status.inFlightChangeCount,
        ])
      }
    }
    let engine = listener.engine(LoopbackServer())
    engine.state.add(pendingDatabaseChanges: [.saveZone(NotesApp.zone)])
    engine.state.add(
      pendingRecordZoneChanges: (0..<300).map { .saveRecord(NotesApp.id("n\($0)")) })
    try await engine.sendChanges()
    #expect(
      numbers.withLock { $0 } == [
        [0, 1, 0, 300, 1], [1, 1, 0, 300, 250], [1, 1, 250, 300, 50],
      ])
  }

  /// Proves CE-87.
  @Test("Diagnostics, trace and status contain no names and no contents")
  func diagnosticsContainNoPrivateNames() async throws {
    let trace = Trace()
    let (engine, delegate, server) = try await Self.world(trace)
    server.controls.fail(with: CloudError(.networkFailure, "secret text of alice"))
    await #expect(throws: CKError.self) { try await engine.sendChanges() }
    let lines = trace.entries.withLock { $0 }.map(\.jsonLine).joined(separator: "\n")
    let texts = [
      engine.diagnostics, engine.status.description, lines, SyncTraceTimeline(lines: lines).text,
    ]
    for text in texts {
      #expect(!text.isEmpty)
      for secret in Self.secrets { #expect(!text.contains(secret), "\(secret) is in: \(text)") }
    }
    #expect(engine.diagnostics.contains("last failure: networkFailure while sending"))
    #expect(engine.diagnostics.contains("zones with a token: 1"))
    withExtendedLifetime(delegate) {}
  }

  @Test("A trace holds each request with its answer, each event and each stage of the machine")
  func traceHoldsRequestsEventsAndStages() async throws {
    let trace = Trace()
    let (engine, delegate, _) = try await Self.world(trace)
    let entries = trace.entries.withLock { $0 }
    let requests = entries.filter { $0.kind == .request }
    let answers = entries.filter { $0.kind == .answer }
    #expect(Set(requests.map(\.request)) == Set(answers.map(\.request)))
    #expect(
      requests.map(\.name).starts(with: ["fetchCurrentUser", "modifyZones", "modifyRecords"]))
    #expect(answers.contains { $0.counts == ["saved": 3, "deleted": 0, "failed": 0] })
    let events = entries.filter { $0.kind == .event }.map(\.name)
    #expect(events.contains("sentRecordZoneChanges") && events.contains("didFetchChanges"))
    let stages = entries.filter { $0.kind == .stage }.map(\.name)
    #expect(stages.contains("sendingRecords") && stages.last == "idle")
    #expect(entries.last?.kind == .change && entries.last?.counts == ["changes": 1])
    for entry in entries { #expect(try SyncTraceEntry(jsonLine: entry.jsonLine) == entry) }
    withExtendedLifetime((engine, delegate)) {}
  }

  @Test("A file of JSON lines becomes a timeline, and a truncated line is left out")
  func timelineOmitsTruncatedLine() throws {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("trace-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    let tracer = try JSONLinesTracer(url: file)
    let entries = [
      SyncTraceEntry(time: 0, kind: .stage, name: "announcingSend"),
      SyncTraceEntry(
        time: 0.5, kind: .answer, name: "modifyRecords", request: 2,
        duration: 0.25, error: "networkFailure"),
      SyncTraceEntry(
        time: 0.25, kind: .request, name: "modifyRecords", request: 2, counts: ["save": 3]),
      SyncTraceEntry(time: 0.75, kind: .stage, name: "idle"),
      SyncTraceEntry(time: 0.75, kind: .wait, name: "retry", until: 2.5),
      SyncTraceEntry(time: 2.5, kind: .event, name: "stateUpdate", duration: 0.125),
    ]
    for entry in entries { tracer.record(entry) }
    tracer.close()
    tracer.record(entries[0])
    let text = try String(contentsOf: file, encoding: .utf8) + "{\"time\":3,\"ki"
    #expect(
      SyncTraceTimeline(lines: text).text == """
             0.000 ┌ stage announcingSend
             0.250 │ → modifyRecords #2, 3 save
             0.500 │ ← modifyRecords #2, 250.0 ms, failed: networkFailure
             0.750 └ stage idle
             0.750   wait retry, until 2.500 s
                    … 1.750 s
             2.500   event stateUpdate, 125.0 ms

        6 entries in 2.500 s; 1 requests, 0.250 s; 1 failed; delegate 0.125 s; 1 lines unreadable

        """)
  }

  @Test("Pending changes are listed by scope, and in full in each batch, during a send")
  func pendingChangesAreListedByScope() async throws {
    let server = LoopbackServer()
    let delegate = Recorder()
    let engine = CKSyncEngine(EngineTests.configuration(server, "phone", delegate))
    let ids = (0..<1_100).map { EngineTests.id("n\($0)") }
    engine.state.add(pendingDatabaseChanges: [.saveZone(EngineTests.zone)])
    engine.state.add(pendingRecordZoneChanges: ids.map { .saveRecord($0) })
    #expect(engine.state.pendingRecordZoneChanges == ids.map { .saveRecord($0) })
    #expect(engine.state.pendingRecordZoneChanges(in: .all).count == 250)
    let few = engine.state.pendingRecordZoneChanges(in: .recordIDs([ids[7], ids[3]]), limit: 5)
    #expect(few == [.saveRecord(ids[3]), .saveRecord(ids[7])])
    #expect(
      engine.state.pendingRecordZoneChanges(in: .allExcluding([EngineTests.zone.zoneID])) == [])
    try await engine.sendChanges()
    #expect(engine.state.pendingRecordZoneChanges.isEmpty)
    let reader = Recorder()
    let other = CKSyncEngine(EngineTests.configuration(server, "laptop", reader))
    try await other.fetchChanges()
    #expect(reader.contents.withLock { Set($0.names).count } == 1_100)
  }
}
