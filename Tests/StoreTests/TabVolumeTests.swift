import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import Testing

@testable import ClipboardStore
@testable import GameResultStore
@testable import SyncSupport
@testable import SyncedStore
@testable import TabStore

/// Ten times the items cost about ten times the work: requests are counted, and the time may grow
/// by half of what quadratic cost would make of it.
@Suite("Rows T, C and G: 10,000 items", .serialized, .timeLimit(.minutes(20)))
struct TabVolumeTests {
  /// What one run cost.
  struct Cost {
    var requests = 0
    var time = Duration.zero
  }

  static let counts = [1_000, 10_000]

  /// Runs `work` with a thousand and with ten thousand items and compares.
  private func compare(
    _ work: (Int, LoopbackServer) async throws -> Void
  ) async throws {
    var costs: [Cost] = []
    for count in Self.counts {
      let server = LoopbackServer()
      let start = ContinuousClock.now
      try await work(count, server)
      costs.append(
        Cost(requests: server.controls.requestCount(), time: ContinuousClock.now - start))
    }
    #expect(costs[1].requests <= costs[0].requests * 10, "\(costs)")
    #expect(costs[1].time < costs[0].time * 50, "\(costs)")
  }

  @Test("T: 10,000 tabs are sent, fetched and opened without quadratic cost")
  func tenThousandTabsScaleLinearly() async throws {
    try await compare { count, server in
      let (phone, desk) = (try TabDevice(server, "phone"), try TabDevice(server, "desk"))
      try phone.tabs.add((1...count).map { testTab($0) })
      try await phone.sync.sync()
      try await desk.sync.sync()
      #expect(desk.tabs.tabs.count == count && phone.tabs.unsentCount == 0)
      try await desk.sync.shutDown()
      #expect(try TabStore(directory: desk.folder.url).tabs.count == count)
    }
  }

  @Test("C: 10,000 cloud entries are reduced to 1,000 everywhere without quadratic cost")
  func tenThousandEntriesReduceToThousand() async throws {
    try await compare { count, server in
      let other = TabNewerVersionTests.OtherVersion(server)
      // A version without a limit filled the cloud.
      let desk = try TabDevice(server, "desk")
      try desk.clipboard.add(ClipboardRowTests.entry(count + 1))
      try await desk.sync.sync()
      for start in stride(from: 1, through: count, by: 200) {
        let records = (start..<start + 200).map { number in
          let record = CKRecord(
            recordType: "ClipboardEntry", recordID: TabBench.recordID(testID(number)))
          record["text"] = "copied \(number)"
          record["timestamp"] = testDate(Double(number))
          return record
        }
        _ = try await other.database.modifyRecords(saving: records, deleting: [])
      }
      try await desk.sync.sync()
      #expect(desk.clipboard.entries.count == 1_000)
      #expect(try await server.content() == desk.content)
    }
  }

  @Test("G: 10,000 results are sent and fetched without quadratic cost")
  func tenThousandResultsScaleLinearly() async throws {
    try await compare { count, server in
      let folders = [ResultFolder(), ResultFolder()]
      let phone = try ResultDevice(server, "phone", account: "ada", folder: folders[0])
      try phone.store.start()
      try await phone.store.syncNow()
      try phone.store.importResults(from: wordles(1...count))
      try await phone.store.syncNow()
      let saves = server.controls.requestCount(in: RequestScope(kind: .modifyRecords))
      #expect(saves <= max(12, count / 20), "\(saves) requests")
      let desk = try ResultDevice(server, "desk", account: "ada", folder: folders[1])
      try desk.store.start()
      try await desk.store.syncNow()
      #expect(desk.store.results == phone.store.results && desk.store.results.count == count)
      for device in [phone, desk] { await device.store.stop() }
    }
  }
}
