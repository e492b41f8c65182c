import CloudSync
import Foundation
import Testing

@testable import SyncSupport
@testable import SyncedStore
@testable import TabStore

/// One cell of the matrix for merges.
struct MergeCell: CustomStringConvertible {
  /// Whose edit has the later date.
  enum Newer: String, CaseIterable { case client, server, neither }

  /// When the client hears of the server's version.
  enum Discovery: String, CaseIterable { case onSend, onFetch }

  /// What comes between the discovery and the next send.
  enum Order: String, CaseIterable { case fetchBeforeRetry, retryBeforeFetch }

  var editsSameField: Bool
  var newer: Newer
  var discovery: Discovery
  var order: Order

  var description: String {
    "\(editsSameField ? "same" : "different") fields, newer: \(newer), \(discovery), \(order)"
  }

  static let all: [MergeCell] = [true, false].flatMap { same in
    Newer.allCases.flatMap { newer in
      Discovery.allCases.flatMap { discovery in
        Order.allCases.map {
          MergeCell(editsSameField: same, newer: newer, discovery: discovery, order: $0)
        }
      }
    }
  }
}

@Suite("Row T: merges")
struct TabMergeTests {
  /// Both devices edit the same version; `first`'s edit reaches the cloud first.
  private func converge(_ cell: MergeCell, first: Int) async throws -> [CloudTabRecord] {
    let devices = try [TabBench.signedIn(), TabBench.signedIn()]
    let base = TabBench.record(testTab(1, "base"))
    for device in devices { device.fetched([base]) }
    // Device 0 is the one whose edit the cell calls the server's.
    let dates: [Double] =
      switch cell.newer {
      case .server: [20, 10]
      case .client: [10, 20]
      case .neither: [10, 10]
      }
    try devices[0].tabs.edit(testID(1), now: testDate(dates[0])) { $0.content = "zero" }
    try devices[1].tabs.edit(testID(1), now: testDate(dates[1])) { tab in
      if cell.editsSameField { tab.content = "one" } else { tab.name = "one" }
    }
    let (early, late) = (devices[first], devices[1 - first])

    var server = try #require(await early.batch().first)
    early.clear()
    early.sent(saved: [server])
    switch cell.discovery {
    case .onSend:
      let attempt = try #require(await late.batch().first)
      late.clear()
      late.sent(failed: [(attempt, conflict(server))])
    case .onFetch: late.fetched([server])
    }
    if cell.order == .fetchBeforeRetry { late.fetched([server]) }
    let retry = await late.batch()
    late.clear()
    if let saved = retry.first {
      server = saved
      late.sent(saved: [saved])
    }
    if cell.order == .retryBeforeFetch { late.fetched([server]) }
    early.fetched([server])

    for device in devices {
      #expect(device.tabs.unsentCount == 0, "\(cell), first \(first)")
      #expect(await device.batch().isEmpty, "\(cell), first \(first)")
    }
    return try [#require(CloudTabRecord(server))]
      + devices.map { try #require($0.tabs.tab(testID(1))) }
  }

  private func conflict(_ server: CKRecord) -> CKError {
    CKError(.serverRecordChanged, userInfo: [CKRecordChangedErrorServerRecordKey: server])
  }

  /// Proves SC-77.
  @Test("T: Last write wins by lastModified in all 24 cells of the merge matrix, from both sides")
  func lastWriteWinsInEveryMergeCell() async throws {
    #expect(MergeCell.all.count == 24)
    for cell in MergeCell.all {
      let ends = try await [converge(cell, first: 0), converge(cell, first: 1)]
      let end = ends[0][0]
      #expect(ends.allSatisfy { $0.allSatisfy { $0 == end } }, "\(cell): \(ends)")
      switch cell.newer {
      case .server: #expect(end.content == "zero", "\(cell)")
      case .client:
        #expect(cell.editsSameField ? end.content == "one" : end.name == "one", "\(cell)")
      case .neither: break
      }
    }
  }

  /// Proves SC-77.
  @Test("T: At equal lastModified the greater bytes win on each side, and the order is total")
  func equalTimesAreDecidedByBytes() {
    var versions: [CloudTabRecord] = []
    for content in ["a", "b", "a\0", "é", "e\u{301}"] {
      for name in ["", "n"] {
        for isLocked in [false, true] {
          var tab = testTab(1, content)
          (tab.name, tab.languageLocked) = (name, isLocked)
          versions.append(tab)
        }
      }
    }
    for first in versions {
      for second in versions {
        let wins = [first.wins(over: second), second.wins(over: first)]
        #expect(
          wins.filter { $0 }.count == (first == second ? 0 : 1), "\(first) and \(second)")
      }
    }
  }

  @Test(
    "T: The winner's fields are queued on the server's record, with its tag and foreign fields"
  )
  func winningFieldsKeepServerTag() async throws {
    let bench = try TabBench.signedIn()
    try bench.tabs.add(testTab(1, "mine", at: 10))
    let server = TabBench.record(testTab(1, "theirs"))
    server["pinned"] = "by a newer version"
    let attempt = await bench.batch()
    bench.clear()
    bench.sent(failed: [(attempt[0], conflict(server))])
    #expect(bench.pending == ["save \(testID(1))"])
    let retry = await bench.batch()
    #expect(retry.map { $0["content"] as? String } == ["mine"])
    // Only our five fields are sent, so the server keeps the sixth.
    #expect(retry[0].changedKeys().count == 5)
    #expect(bench.sync.status.activity.conflicts.map(\.resolution) == [.clientWon])
    bench.sent(failed: [(retry[0], CKError(.serverRecordChanged))])
    #expect(bench.pending == ["save \(testID(1))"], "without the other version it goes again")
  }
}
