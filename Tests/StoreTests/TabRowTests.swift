import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import Synchronization
import Testing

@testable import ClipboardStore
@testable import SyncSupport
@testable import SyncedStore
@testable import TabStore

/// What the row and its seed ask for and no other test looks at.
@Suite("Row T: line by line", .timeLimit(.minutes(20)))
struct TabRowTests {
  @Test("T: The engine's state and the cached system fields have the file names of the seed")
  func stateAndCacheFilesHaveExpectedNames() async throws {
    let server = LoopbackServer()
    let device = try TabDevice(server, "device")
    try device.tabs.add(testTab(1))
    try await device.sync.sync()
    try await device.sync.shutDown()
    let folder = device.folder.url
    let state = try Data(contentsOf: folder.appendingPathComponent("cloud-sync-state.data"))
    _ = try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: state)
    let bench = try TabBench(device.folder)
    #expect(bench.knows(1))
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(
      names == [
        "cloud-record-metadata.json", "cloud-sync-state.data",
      ])
    // Both are really used: without them the first edit after a launch would meet a conflict.
    let again = try TabDevice(server, "device", folder: device.folder)
    try again.tabs.updateContent(testID(1), "edited", now: testDate(9))
    try await again.sync.sync()
    #expect(again.sync.status.activity.conflicts.isEmpty && again.sync.status.activity.saved == 1)
  }

  @Test("T: a conflict is decided by lastModified and sent again, over the server, both ways")
  func lastWriteWins() async throws {
    for mineIsLater in [true, false] {
      let server = LoopbackServer()
      let (phone, desk) = (try TabDevice(server, "phone"), try TabDevice(server, "desk"))
      try phone.tabs.add(testTab(1))
      try await phone.sync.sync()
      try await desk.sync.sync()
      try desk.tabs.updateContent(testID(1), "theirs", now: testDate(50))
      try await desk.sync.sync()
      try phone.tabs.updateContent(testID(1), "mine", now: testDate(mineIsLater ? 60 : 40))
      // Only sending: the conflict has to come from the save, not from a fetch before it.
      try? await phone.engine?.sendChanges()
      #expect(
        phone.sync.status.activity.conflicts.map(\.resolution) == [
          mineIsLater ? .clientWon : .serverWon
        ])
      try await phone.sync.sync()
      try await desk.sync.sync()
      let winner = mineIsLater ? "mine" : "theirs"
      #expect(phone.tabs.tab(testID(1))?.content == winner)
      #expect(desk.tabs.tab(testID(1))?.content == winner)
      #expect(try await server.content() == phone.content)
    }
  }

  @Test("T: a tab opened from the cloud and one closed by it, through the store's own calls")
  func applyAndRemove() throws {
    let store = try TabStore(directory: TemporaryFolder().url)
    try store.applyCloudTab(testTab(1, "theirs"))
    #expect(store.tabs == [testTab(1, "theirs")] && store.unsentCount == 0)
    try store.removeCloudTab(id: testID(1))
    #expect(store.tabs.isEmpty && store.unsentCount == 0)
    var (older, newer) = (testTab(2, "older"), testTab(2, "newer"))
    older.lastModified = Date(timeIntervalSince1970: 10)
    newer.lastModified = Date(timeIntervalSince1970: 20)
    try store.applyCloudTab(newer)
    try store.applyCloudTab(older)
    #expect(store.tabs == [newer] && store.unsentCount == 0)
  }

  @Test("T: A call of startIfEnabled at launch follows the switch, which persists across launches")
  func launchFollowsStoredSwitch() throws {
    let folder = try TemporaryFolder()
    func app() throws -> TabBench { try TabBench(folder) }
    let first = try app()
    try first.sync.startIfEnabled()
    #expect(
      !first.sync.status.isRunning && first.sync.isEnabled == nil, "off until somebody wants it")
    try first.sync.setEnabled(true)
    #expect(first.sync.status.isRunning)
    let second = try app()
    try second.sync.startIfEnabled()
    #expect(second.sync.status.isRunning)
    try second.sync.setEnabled(false)
    let third = try app()
    try third.sync.startIfEnabled()
    #expect(!third.sync.status.isRunning)
  }

  /// Proves CE-75, FB-5.
  @Test("T: C: Full storage is never retried: no engine round resends what did not fit")
  func fullStorageCausesNoResend() async throws {
    let server = LoopbackServer()
    let device = try TabDevice(server, "device")
    try device.tabs.add(testTab(1))
    try await device.sync.sync()
    try server.controls.setQuota(1, of: "anna")
    let saves = RequestScope(kind: .modifyRecords)
    try device.tabs.updateContent(testID(1), "no space for this", now: testDate(5))
    try device.clipboard.add(ClipboardRowTests.entry(2))
    for round in 0..<12 {
      try? await device.engine?.fetchChanges()
      try? await device.engine?.sendChanges()
      if round == 0 { server.controls.forgetRequests() }
    }
    #expect(server.controls.requestCount(in: saves) == 0)
    let problems = device.sync.status.activity.problems.map(\.message)
    #expect(problems.count == 2 && problems.allSatisfy { $0.contains("no space left") })
    #expect(device.tabs.tab(testID(1))?.content == "no space for this")
    try server.controls.setQuota(nil, of: "anna")
    try await device.sync.sync()
    #expect(try await server.content() == device.content)
    #expect(device.sync.status.activity.problems.isEmpty)
  }

  /// Proves I13.
  @Test("T: C: No byte of the old account is left in memory, files or log")
  func oldAccountTabsAreErased() async throws {
    for isSwitch in [true, false] {
      let server = LoopbackServer()
      // Made at run time, so that no literal of the program is found instead.
      let secret = "needle-\(UInt64.random(in: 1 << 60...UInt64.max))"
      let folder = try TemporaryFolder()
      let device = try TabDevice(server, "device", folder: folder)
      try device.tabs.add([testTab(1, secret), testTab(2, "\(secret) of another")])
      try device.clipboard.add(
        ClipboardEntry(id: testID(3), text: "copied \(secret)", timestamp: testDate(1)))
      try await device.sync.sync()
      let other = TabNewerVersionTests.OtherVersion(server)
      let newer = try await other.record(2)
      newer["schemaVersion"] = 2
      try await other.database.save(newer)
      try await device.sync.sync()
      try device.tabs.updateContent(testID(1), "\(secret) unsent", now: testDate(9))
      // A file was damaged once, too, and a crash left a draft behind.
      let items = folder.url.appendingPathComponent("cloud-record-metadata.json")
      _ = try AtomicFile(items).setAside()
      try Data(secret.utf8).write(to: URL(fileURLWithPath: items.path + ".new"))
      let holding = try folder.filesContaining(secret)
      #expect(
        holding == [
          "cloud-record-metadata.json", "cloud-record-metadata.json.damaged-1",
          "cloud-record-metadata.json.new",
        ])
      #expect(try !folder.filesContaining(testID(1).uuidString).isEmpty)
      weak var engine: CKSyncEngine?
      engine = device.engine

      #expect(Self.memory(of: device).contains(secret))
      let owner = try #require(device.sync.state.withLock { $0.table.settings.owner })
      if isSwitch { device.link.signIn(as: "ben") } else { device.link.signOut() }
      _ = try? await device.sync.sync()
      for text in [secret, testID(1).uuidString, testID(3).uuidString, owner] {
        #expect(try folder.filesContaining(text) == [], "\(text)")
      }
      #expect(device.content == DeviceContent(tabs: [], entries: []))
      #expect(device.tabs.unsentCount == 0 && device.clipboard.unsentCount == 0)
      #expect(device.sync.unreadableNames == [] && device.sync.recoveries.isEmpty)
      #expect(device.engine?.state.pendingRecordZoneChanges == [])
      let memory = Self.memory(of: device)
      for text in [secret, testID(1).uuidString, testID(3).uuidString, owner] {
        #expect(!memory.contains(text), "\(text)")
      }
      try await device.sync.shutDown()
      #expect(engine == nil, "the engine of the old account is still held")
      // The server is asked nothing: it keeps what is Anna's for Anna.
      #expect(try await server.content().tabs.count >= 1)
    }
  }

  /// Everything the stores and their coordinator hold, written out.
  static func memory(of device: TabDevice) -> String {
    var text = ""
    dump(device.sync.status.activity, to: &text)
    device.sync.state.withLock { state in
      dump(state.table.entries, to: &text)
      dump(state.table.unreadable, to: &text)
      dump(state.table.settings, to: &text)
      dump(state.table.effects, to: &text)
      dump(state.table.inFlight, to: &text)
      dump(state.table.attempts, to: &text)
      dump(state.recoveries, to: &text)
    }
    return text
  }
}
