import CloudSync
import Foundation
import SimulationSupport
import Synchronization
import Testing

@testable import SyncedStore

@Suite("A SyncedStore that is stopped")
struct StoppedStoreTests {
  @Test("A stop removes the engine's state before another start can store one")
  func stopRemovesTheStateUnderTheLock() throws {
    let disk = SimulatedDisk()
    var files = SyncedStore.FileNames()
    files.disk = disk
    let folder = URL(fileURLWithPath: "/device")
    let store = try SyncedStore(
      zoneID: CKRecordZone.ID(zoneName: "Items"), directory: folder, types: [], files: files)
    let state = AtomicFile(folder.appendingPathComponent(files.state), on: disk)
    try state.write(Data("state".utf8))
    let unlocked = Mutex(0)
    disk.observe { _ in
      if store.state.withLockIfAvailable({ _ in true }) == true { unlocked.withLock { $0 += 1 } }
    }
    try store.stop()
    disk.observe(nil)
    #expect(try state.read() == nil)
    #expect(unlocked.withLock { $0 } == 0)
  }
}
