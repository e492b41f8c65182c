import CloudSync
import Foundation
import LoopbackServer
import Testing

@testable import ClipboardStore
@testable import SyncSupport
@testable import SyncedStore
@testable import TabStore

@Suite("Rows T and C: damaged files", .timeLimit(.minutes(20)))
struct TabRecoveryTests {
  /// The files of the store.
  static let files = ["cloud-record-metadata.json", "cloud-sync-state.data"]

  /// What a file may look like after an accident.
  enum Damage: CaseIterable {
    case empty, cutOff, oneBit, zeros, lost

    func strike(_ url: URL) throws {
      var data = try Data(contentsOf: url)
      switch self {
      case .empty: data = Data()
      case .cutOff: data = data.prefix(data.count / 2)
      case .oneBit: data[data.count * 2 / 3] ^= 0x01
      case .zeros: data = Data(count: data.count)
      case .lost: return try FileManager.default.removeItem(at: url)
      }
      try data.write(to: url)
    }
  }

  @Test(
    "T: C: A damaged file is a clear error, is set aside whole, and is refilled from the cloud",
    arguments: files, Damage.allCases)
  func damagedTabFileIsRefilledFromCloud(
    _ name: String, _ damage: Damage
  ) async throws {
    let server = LoopbackServer()
    let other = try TabDevice(server, "other")
    try other.tabs.add([testTab(1, "one"), testTab(2, "two")])
    try other.clipboard.add((1...3).map(Self.entry))
    try await other.sync.sync()

    let folder = try TemporaryFolder()
    let device = try TabDevice(server, "device", folder: folder)
    try device.sync.setEnabled(true)
    try await device.sync.sync()
    try device.tabs.updateContent(testID(1), "not sent yet", now: testDate(5))
    try await device.sync.shutDown()
    // Meanwhile the world goes on.
    try other.tabs.updateContent(testID(2), "newer", now: testDate(9))
    try await other.sync.sync()

    let url = folder.url.appendingPathComponent(name)
    try damage.strike(url)
    let struck = try? Data(contentsOf: url)
    // A file of items without its end is what a crash leaves, and is no damage.
    let isDamage = damage != .lost && !(damage == .cutOff && name == Self.files[0])
    if isDamage {
      let refusal = #expect(throws: FileError.self, "\(name)") {
        try TabDevice(server, "device", folder: folder)
      }
      #expect(refusal?.description.contains(name) == true)
      #expect(try Data(contentsOf: url) == struck)
    }

    let again = try TabDevice(server, "device", folder: folder, recovering: true)
    let recoveries = again.sync.recoveries
    #expect(recoveries.map(\.error.url.lastPathComponent) == (isDamage ? [name] : []))
    for recovery in recoveries {
      #expect(try Data(contentsOf: recovery.copy) == struck)
      #expect(recovery.description.contains(name + ".damaged-1"))
    }
    try await again.sync.sync()
    try await other.sync.sync()
    #expect(again.content == other.content)
    #expect(try await server.content() == other.content)
    #expect(again.tabs.tab(testID(2))?.content == "newer")
    #expect(again.clipboard.entries.count == 3)
    let content = again.tabs.tab(testID(1))?.content
    #expect(name == Self.files[1] ? content == "not sent yet" : content != nil)
    // And the next launch is an ordinary one.
    try await again.sync.shutDown()
    let third = try TabDevice(server, "device", folder: folder)
    #expect(third.content == other.content)
  }

  @Test(
    "T: A second damaged file makes a second copy, and a newer version's file is not set aside")
  func secondDamageMakesSecondCopy() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appendingPathComponent("cloud-record-metadata.json")
    for round in 1...3 {
      try Data("garbage \(round)\n".utf8).write(to: url)
      let store = try TabStore(directory: folder.url, recovering: true)
      #expect(
        store.store.recoveries.map(\.copy.lastPathComponent)
          == ["cloud-record-metadata.json.damaged-\(round)"])
      #expect(store.tabs.isEmpty)
      try store.add(testTab(round))
    }
    let copies = AtomicFile(url).copies
    #expect(
      try copies.map { try String(contentsOf: $0, encoding: .utf8) }
        == ["garbage 1\n", "garbage 2\n", "garbage 3\n"])

    let newer = try String(contentsOf: url, encoding: .utf8)
      .replacingOccurrences(of: "synced-items 2", with: "synced-items 3")
    try Data(newer.utf8).write(to: url)
    let error = #expect(throws: FileError.self) {
      try TabStore(directory: folder.url, recovering: true)
    }
    #expect(error?.step == .use)
    #expect(try Data(contentsOf: url) == Data(newer.utf8))
    #expect(AtomicFile(url).copies.count == 3)
  }

  /// Proves I19.
  @Test("T: C: A crash at any step of a recovery only repeats the recovery")
  func crashedRecoveryIsRepeated() async throws {
    let server = LoopbackServer()
    let folder = try TemporaryFolder()
    let device = try TabDevice(server, "device", folder: folder)
    try device.tabs.add(testTab(1, "one"))
    try await device.sync.sync()
    try await device.sync.shutDown()
    let url = folder.url.appendingPathComponent("cloud-record-metadata.json")
    try Data("garbage\n".utf8).write(to: url)
    // The store is opened and the app dies before sync starts: the old engine state is still there.
    #expect(try TabStore(directory: folder.url, recovering: true).tabs.isEmpty)
    let again = try TabDevice(server, "device", folder: folder)
    try await again.sync.sync()
    #expect(again.tabs.tabs.map(\.content) == ["one"])
  }

  @Test("T: C: signing out removes what was set aside, too")
  func copiesGoWithTheAccount() async throws {
    let bench = try TabBench.signedIn()
    for name in Self.files {
      let url = bench.folder.url.appendingPathComponent(name)
      try Data("secret of \(name)".utf8).write(to: url)
      _ = try AtomicFile(url).setAside()
    }
    #expect(try bench.folder.filesContaining("secret of").count == 4)
    bench.account(.signOut(previousUser: TabBench.user))
    #expect(try bench.folder.filesContaining("secret of") == [])
  }

  static func entry(_ number: Int) -> ClipboardEntry {
    ClipboardEntry(
      id: testID(100 + number), text: "copied \(number)", timestamp: testDate(Double(number)))
  }
}
