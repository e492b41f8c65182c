import CloudProtocol
import CloudSync
import CommandLineKit
import Foundation
import Synchronization

/// An app that holds notes and sends them, or fetches and keeps them.
final class JobDevice: CKSyncEngineDelegate {
  private struct State {
    var notes: [String: CKRecord] = [:]
    var sentCount = 0
  }

  private static let zone = CKRecordZone(zoneName: BenchServer.zone.name)

  private let state = Mutex(State())
  private let engine = Mutex<CKSyncEngine?>(nil)
  /// The names of the notes that are sent.
  let ids: [CKRecord.ID]
  /// The notes of others with the time they came, for a device that syncs automatically.
  private let arrivals: AsyncStream<(name: String, time: ContinuousClock.Instant)>
  private let arrived: AsyncStream<(name: String, time: ContinuousClock.Instant)>.Continuation?

  init(
    _ transport: any CloudTransport, sending notes: [SpikeNote] = [],
    syncsAutomatically: Bool = false
  ) {
    let records = notes.map { Self.record($0) }
    ids = records.map(\.recordID)
    let (stream, continuation) = AsyncStream.makeStream(
      of: (name: String, time: ContinuousClock.Instant).self)
    arrivals = stream
    arrived = syncsAutomatically ? continuation : nil
    state.withLock { state in
      for record in records { state.notes[record.recordID.recordName] = record }
    }
    let container = CKContainer(identifier: BenchServer.container, transport: transport)
    var configuration = CKSyncEngine.Configuration(
      database: container.privateCloudDatabase, stateSerialization: nil, delegate: self)
    configuration.automaticallySync = syncsAutomatically
    let engine = CKSyncEngine(configuration)
    self.engine.withLock { $0 = engine }
  }

  private static func record(_ note: SpikeNote) -> CKRecord {
    let record = CKRecord(
      recordType: "Note",
      recordID: CKRecord.ID(recordName: note.name, zoneID: zone.zoneID))
    record["text"] = note.text
    record["position"] = note.position
    record["isDone"] = note.isDone
    record["lastModified"] = Date(timeIntervalSince1970: note.modified / 1000)
    return record
  }

  /// The time when the note called `name` came.
  func arrival(of name: String) async throws -> ContinuousClock.Instant {
    for await arrival in arrivals where arrival.name == name { return arrival.time }
    throw ToolError("no note came")
  }

  /// Adds new notes and sends them.
  func send(_ notes: [SpikeNote]) async throws -> Duration {
    let records = notes.map { Self.record($0) }
    state.withLock { state in
      for record in records { state.notes[record.recordID.recordName] = record }
    }
    return try await send(records.map(\.recordID))
  }

  /// Adds all notes as changes and sends them; how long that took.
  func sendAll() async throws -> Duration {
    guard let engine = engine.withLock({ $0 }) else { throw ToolError("there is no engine") }
    let start = Stopwatch.now
    engine.state.add(pendingDatabaseChanges: [.saveZone(Self.zone)])
    engine.state.add(pendingRecordZoneChanges: ids.map { .saveRecord($0) })
    try await engine.sendChanges()
    let time = Stopwatch.now - start
    let sent = state.withLock { $0.sentCount }
    guard sent == ids.count else { throw ToolError("\(ids.count - sent) notes were not sent") }
    return time
  }

  /// Changes some of the notes and sends them; how long the sending took.
  func complete(_ some: [CKRecord.ID]) async throws -> Duration {
    state.withLock { state in
      for id in some { state.notes[id.recordName]?["isDone"] = 1 }
    }
    return try await send(some)
  }

  private func send(_ some: [CKRecord.ID]) async throws -> Duration {
    guard let engine = engine.withLock({ $0 }) else { throw ToolError("there is no engine") }
    let start = Stopwatch.now
    engine.state.add(pendingRecordZoneChanges: some.map { .saveRecord($0) })
    try await engine.sendChanges()
    return Stopwatch.now - start
  }

  /// Fetches; how long that took until `count` notes were here.
  func fetchAll(_ count: Int) async throws -> Duration {
    guard let engine = engine.withLock({ $0 }) else { throw ToolError("there is no engine") }
    let start = Stopwatch.now
    try await engine.fetchChanges()
    let time = Stopwatch.now - start
    let found = state.withLock { $0.notes.count }
    guard found == count else { throw ToolError("\(found) of \(count) notes came") }
    return time
  }

  /// The number of notes that are done.
  var doneCount: Int {
    state.withLock { $0.notes.values.count { $0["isDone"] as? Int == 1 } }
  }

  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    switch event {
    case .sentRecordZoneChanges(let sent):
      state.withLock { state in
        state.sentCount += sent.savedRecords.count
        for record in sent.savedRecords { state.notes[record.recordID.recordName] = record }
      }
    case .fetchedRecordZoneChanges(let changes):
      if let arrived {
        let now = ContinuousClock.now
        for change in changes.modifications {
          arrived.yield((change.record.recordID.recordName, now))
        }
      }
      state.withLock { state in
        for change in changes.modifications {
          state.notes[change.record.recordID.recordName] = change.record
        }
      }
    default: break
    }
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    let pending = syncEngine.state.pendingRecordZoneChanges(in: context.options.scope, limit: 400)
    return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: pending) { id in
      self.state.withLock { $0.notes[id.recordName] }
    }
  }
}
