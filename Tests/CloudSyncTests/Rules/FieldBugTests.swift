import CloudSync
import Foundation
import LoopbackServer
import Testing

/// Bugs that others had in the field and that no other test is about.
@Suite("Bugs that others had", .timeLimit(.minutes(20)))
struct FieldBugTests {
  private struct Unreadable: Error {}

  /// A store that can't be read now, and may hold changes that nobody has sent.
  private struct BrokenStore: StateStore {
    func load() throws -> StateStoreContents? { throw Unreadable() }
    func append(_ entry: [UInt8]) throws { Issue.record("something was written over it") }
    func replace(with snapshot: [UInt8]) throws { Issue.record("it was replaced") }
  }

  /// Proves FB-7.
  @Test("An unreadable store is not treated as empty: nothing is sent, fetched or overwritten")
  func unreadableStoreIsNotEmptyStore() async throws {
    let server = LoopbackServer()
    let listener = Listener()
    let container = CKContainer(
      identifier: NotesApp.container, transport: server.device("phone", signedInAs: "alice"))
    var configuration = CKSyncEngine.Configuration(
      database: container.privateCloudDatabase, stateSerialization: nil, delegate: listener)
    configuration.stateStore = BrokenStore()
    let engine = CKSyncEngine(configuration)
    engine.state.add(pendingRecordZoneChanges: [.saveRecord(NotesApp.id("a"))])
    await #expect(throws: Unreadable.self) { try await engine.fetchChanges() }
    await #expect(throws: Unreadable.self) { try await engine.sendChanges() }
    // The engine has no operations, so the call must return at once.
    await engine.cancelOperations()
    #expect(engine.stateStoreError is Unreadable)
    #expect(server.controls.requestCount() == 0 && listener.told.isEmpty)
  }

  /// Proves TH-17.
  @Test("The state's file, and its lock, can be read by their owner only")
  func stateFileMode() throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("mode-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = try FileStateStore(url: folder.appendingPathComponent("state"))
    try store.replace(with: [1])
    try store.append([2])
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names.count >= 2)
    for name in names {
      let path = folder.appendingPathComponent(name).path
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
      #expect(mode as? Int == 0o600, "\(name)")
    }
  }
}
