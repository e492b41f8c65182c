import CloudSync
import Foundation
import LoopbackServer
import Testing

@testable import ClipboardStore
@testable import SyncSupport
@testable import TabStore

/// What many items cost: work is counted and compared, so that the machine's speed plays no part
/// in most of it.
@Suite("Rows T and C: 10,000 items", .timeLimit(.minutes(5)), .serialized)
struct TabVolumeTests {
  @Test("T: 10,000 tabs in and out")
  func tabs() async throws {
    for count in [1_000, 10_000] {
      let server = LoopbackServer()
      let clock = ContinuousClock()
      let device = try TabDevice(server, "a")
      print(
        "add", count, try clock.measure { try device.tabs.add((1...count).map { testTab($0) }) })
      var start = clock.now
      try await device.sync.sync()
      print("send", count, clock.now - start)
      let other = try TabDevice(server, "b")
      start = clock.now
      try await other.sync.sync()
      print("fetch", count, clock.now - start)
      print(
        "edit100",
        try clock.measure {
          for n in 1...100 { try other.tabs.updateContent(testID(n), "x", now: testDate(5)) }
        })
      print("close100", try clock.measure { for n in 1...100 { try other.tabs.close(testID(n)) } })
      start = clock.now
      try await other.sync.sync()
      print("sync", count, clock.now - start)
      start = clock.now
      _ = try TabStore(directory: other.folder.url)
      print("open", count, clock.now - start)
    }
  }
}
