import CloudSync
import Foundation
import LoopbackServer
import Synchronization
import Testing

@testable import ClipboardStore
@testable import SyncedStore
@testable import TabStore

@Suite("Files of the first version of the stores")
struct FirstVersionTests {
  /// A copy of the files that the first version of a store wrote.
  static func copy(_ name: String) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    let files = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("FirstVersion").appendingPathComponent(name)
    for file in try FileManager.default.contentsOfDirectory(atPath: files.path) {
      try FileManager.default.copyItem(
        at: files.appendingPathComponent(file), to: folder.url.appendingPathComponent(file))
    }
    return folder
  }

  @Test("T: C: Tabs and entries of the first version are taken over, with their unsent changes")
  func firstVersionOfTabsIsTakenOver() async throws {
    let folder = try Self.copy("itsypad")
    for _ in 0..<2 {
      let store = try SyncedStore.itsypad(directory: folder.url)
      let (tabs, clipboard) = (TabStore(store), ClipboardStore(store))
      #expect(tabs.tabs.map(\.name) == ["Shopping", "Unsent"])
      #expect(tabs.tabs.map(\.content) == ["Bread, milk, tea", "not sent"])
      #expect(tabs.tabs.allSatisfy { tabs.isUnsent($0.id) })
      #expect(clipboard.entries.map(\.text) == ["third", "copied text"])
      #expect(clipboard.entries.map { clipboard.isUnsent($0.id) } == [true, false])
      // With one closed tab and one deleted entry.
      #expect(tabs.unsentCount == 3 && clipboard.unsentCount == 2)
      #expect(store.isEnabled == true)
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
      #expect(names == ["cloud-record-metadata.json", "cloud-sync-state.data"])
      let recordNames = tabs.tabs.map(\.recordName)
      let (isKnown, states) = store.state.withLock { state in
        (
          recordNames.map { state.table[state.table.recordID($0, in: nil)]?.systemFields != nil },
          state.table.settings.states
        )
      }
      #expect(isKnown == [true, false])
      let state = try Data(contentsOf: folder.url.appendingPathComponent("cloud-sync-state.data"))
      #expect(states == [AtomicFile.checksum(state)], "the engine's state is not taken over")
    }
    // The account is another one: nothing of the first one is sent or seen.
    let server = LoopbackServer()
    let device = try TabDevice(
      server, "device", account: "ben", folder: folder, container: "iCloud.com.example.stores")
    try? await device.sync.sync()
    try await device.sync.sync()
    #expect(device.content == DeviceContent(tabs: [], entries: []))

  }

  @Test("T: C: A crash while files of the first version are taken over repeats it")
  func interruptedTakeoverIsRepeated() throws {
    let whole = try Self.copy("itsypad")
    _ = try SyncedStore.itsypad(directory: whole.url)
    // The metadata was moved, and nothing else happened.
    let moved = try Self.copy("itsypad")
    try FileManager.default.moveItem(
      at: moved.url.appendingPathComponent("cloud-record-metadata.json"),
      to: moved.url.appendingPathComponent("first-record-metadata.json"))
    // The new file was written, and the old ones are still there.
    let written = try Self.copy("itsypad")
    for name in ["tabs.json", "clipboard.json"] {
      #expect(FileManager.default.fileExists(atPath: written.url.appendingPathComponent(name).path))
    }
    let metadata = written.url.appendingPathComponent("cloud-record-metadata.json")
    try FileManager.default.removeItem(at: metadata)
    try FileManager.default.copyItem(
      at: whole.url.appendingPathComponent("cloud-record-metadata.json"), to: metadata)
    for folder in [moved, written] {
      let store = try SyncedStore.itsypad(directory: folder.url)
      #expect(store.status.unsentCount == 5)
      #expect(TabStore(store).tabs.count == 2)
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
      #expect(names == ["cloud-record-metadata.json", "cloud-sync-state.data"])
    }
  }
}
