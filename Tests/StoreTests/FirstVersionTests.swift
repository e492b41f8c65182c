import CloudSync
import Foundation
import LoopbackServer
import SyncSupport
import Synchronization
import Testing

@testable import ClipboardStore
@testable import GameResultStore
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

  /// The container of the first version's files, with another account.
  private static func container(_ server: LoopbackServer) -> CKContainer {
    CKContainer(
      identifier: "iCloud.com.example.stores",
      transport: server.device("device", signedInAs: "ben"))
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

  @Test("G: Results of the first version are taken over, with the changes that wait")
  func firstVersionOfResultsIsTakenOver() async throws {
    let folder = try Self.copy("results")
    func open() throws -> GameResultStore {
      try GameResultStore(
        directory: folder.url, container: CKContainer(identifier: "iCloud.example"),
        calendar: ResultDevice.calendar, now: { ResultDevice.noon })
    }
    for _ in 0..<2 {
      let store = try open()
      #expect(store.results.map { $0.parsedData["puzzle"] } == ["1236", "1235"])
      #expect(store.results.map(\.score) == [5, 4])
      let names = store.results.map(\.recordName)
      #expect(names.map { store.store.isUnsent($0) } == [true, false])
      // With one deleted result.
      #expect(store.status.waiting == 2)
      #expect(store.status.lastSync == Date(timeIntervalSinceReferenceDate: 817_122_476.9749374))
      #expect(store.store.status.account == "_6a8074ae8c6d682ba0e3771a42cfa940")
      let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
      #expect(files == ["results.journal", "sync-state.data"])
      let state = try Data(contentsOf: folder.url.appendingPathComponent("sync-state.data"))
      let (isKnown, states) = store.store.state.withLock { state in
        let table = state.table
        return (
          names.map { table[table.recordID($0, in: nil)]?.systemFields != nil },
          table.settings.states
        )
      }
      #expect(isKnown == [false, true])
      #expect(states == [AtomicFile.checksum(state)], "the engine's state is not taken over")
    }
    // The account is another one: nothing of the first one is sent or seen.
    let server = LoopbackServer()
    let store = try GameResultStore(
      directory: folder.url,
      container: Self.container(server), calendar: ResultDevice.calendar,
      now: { ResultDevice.noon })
    try store.start()
    for _ in 0..<2 { try await store.syncNow() }
    #expect(store.results.isEmpty && store.status.waiting == 0)
    #expect(store.store.status.activity.saved == 0)
    await store.stop()
  }

  @Test(
    "G: Without a file of the first version the rest is taken over, and fetched again",
    arguments: ["results.json", "offline-queue.json", "sync-settings.json"])
  func incompleteFirstVersionOfResultsIsFetched(_ missing: String) throws {
    let folder = try Self.copy("results")
    try FileManager.default.removeItem(at: folder.url.appendingPathComponent(missing))
    let store = try GameResultStore(
      directory: folder.url, container: CKContainer(identifier: "iCloud.example"))
    #expect(store.results.count == (missing == "results.json" ? 0 : 2))
    #expect(store.store.state.withLock { $0.table.settings.states } == [])
  }

  @Test("G: A damaged file of the first version is refused, or set aside, and costs no other file")
  func damagedFirstVersionOfResultsIsRefused() throws {
    for name in ["results.json", "offline-queue.json", "sync-settings.json"] {
      let folder = try Self.copy("results")
      let url = folder.url.appendingPathComponent(name)
      var data = try Data(contentsOf: url)
      data[data.count * 2 / 3] ^= 1
      try data.write(to: url)
      let before = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
      let container = CKContainer(identifier: "iCloud.example")
      let error = #expect(throws: FileError.self) {
        try GameResultStore(directory: folder.url, container: container)
      }
      #expect(error?.url.lastPathComponent == name)
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() == before)
      let store = try GameResultStore(
        directory: folder.url, container: container, recovering: true)
      #expect(store.results.count == (name == "results.json" ? 0 : 2))
      #expect(FileManager.default.fileExists(atPath: url.path + ".damaged-1"))
      // Without the owner's name nobody can say whose results these are.
      #expect((store.store.status.account == "?") == (name == "sync-settings.json"))
    }
  }
}
