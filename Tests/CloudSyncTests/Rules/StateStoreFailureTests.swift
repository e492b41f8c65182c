import CloudSync
import Foundation
import LoopbackServer
import SyncMachine
import Synchronization
import Testing

/// Engines and files whose store can't be read or written.
@Suite("State stores that fail", .timeLimit(.minutes(20)))
struct StateStoreFailureTests {
  private struct Full: Error {}

  /// A store in memory whose disk is full now and then.
  private final class FullStore: StateStore {
    private let stored = Mutex(
      (contents: nil as StateStoreContents?, isFull: false))

    var isFull: Bool {
      get { stored.withLock { $0.isFull } }
      set { stored.withLock { $0.isFull = newValue } }
    }

    func load() throws -> StateStoreContents? { stored.withLock { $0.contents } }
    func append(_ entry: [UInt8]) throws { try write { $0?.entries.append(entry) } }
    func replace(with snapshot: [UInt8]) throws {
      try write { $0 = StateStoreContents(snapshot: snapshot) }
    }

    private func write(_ body: (inout StateStoreContents?) -> Void) throws {
      try stored.withLock { stored in
        if stored.isFull { throw Full() }
        body(&stored.contents)
      }
    }
  }

  private let server = LoopbackServer()
  private let store = FullStore()
  private let listener = Listener()

  private func engine(_ device: LoopbackDevice) -> CKSyncEngine {
    let container = CKContainer(identifier: NotesApp.container, transport: device)
    var configuration = CKSyncEngine.Configuration(
      database: container.privateCloudDatabase, stateSerialization: nil, delegate: listener)
    configuration.automaticallySync = false
    configuration.clock = LeapingClock()
    configuration.stateStore = store
    return CKSyncEngine(configuration)
  }

  private var accounts: [String] {
    listener.told.filter { $0.hasPrefix("sign") }.map { String($0.prefix(while: { $0 != " " })) }
  }

  /// Proves I3, I13.
  @Test("Nobody is told of a sign-out that the store does not take; what is stored stays true")
  func holdsAccountsBack() async throws {
    let device = server.device("phone", signedInAs: "alice")
    var first: CKSyncEngine? = engine(device)
    try await first?.fetchChanges()
    first?.state.add(pendingRecordZoneChanges: [.saveRecord(NotesApp.id("a"))])
    store.isFull = true
    device.signOut()
    for _ in 0..<2 {
      await #expect(throws: Full.self) { try await first?.fetchChanges() }
      await #expect(throws: Full.self) { try await first?.sendChanges() }
    }
    await first?.cancelOperations()
    #expect(accounts == ["signIn"] && first?.stateStoreError is Full)
    #expect(first?.state.pendingRecordZoneChanges == [.saveRecord(NotesApp.id("a"))])

    // The app ends so; the next one hears it, from a state that knows of nobody else.
    first = nil
    store.isFull = false
    let second = engine(device)
    #expect(second.state.pendingRecordZoneChanges == [.saveRecord(NotesApp.id("a"))])
    await #expect(throws: CKError.self) { try await second.fetchChanges() }
    await listener.wait(for: "signOut")
    #expect(accounts == ["signIn", "signOut"] && second.stateStoreError == nil)
  }

  /// Proves I3, I13.
  @Test("When the store works again it receives all changes, and the app gets the missed events")
  func recoveredStoreReceivesAllChanges() async throws {
    let device = server.device("phone", signedInAs: "alice")
    var first: CKSyncEngine? = engine(device)
    try await first?.fetchChanges()
    store.isFull = true
    first?.state.add(pendingRecordZoneChanges: [.saveRecord(NotesApp.id("a"))])
    #expect(first?.stateStoreError is Full)
    store.isFull = false
    first?.state.add(pendingRecordZoneChanges: [.saveRecord(NotesApp.id("b"))])
    #expect(first?.stateStoreError == nil)
    first = nil
    let second = engine(device)
    let both = [NotesApp.id("a"), NotesApp.id("b")]
    #expect(second.state.pendingRecordZoneChanges == both.map { .saveRecord($0) })

    store.isFull = true
    device.signOut()
    await #expect(throws: Full.self) { try await second.fetchChanges() }
    store.isFull = false
    await listener.wait(for: "signOut")
    #expect(second.state.pendingRecordZoneChanges.isEmpty && second.stateStoreError == nil)
  }

