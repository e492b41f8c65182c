import CloudSync
import Foundation
import LoopbackServer
import Testing

@testable import ClipboardStore
@testable import SyncSupport
@testable import SyncedStore
@testable import TabStore

/// What the row and its seed ask for and no other test looks at.
@Suite("Row C: line by line", .timeLimit(.minutes(20)))
struct ClipboardRowTests {
  static func entry(_ number: Int, _ text: String? = nil, at seconds: Double? = nil)
    -> ClipboardEntry
  {
    ClipboardEntry(
      id: testID(number), text: text ?? "copied \(number)",
      timestamp: testDate(seconds ?? Double(number)))
  }

  @Test("C: The store is append-only: a copy with the same ID never changes an existing entry")
  func existingEntryIsNeverOverwritten() throws {
    let bench = try TabBench.signedIn()
    try bench.clipboard.add(Self.entry(1, "first"))
    bench.clear()
    try bench.clipboard.add(Self.entry(1, "second", at: 99))
    #expect(bench.clipboard.entries == [Self.entry(1, "first")])
    #expect(bench.pending == [], "what did not change was queued")
  }

  @Test("C: The server's version wins even if it is older, and nothing is sent again")
  func serverVersionWinsEvenIfOlder() async throws {
    let server = LoopbackServer()
    let (phone, desk) = (try TabDevice(server, "phone"), try TabDevice(server, "desk"))
    try phone.clipboard.add(Self.entry(1, "phone", at: 5))
    try desk.clipboard.add(Self.entry(1, "desk", at: 50))
    try await phone.sync.sync()
    try? await desk.engine?.sendChanges()
    try await desk.sync.sync()
    try await phone.sync.sync()
    #expect(desk.clipboard.entries == [Self.entry(1, "phone", at: 5)])
    #expect(desk.content == phone.content)
    #expect(desk.sync.status.activity.conflicts.map(\.resolution) == [.serverWon])
    #expect(desk.sync.status.activity.saved == 0)
  }

  @Test("C: Delete, clear all and prune expired reach the other device and the cloud")
  func deletionsReachOtherDeviceAndCloud() async throws {
    let server = LoopbackServer()
    let (phone, desk) = (try TabDevice(server, "phone"), try TabDevice(server, "desk"))
    try phone.clipboard.add((1...20).map { Self.entry($0) })
    try await phone.sync.sync()
    try await desk.sync.sync()
    func shown() async throws -> [Int] {
      for device in [phone, desk, phone] { try await device.sync.sync() }
      #expect(phone.content == desk.content)
      #expect(try await server.content() == desk.content)
      return (1...30).filter { desk.clipboard.entry(testID($0)) != nil }
    }
    try phone.clipboard.delete(testID(20))
    #expect(try await shown() == Array(1...19))
    // Copied 10 seconds ago and more: 10 itself is exactly as old and stays.
    #expect(try phone.clipboard.prune(olderThan: 10, now: testDate(20)) == 9)
    #expect(try await shown() == Array(10...19))
    // Cleared on one device while the other copies: what was copied meanwhile stays.
    try desk.clipboard.add(Self.entry(30))
    #expect(try phone.clipboard.clear() == 10)
    #expect(try await shown() == [30])
  }

  @Test("C: 1,000 at most also when two devices with full histories meet")
  func fullHistoriesMeet() async throws {
    let server = LoopbackServer()
    let (phone, desk) = (try TabDevice(server, "phone"), try TabDevice(server, "desk"))
    try phone.clipboard.add((1...1_000).map { Self.entry($0, at: Double($0 * 2)) })
    try desk.clipboard.add((1_001...2_000).map { Self.entry($0, at: Double(($0 - 1_000) * 2 + 1)) })
    for device in [phone, desk, phone, desk] { try await device.sync.sync() }
    #expect(phone.content == desk.content)
    #expect(try await server.content() == desk.content)
    #expect(desk.clipboard.entries.count == 1_000)
    // The newest thousand of both: copied after the middle of the time.
    #expect(desk.clipboard.entries.allSatisfy { $0.timestamp > testDate(1_000) })
  }

  @Test("C: An image is never in the cloud, whatever change is made to it")
  func imagesNeverReachCloud() async throws {
    let server = LoopbackServer()
    let phone = try TabDevice(server, "phone")
    let image = ClipboardEntry(
      id: testID(1), content: .image(fileName: "a.png"), timestamp: testDate(1))
    try phone.clipboard.add([image, Self.entry(2)])
    try await phone.sync.sync()
    try phone.clipboard.delete(testID(1))
    try await phone.sync.sync()
    #expect(try await server.content().entries.map(\.id) == [testID(2)])
    #expect(phone.sync.status.activity.deleted == 0)
  }

  @Test("C: an entry from the cloud and one removed by it, through the store's own calls")
  func applyAndRemove() throws {
    let store = try ClipboardStore(directory: TemporaryFolder().url)
    try store.applyCloudClipboardEntry(Self.entry(1))
    #expect(store.entries == [Self.entry(1)] && store.unsentCount == 0)
    try store.removeCloudClipboardEntry(id: testID(1))
    #expect(store.entries.isEmpty && store.unsentCount == 0)
  }
}
