import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import Testing

@testable import GameResultStore
@testable import SyncSupport

@Suite("Row G: 10,000 results", .timeLimit(.minutes(5)), .serialized)
struct GameResultVolumeTests {
  @Test("G: 10,000 results in and out")
  func results() async throws {
    for count in [1_000, 10_000] {
      let server = LoopbackServer()
      let clock = ContinuousClock()
      let folders = [ResultFolder(), ResultFolder()]
      let device = try ResultDevice(server, "a", account: "ada", folder: folders[0])
      try device.store.start()
      try await device.store.syncNow()
      server.controls.forgetRequests()
      print(
        "add", count,
        try clock.measure { _ = try device.store.importResults(from: wordles(1...count)) })
      var start = clock.now
      try await device.store.syncNow()
      print(
        "send", count, clock.now - start,
        server.controls.requestCount(in: RequestScope(kind: .modifyRecords)))
      let other = try ResultDevice(server, "b", account: "ada", folder: folders[1])
      try other.store.start()
      start = clock.now
      try await other.store.syncNow()
      print("fetch", count, clock.now - start, other.store.results.count)
      start = clock.now
      _ = other.store.streaks()
      print("streaks", count, clock.now - start)
      await device.store.stop()
      await other.store.stop()
    }
  }
}