  /// Proves I3.
  @Test("An engine whose new store refuses the first write works, and stores its state later")
  func refusedFirstWriteIsRetried() async throws {
    store.isFull = true
    var first: CKSyncEngine? = engine(server.device("phone", signedInAs: "alice"))
    #expect(first?.stateStoreError is Full)
    first?.state.add(pendingRecordZoneChanges: [.saveRecord(NotesApp.id("a"))])
    store.isFull = false
    first?.state.add(pendingRecordZoneChanges: [.saveRecord(NotesApp.id("b"))])
    await listener.wait(for: "signIn")
    try await first?.fetchChanges()
    #expect(first?.stateStoreError == nil)
    first = nil
    let second = engine(server.device("phone", signedInAs: "alice"))
    let both = [NotesApp.id("a"), NotesApp.id("b")]
    #expect(second.state.pendingRecordZoneChanges == both.map { .saveRecord($0) })
  }

  /// Proves I3.
  @Test("A store that refuses the name of the database at the start receives it later, by itself")
  func refusedBindingIsRetried() async throws {
    // A state of an earlier version, which names no database.
    var state = SyncState()
    state.user = try server.user(of: "alice")
    try store.replace(with: state.encoded())
    store.isFull = true
    let phone = engine(server.device("phone", signedInAs: "alice"))
    #expect(phone.stateStoreError is Full)
    store.isFull = false
    while phone.stateStoreError != nil { await Task.yield() }
    let stored = try #require(try store.load())
    #expect(try SyncState(decoding: stored.snapshot).database != nil)
    withExtendedLifetime(phone) {}
  }

  // MARK: Files

  private func withFile(_ body: (URL) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("failure-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder.appendingPathComponent("state"))
  }

  /// Proves I19, I20.
  @Test(
    "A state file that was refused accepts no changes and stays as it is",
    arguments: [
      ("foreign", Data("a letter".utf8)), ("of a newer version", Data("CSLOG".utf8) + [9, 1, 2]),
      ("damaged", Data("CSLOG".utf8) + [1] + Data(repeating: 7, count: 40)),
    ])
  func refusedStateFileStaysUnchanged(_ what: String, _ bytes: Data) throws {
    try withFile { file in
      try bytes.write(to: file)
      let store = try FileStateStore(url: file)
      // Asked or not.
      #expect(throws: FileStateStoreError.self, "\(what)") { try store.append([1]) }
      #expect(throws: FileStateStoreError.self, "\(what)") { try store.load() }
      #expect(throws: FileStateStoreError.self, "\(what)") { try store.append([1]) }
      #expect(throws: FileStateStoreError.self, "\(what)") { try store.replace(with: [1]) }
      #expect(try Data(contentsOf: file) == bytes, "\(what)")
      // Moved away, as the message says.
      try FileManager.default.removeItem(at: file)
      #expect(try store.load() == nil, "\(what)")
      try store.append([2])
      #expect(try store.load()?.entries == [[2]], "\(what)")
    }
  }

  /// Proves I3.
  @Test("An entry appended before the file is read follows the entries in the file")
  func unloadedStateFileAppendsEntries() throws {
    try withFile { file in
      do {
        let store = try FileStateStore(url: file)
        try store.replace(with: [1])
        try store.append([2])
      }
      let store = try FileStateStore(url: file)
      try store.append([3])
      #expect(try store.load() == StateStoreContents(snapshot: [1], entries: [[2], [3]]))
    }
  }
}
