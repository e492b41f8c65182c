import CloudSync
import Foundation
import LoopbackServer
import StateInspection
import SyncMachine
import Synchronization
import Testing

/// A state store that is inspected while an engine writes to it.
struct LiveStateInspectionTests {
  @Test("a store is shown while an engine is at work on it, and its changes after a sync")
  func aStoreIsShownWhileAnEngineWritesToIt() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("inspection-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("state")
    let delegate = Recorder()
    var configuration = EngineTests.configuration(LoopbackServer(), "phone", delegate)
    configuration.stateStore = try FileStateStore(url: file)
    let engine = CKSyncEngine(configuration)
    engine.state.add(pendingDatabaseChanges: [.saveZone(EngineTests.zone)])
    engine.state.add(pendingRecordZoneChanges: [.saveRecord(EngineTests.id("a"))])
    let before = try StateInspection(path: file.path)
    #expect(before.state.records.count == 1 && before.state.zones.count == 1)
    try await engine.sendChanges()
    try await engine.fetchChanges()
    let after = try StateInspection(path: file.path)
    let lines = StateInspection.diff(before, after).map(\.description)
    #expect(lines.contains("- pending save of zone Notes"))
    #expect(lines.contains("- pending save Notes/a"))
    #expect(lines.contains { $0.hasPrefix("+ token of zone Notes: ") }, "\(lines)")
    let kept = try #require(delegate.contents.withLock { $0.state })
    let saved = try StateInspection(bytes: [UInt8](JSONEncoder().encode(kept)))
    #expect(StateInspection.diff(saved, after) == [], "the event's state is the store's")
    withExtendedLifetime(engine) {}
  }
}
