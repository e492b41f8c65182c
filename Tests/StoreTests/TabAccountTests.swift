import CloudSync
import Foundation
import Testing

@testable import ClipboardStore
@testable import SyncSupport
@testable import SyncedStore
@testable import TabStore

@Suite("Rows T and C: accounts and zones")
struct TabAccountTests {
  /// A bench with secrets of Anna's in every file.
  private func annas() async throws -> TabBench {
    let bench = try TabBench.signedIn()
    bench.fetched([TabBench.record(testTab(1, "annas-secret-tab"))])
    try bench.tabs.add(testTab(2, "annas-secret-unsent"))
    try bench.clipboard.add(
      ClipboardEntry(id: testID(11), text: "annas-secret-copy", timestamp: testDate(0)))
    bench.hand(try await TabBench.stateUpdate())
    #expect(try bench.folder.filesContaining("annas-secret").count == 1)
    #expect(try bench.folder.filesContaining(testID(1).uuidString).count >= 1)
    bench.clear()
    return bench
  }

  private func expectNothingLeft(_ bench: TabBench, _ what: String) async throws {
    #expect(bench.tabs.tabs.isEmpty && bench.clipboard.entries.isEmpty, "\(what)")
    #expect(bench.tabs.unsentCount == 0 && bench.clipboard.unsentCount == 0, "\(what)")
    for text in ["annas-secret", testID(1).uuidString, testID(2).uuidString, "_anna"] {
      #expect(try bench.folder.filesContaining(text) == [], "\(what): \(text)")
    }
    bench.list.add(
      pendingRecordZoneChanges: [
        .saveRecord(TabBench.recordID(testID(1))), .saveRecord(TabBench.recordID(testID(2))),
      ])
    #expect(await bench.batch().isEmpty, "\(what): the old account's data was offered")
  }

  /// Proves SC-47.
  @Test(
    "T: C: A sign-out and a switch remove the account's data and its metadata")
  func accountChangeRemovesDataAndMetadata() async throws {
    let changes: [CKSyncEngine.Event.AccountChange.ChangeType] = [
      .signOut(previousUser: TabBench.user),
      .switchAccounts(previousUser: TabBench.user, currentUser: TabBench.other),
      // Sync was off while Ben signed in: the engine has no state and believes it is all new.
      .signIn(currentUser: TabBench.other),
    ]
    for change in changes {
      let bench = try await annas()
      bench.account(change)
      try await expectNothingLeft(bench, "\(change)")
      #expect(bench.sync.status.activity.wipes == 1)
    }
  }

  /// Proves SC-47.
  @Test("T: C: Local-only data stays on the device: tabs of files and images")
  func deviceLocalTabsStayOnDevice() async throws {
    let bench = try await annas()
    var fileTab = testTab(3)
    fileTab.fileURL = URL(fileURLWithPath: "/a/b.txt")
    try bench.tabs.add(fileTab)
    let image = ClipboardEntry(
      id: testID(12), content: .image(fileName: "a.png"), timestamp: testDate(0))
    try bench.clipboard.add(image)
    bench.account(.signOut(previousUser: TabBench.user))
    #expect(bench.tabs.tabs == [fileTab])
    #expect(bench.clipboard.entries == [image])
  }

  @Test("A crash at any step of a wipe leaves nothing that another account would get")
  func crashDuringWipe() async throws {
    // The steps write the items anew and remove the state, in this order. Undoing the last ones
    // gives the files as a crash would leave them.
    let names = ["cloud-record-metadata.json", "cloud-sync-state.data"]
    for kept in names.indices {
      let bench = try await annas()
      let before = names.map { FileManager.default.contents(atPath: path(bench, $0)) }
      bench.account(.signOut(previousUser: TabBench.user))
      for position in names.indices[kept...] {
        try before[position]?.write(to: URL(fileURLWithPath: path(bench, names[position])))
      }
      let again = try TabBench(bench.folder)
      again.run()
      again.account(
        FileManager.default.fileExists(atPath: path(bench, "cloud-sync-state.data"))
          ? .switchAccounts(previousUser: TabBench.user, currentUser: TabBench.other)
          : .signIn(currentUser: TabBench.other))
      try await expectNothingLeft(again, "crash before \(names[kept])")
    }
  }

  private func path(_ bench: TabBench, _ name: String) -> String {
    bench.folder.url.appendingPathComponent(name).path
  }

  /// Proves SC-48.
  @Test("Data created while signed out is uploaded at the sign-in, after the zone")
  func signedOutDataIsUploadedAtSignIn() throws {
    let bench = try TabBench()
    bench.run()
    try bench.tabs.add(testTab(1))
    try bench.clipboard.add(
      ClipboardEntry(id: testID(11), text: "copy", timestamp: testDate(0)))
    bench.clear()
    bench.account(.signIn(currentUser: TabBench.user))
    #expect(
      bench.pending == ["saveZone ItsypadData", "save \(testID(1))", "save \(testID(11))"])
    // Everything is in the cloud already: fetching it settles it, and nothing is sent twice.
    bench.fetched([TabBench.record(testTab(1))])
    #expect(bench.tabs.unsentCount == 0)
    #expect(bench.sync.status.activity.conflicts.map(\.resolution) == [.equal])
  }

  /// Proves SC-51.
  @Test("Without an account nothing is queued and nothing is sent")
  func nothingIsQueuedWithoutAccount() throws {
    let bench = try TabBench()
    try bench.tabs.add(testTab(1))
    bench.run()
    #expect(bench.pending == [])
    #expect(!bench.knows(1))
  }

  /// Proves CE-101, SC-40.
  @Test("A deleted or purged zone empties the stores; after an encrypted reset all is sent again")
  func deletedZoneEmptiesStores() async throws {
    for reason in [CKDatabase.DatabaseChange.Deletion.Reason.deleted, .purged] {
      let bench = try await annas()
      bench.zoneGone(reason)
      #expect(bench.tabs.tabs.isEmpty && bench.clipboard.entries.isEmpty, "\(reason)")
      #expect(bench.pending == [], "\(reason)")
      #expect(try bench.folder.filesContaining("annas-secret") == [], "\(reason)")
      #expect(!bench.knows(1), "\(reason)")
    }
    let bench = try await annas()
    bench.zoneGone(.encryptedDataReset)
    #expect(
      bench.pending == [
        "saveZone ItsypadData", "save \(testID(1))", "save \(testID(2))", "save \(testID(11))",
      ])
    #expect(!bench.knows(1))
  }
}
