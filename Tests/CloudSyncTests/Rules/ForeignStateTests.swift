import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import SyncMachine
import Synchronization
import Testing

/// States that belong to another database.
@Suite("States of other databases", .timeLimit(.minutes(20)))
struct ForeignStateTests {
  /// A store in memory.
  private final class MemoryStore: StateStore {
    private let contents = Mutex(nil as StateStoreContents?)

    func load() throws -> StateStoreContents? { contents.withLock { $0 } }
    func append(_ entry: [UInt8]) throws { contents.withLock { $0?.entries.append(entry) } }
    func replace(with snapshot: [UInt8]) throws {
      contents.withLock { $0 = StateStoreContents(snapshot: snapshot) }
    }
  }

  private let server = LoopbackServer()

  private func engine(
    _ listener: Listener, container: String = NotesApp.container,
    environment: CloudEnvironment = .development, isShared: Bool = false,
    state: CKSyncEngine.State.Serialization? = nil, store: (any StateStore)? = nil
  ) -> CKSyncEngine {
    let container = CKContainer(
      identifier: container, transport: server.device("phone", signedInAs: "alice"),
      environment: environment)
    var configuration = CKSyncEngine.Configuration(
      database: isShared ? container.sharedCloudDatabase : container.privateCloudDatabase,
      stateSerialization: state, delegate: listener)
    configuration.automaticallySync = false
    configuration.clock = LeapingClock()
    configuration.stateStore = store
    return CKSyncEngine(configuration)
  }

  @Test("An engine that stopped with its delegate tells that added changes are not stored")
  func stoppedEngineTellsThatNothingIsStored() async throws {
    weak var gone: Listener?
    let engine: CKSyncEngine
    do {
      let listener = Listener()
      gone = listener
      engine = self.engine(listener, store: MemoryStore())
      try await engine.fetchChanges()
      #expect(engine.stateStoreError == nil)
    }
    while gone != nil { await Task.yield() }
    engine.state.add(pendingRecordZoneChanges: [.saveRecord(NotesApp.id("a"))])
    await #expect(throws: CKError.self) { try await engine.sendChanges() }
    #expect((engine.stateStoreError as? CKError)?.code == .operationCancelled)
  }

  /// The state of an engine of the private database that has read a zone.
  private func filled(_ store: (any StateStore)? = nil) async throws -> Listener {
    let listener = Listener()
    let engine = engine(listener, store: store)
    engine.state.add(pendingDatabaseChanges: [.saveZone(NotesApp.zone)])
    try await engine.sendChanges()
    try await engine.fetchChanges()
    return listener
  }

  private func expectRefused(_ engine: CKSyncEngine, _ listener: Listener) async {
    for _ in 0..<2 {
      await #expect(throws: CKSyncEngine.State.SerializationError.self) {
        try await engine.fetchChanges()
      }
      await #expect(throws: CKSyncEngine.State.SerializationError.self) {
        try await engine.sendChanges()
      }
    }
    let error = engine.stateStoreError as? CKSyncEngine.State.SerializationError
    #expect(error?.code == .otherDatabase)
    #expect(error?.message.contains(NotesApp.container) == true)
    #expect(listener.told.isEmpty, "nothing is told, and no deletion least of all")
    #expect(engine.diagnostics.contains("failed with SerializationError"))
  }

  /// Proves CE-119, CE-120, SC-169.
  @Test("A state of another scope, container or environment is refused, however it comes")
  func aStateOfAnotherDatabaseIsRefused() async throws {
    let store = MemoryStore()
    let state = try #require(try await filled(store).contents.withLock { $0.state })
    let data = try JSONEncoder().encode(state)
    let decoded = try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: data)
    let kept = try store.load()
    for given in [state, decoded, nil] {
      let used = given == nil ? store : nil
      for (container, environment, isShared) in [
        (NotesApp.container, CloudEnvironment.development, true),
        ("iCloud.other", .development, false), (NotesApp.container, .production, false),
      ] {
        let listener = Listener()
        let foreign = engine(
          listener, container: container, environment: environment, isShared: isShared,
          state: given, store: used)
        foreign.state.add(pendingRecordZoneChanges: [.saveRecord(NotesApp.id("x"))])
        await expectRefused(foreign, listener)
      }
    }
    #expect(try store.load() == kept, "the store is untouched")
    // The database it belongs to takes it as before.
    for given in [state, decoded, nil] {
      let listener = Listener()
      let own = engine(listener, state: given, store: given == nil ? store : nil)
      try await own.fetchChanges()
      #expect(own.stateStoreError == nil && !listener.told.contains { $0.hasPrefix("signIn") })
    }
  }

  /// Proves CE-121.
  @Test("A state of an earlier version belongs to the database that first uses it")
  func anOldStateIsBoundAtItsFirstUse() async throws {
    let listener = try await filled()
    var old = try #require(listener.contents.withLock { $0.state }).value
    old.database = nil
    #expect(old.format == 1)
    let store = MemoryStore()
    try store.replace(with: old.encoded())
    for used in [store, nil] {
      let next = Listener()
      let given = used == nil ? CKSyncEngine.State.Serialization(old) : nil
      let own = engine(next, state: given, store: used)
      try await own.fetchChanges()
      #expect(own.stateStoreError == nil && own.syncState.database?.scope == .private)
      #expect(own.syncState.zoneTokens.count == 1)
    }
    let other = Listener()
    await expectRefused(engine(other, isShared: true, store: store), other)
  }

  /// Proves CE-120.
  @Test("An empty store does not keep a state of another database")
  func anEmptyStoreDoesNotKeepAForeignState() async throws {
    let state = try await filled().contents.withLock { $0.state }
    let (store, listener) = (MemoryStore(), Listener())
    await expectRefused(engine(listener, isShared: true, state: state, store: store), listener)
    #expect(try store.load() == nil)
  }
}
