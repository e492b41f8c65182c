import CloudSync
import Foundation
import Testing

@testable import SyncSupport
@testable import TabStore

@Suite("Deletions nobody can tell of")
struct SweepTests {
  /// Proves CE-104, I8.
  @Test("Items missing from a full fetch of a zone are removed, unless they have an unsent edit")
  func fullFetchRemovesUnlistedItems() throws {
    for startsOver in [true, false] {
      let bench = try TabBench.signedIn()
      bench.fetched((1...3).map { TabBench.record(testTab($0)) })
      try bench.tabs.add(testTab(4))
      try bench.tabs.updateContent(testID(3), "unsent", now: testDate(9))
      bench.clear()
      bench.hand(
        .willFetchRecordZoneChanges(.init(zoneID: TabBench.zone, startsOver: startsOver)))
      bench.fetched([TabBench.record(testTab(1))])
      bench.hand(.didFetchRecordZoneChanges(.init(zoneID: TabBench.zone)))
      // Until here the read could begin anew, after its token expired.
      #expect(bench.tabs.tabs.count == 4)
      bench.hand(.didFetchChanges(.init(context: .init(reason: .manual))))
      let left = bench.tabs.tabs.map(\.id)
      #expect(left == (startsOver ? [1, 3, 4] : [1, 2, 3, 4]).map(testID))
      #expect(bench.pending == (startsOver ? ["save \(testID(3))"] : []))
      #expect(bench.knows(2) == !startsOver)
    }
  }

  @Test("A zone that could not be fetched completely causes no removals")
  func incompleteFetchRemovesNothing() throws {
    let bench = try TabBench.signedIn()
    bench.fetched([TabBench.record(testTab(1))])
    bench.hand(.willFetchRecordZoneChanges(.init(zoneID: TabBench.zone, startsOver: true)))
    bench.hand(
      .didFetchRecordZoneChanges(.init(zoneID: TabBench.zone, error: CKError(.networkFailure))))
    #expect(bench.tabs.tabs.map(\.id) == [testID(1)])
  }
}
