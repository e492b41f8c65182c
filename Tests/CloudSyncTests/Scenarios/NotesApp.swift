import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import Synchronization
import Testing

/// A small app written the way CloudKit's documentation teaches it: notes in one zone, cached
/// server records, and an answer to every error that an app has to answer.
final class NotesApp: CKSyncEngineDelegate {
  struct Note: Equatable {
    var text: String
    /// The server's version, to save on top of.
    var server: CKRecord?

    static func == (first: Note, second: Note) -> Bool { first.text == second.text }
  }

  struct Contents {
    var notes: [String: Note] = [:]
    var log: [String] = []
    var state: CKSyncEngine.State.Serialization?
    /// Zone names that appeared in `fetchedDatabaseChanges`.
    var zones: Set<String> = []
    /// Why zones were said to be gone, in the order told.
    var losses: [CKDatabase.DatabaseChange.Deletion.Reason] = []
    var keepsDataAtSignOut = false
    var provides: (@Sendable (CKRecord.ID) -> Bool) = { _ in true }
    var waiting: [(condition: @Sendable (Contents) -> Bool, CheckedContinuation<Void, Never>)] = []
  }

  static let zone = CKRecordZone(zoneName: "Notes")
  static let container = "iCloud.scenario"

  let contents = Mutex(Contents())
  let device: LoopbackDevice
  let clock: any Clock<Duration>
  private let transport: any CloudTransport
  private let running = Mutex<CKSyncEngine?>(nil)

  init(
    _ server: LoopbackServer, _ name: String, account: String? = "alice",
    automatically: Bool = false, starts: Bool = true,
    clock: any Clock<Duration> = LeapingClock()
  ) {
    device = server.device(name, signedInAs: account)
    transport = device
    self.clock = clock
    if starts { start(automatically: automatically) }
  }

  /// An app on a device whose requests take another way than those of this process.
  init(
    _ device: LoopbackDevice, by transport: any CloudTransport,
    clock: any Clock<Duration> = LeapingClock()
  ) {
    self.device = device
    self.transport = transport
    self.clock = clock
  }

  /// Starts, or starts again from the last state that was delivered.
  func start(automatically: Bool = false) {
    let container = CKContainer(identifier: NotesApp.container, transport: transport)
    var configuration = CKSyncEngine.Configuration(
      database: container.privateCloudDatabase,
      stateSerialization: contents.withLock { $0.state }, delegate: self)
    configuration.automaticallySync = automatically
    configuration.clock = clock
    running.withLock { $0 = CKSyncEngine(configuration) }
  }

  /// Ends the engine without a word, as the end of a process does.
  func stop() { running.withLock { $0 = nil } }

  var engine: CKSyncEngine {
    get throws { try #require(running.withLock { $0 }) }
  }

  /// Makes or changes notes; what the engine is not running for, it is told later by `enqueueAll`.
  func write(_ texts: [String: String]) {
    contents.withLock {
      for (name, text) in texts { $0.notes[name, default: Note(text: "")].text = text }
    }
    running.withLock { $0 }?.state.add(
      pendingRecordZoneChanges: texts.keys.sorted().map { .saveRecord(NotesApp.id($0)) })
  }

  func delete(_ name: String) {
    contents.withLock { $0.notes[name] = nil }
    running.withLock { $0 }?.state.add(
      pendingRecordZoneChanges: [.deleteRecord(NotesApp.id(name))])
  }

  /// Tells the engine of the zone and of everything the server has not seen.
  func enqueueAll(_ state: CKSyncEngine.State) {
    let unknown = contents.withLock { $0.notes.filter { $0.value.server == nil }.keys.sorted() }
    state.add(pendingDatabaseChanges: [.saveZone(NotesApp.zone)])
    state.add(pendingRecordZoneChanges: unknown.map { .saveRecord(NotesApp.id($0)) })
  }

  var texts: [String: String] { contents.withLock { $0.notes.mapValues(\.text) } }

  /// The kinds of events since the last call, state updates left out.
  func told() -> [String] {
    contents.withLock { contents in
      defer { contents.log = [] }
      return contents.log
    }
  }

  static func id(_ name: String) -> CKRecord.ID {
    CKRecord.ID(recordName: name, zoneID: zone.zoneID)
  }

  /// Returns once `condition` holds; it is looked at after every event.
  func wait(until condition: @escaping @Sendable (Contents) -> Bool) async {
    await withCheckedContinuation { continuation in
      let holds = contents.withLock { contents in
        if condition(contents) { return true }
        contents.waiting.append((condition, continuation))
        return false
      }
      if holds { continuation.resume() }
    }
  }

  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    apply(event, syncEngine.state)
    let ready = contents.withLock { contents in
      let seen = contents
      contents.waiting.removeAll { $0.condition(seen) }
      return seen.waiting.filter { $0.condition(seen) }
    }
    for waiter in ready { waiter.1.resume() }
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    let state = syncEngine.state
    let pending = state.pendingRecordZoneChanges.filter(context.options.scope.contains)
    return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: pending) { id in
      let (note, isProvided) = self.contents.withLock {
        ($0.notes[id.recordName], $0.provides(id))
      }
      guard let note, isProvided else {
        state.remove(pendingRecordZoneChanges: [.saveRecord(id)])
        return nil
      }
      let record = note.server?.copy() as? CKRecord ?? CKRecord(recordType: "Note", recordID: id)
      record["text"] = note.text
      return record
    }
  }
}
