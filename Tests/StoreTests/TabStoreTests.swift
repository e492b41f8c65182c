import CloudSync
import Foundation
import Synchronization
import Testing

@testable import ClipboardStore
@testable import SyncSupport
@testable import SyncedStore
@testable import TabStore

@Suite("Row T: the tab store")
struct TabStoreTests {
  @Test("T: A record has type ScratchTab, its five fields with their types, and zone ItsypadData")
  func tabRecordHasTypeAndFields() throws {
    var tab = testTab(1, "let a = 1", at: 1.5)
    tab.language = "swift"
    tab.languageLocked = true
    let record = TabBench.record(tab)
    #expect(record.recordType == "ScratchTab")
    #expect(record.recordID.recordName == testID(1).uuidString)
    #expect(record.recordID.zoneID.zoneName == "ItsypadData")
    #expect(
      record.allKeys() == ["content", "language", "languageLocked", "lastModified", "name"])
    #expect(record["languageLocked"] as? Int64 == 1)
    #expect(record["lastModified"] as? Date == testDate(1.5))
    #expect(CloudTabRecord(record) == tab)
  }

  @Test("T: Only tabs without a file sync: new, edited, relabelled and closed ones are queued")
  func onlyScratchTabChangesAreQueued() async throws {
    let bench = try TabBench.signedIn()
    var fileTab = testTab(2)
    fileTab.fileURL = URL(fileURLWithPath: "/a/file.txt")
    try bench.tabs.add([testTab(1), fileTab])
    #expect(bench.pending == ["save \(testID(1))"])
    bench.clear()

    try bench.tabs.updateContent(testID(2), "more", now: testDate(5))
    #expect(bench.pending == [], "a tab of a file was queued")
    try bench.tabs.updateContent(testID(1), "text", now: testDate(5))
    #expect(bench.pending == [], "an edit that changes nothing was queued")
    try bench.tabs.updateLanguage(testID(1), "swift", now: testDate(5))
    #expect(bench.pending == ["save \(testID(1))"])
    #expect(bench.tabs.tab(testID(1))?.languageLocked == true)

    await bench.sent(saved: bench.batch())
    bench.clear()
    try bench.tabs.edit(testID(1), now: testDate(6)) { $0.fileURL = URL(fileURLWithPath: "/a/b") }
    #expect(bench.pending == ["delete \(testID(1))"])
    bench.clear()
    try bench.tabs.add(testTab(3))
    try bench.tabs.close(testID(3))
    #expect(bench.pending == [], "the server never had it")
    #expect(try bench.tabs.close(testID(9)) == false)
    #expect(bench.tabs.tabs.map(\.id) == [testID(1), testID(2)])
  }

  @Test("T: Every edit moves lastModified forward, also when the clock is behind")
  func editAdvancesModificationDate() throws {
    let bench = try TabBench()
    try bench.tabs.add(testTab(1, "a", at: 100))
    let edited = try bench.tabs.updateContent(testID(1), "b", now: testDate(-5_000))
    #expect(edited?.lastModified == testDate(100.001))
  }

  /// Proves FB-6.
  @Test("T: Tabs and unsent changes survive a restart, and the engine gets them again")
  func unsentTabsSurviveRestart() async throws {
    let bench = try TabBench.signedIn()
    try bench.tabs.add([testTab(1), testTab(2), testTab(3)])
    bench.sent(saved: [TabBench.record(testTab(2)), TabBench.record(testTab(3))])
    try bench.tabs.close(testID(3))
    bench.hand(try await TabBench.stateUpdate())

    let again = try TabBench(bench.folder)
    #expect(again.tabs.tabs == bench.tabs.tabs)
    #expect(again.tabs.unsentCount == 2)
    again.run()
    again.sync.state.withLock { state in
      state.table.sendEverything()
      state.act()
    }
    #expect(again.pending.sorted() == ["delete \(testID(3))", "save \(testID(1))"])
  }

  @Test("A start queues no zone, but a sign-in and a missing zone do")
  func startQueuesNoZone() async throws {
    let bench = try TabBench()
    try bench.tabs.add(testTab(1))
    bench.run()
    #expect(bench.pending == [])
    bench.account(.signIn(currentUser: TabBench.user))
    #expect(bench.pending == ["saveZone ItsypadData", "save \(testID(1))"])
    bench.clear()
    bench.sent(failed: [(TabBench.record(testTab(1)), CKError(.zoneNotFound))])
    #expect(bench.pending == ["saveZone ItsypadData", "save \(testID(1))"])
  }

  /// Proves SC-30.
  @Test("An edit during a send survives the success of the older version")
  func editDuringSend() async throws {
    let bench = try TabBench.signedIn()
    try bench.tabs.add(testTab(1, "first"))
    let sent = await bench.batch()
    #expect(sent.map { $0["content"] as? String } == ["first"])
    try bench.tabs.updateContent(testID(1), "second", now: testDate(1))
    bench.clear()
    bench.sent(saved: sent)
    #expect(bench.pending == ["save \(testID(1))"])
    let next = await bench.batch()
    #expect(next.map { $0["content"] as? String } == ["second"])
    bench.clear()
    bench.sent(saved: next)
    #expect(bench.pending == [])
    #expect(bench.tabs.unsentCount == 0)
  }

  @Test("A tab that is closed while its record waits in a batch is deleted on the server")
  func tabClosedDuringBatchIsDeleted() async throws {
    let bench = try TabBench.signedIn()
    try bench.tabs.add(testTab(1))
    let record = bench.sync.state.withLock {
      $0.table.recordToSend(TabBench.recordID(testID(1)))
    }
    try bench.tabs.close(testID(1))
    #expect(bench.pending == ["delete \(testID(1))"])
    bench.clear()
    bench.sent(saved: [try #require(record)])
    #expect(bench.pending == ["delete \(testID(1))"])
  }

  /// Proves SC-25, SC-26, SC-28.
  @Test(
    "Pending saves without an item or of an unknown type are dropped"
  )
  func nothingToSend() async throws {
    let bench = try TabBench.signedIn()
    bench.list.add(
      pendingRecordZoneChanges: [
        .saveRecord(TabBench.recordID(testID(7))),
        .saveRecord(CKRecord.ID(recordName: "no-uuid", zoneID: TabBench.zone)),
      ])
    #expect(await bench.batch().isEmpty)
    #expect(bench.pending == [])
  }

  /// Proves SC-136.
  @Test("T: Remote tabs are applied and removed, and unreadable and foreign records are ignored")
  func remoteTabsAreAppliedAndRemoved() async throws {
    let bench = try TabBench.signedIn()
    let corrupted = CKRecord(recordType: "ScratchTab", recordID: TabBench.recordID(testID(4)))
    corrupted["name"] = "text in another form"
    corrupted["content"] = 7
    let nameless = CKRecord(
      recordType: "ScratchTab",
      recordID: CKRecord.ID(recordName: "invalid", zoneID: TabBench.zone))
    let foreign = CKRecord(recordType: "Foreign", recordID: TabBench.recordID(testID(5)))
    bench.fetched([
      TabBench.record(testTab(1, "remote")), corrupted, nameless, foreign,
    ])
    #expect(bench.tabs.tabs == [testTab(1, "remote")])
    #expect(
      bench.sync.status.activity.problems.map(\.name) == [testID(4).uuidString, "invalid"])
    #expect(
      bench.sync.unreadableNames == [testID(4).uuidString, testID(5).uuidString, "invalid"])
    // editRecordReceivedFromCloudKit: the first edit goes out with the received tag.
    try bench.tabs.updateContent(testID(1), "edited", now: testDate(1))
    #expect(bench.knows(1))
    await bench.sent(saved: bench.batch())
    bench.fetched(
      deleted: [(testID(1), "ScratchTab"), (testID(5), "Foreign"), (testID(6), "ScratchTab")])
    #expect(bench.tabs.tabs.isEmpty)
    #expect(!bench.knows(1))
    #expect(bench.sync.unreadableNames == [testID(4).uuidString, "invalid"])
  }

  @Test(
    "T: a deletion from elsewhere does not take an unsent edit; one here is not undone by a fetch")
  func deletionsAndEdits() async throws {
    let bench = try TabBench.signedIn()
    bench.fetched([TabBench.record(testTab(1, "a")), TabBench.record(testTab(2, "b"))])
    try bench.tabs.updateContent(testID(1), "edited", now: testDate(1))
    bench.clear()
    bench.fetched(deleted: [(testID(1), "ScratchTab")])
    #expect(bench.tabs.tab(testID(1))?.content == "edited")
    #expect(bench.pending == ["save \(testID(1))"])

    try bench.tabs.close(testID(2))
    bench.clear()
    bench.fetched([TabBench.record(testTab(2, "newer", at: 50))])
    #expect(bench.tabs.tab(testID(2)) == nil)
    #expect(bench.pending == ["delete \(testID(2))"])
  }

  /// Proves SC-131, SC-132.
  @Test("A deletion during the upload is sent after it; an item created again exists")
  func deletionDuringUpload() async throws {
    let bench = try TabBench.signedIn()
    try bench.tabs.add(testTab(1, "a"))
    let sent = await bench.batch()
    try bench.tabs.close(testID(1))
    bench.sent(saved: sent)
    #expect(bench.pending == ["delete \(testID(1))"])
    try bench.tabs.add(testTab(1, "again"))
    bench.clear()
    bench.sent(deleted: [TabBench.recordID(testID(1))])
    #expect(bench.pending == ["save \(testID(1))"])
    #expect(bench.tabs.tab(testID(1))?.content == "again")
  }

  @Test("T: Turning sync off forgets the cloud and keeps the tabs, turning it on sends everything")
  func syncSwitchForgetsAndResendsCloud() async throws {
    let bench = try TabBench()
    try bench.tabs.add([testTab(1), testTab(2)])
    try bench.tabs.close(testID(2))
    #expect(bench.tabs.unsentCount == 1, "a deletion is owed for a tab the cloud never saw")
    try bench.sync.startIfEnabled()
    #expect(!bench.sync.status.isRunning)
    try bench.sync.setEnabled(true)
    bench.run()
    bench.account(.signIn(currentUser: TabBench.user))
    await bench.sent(saved: bench.batch())
    bench.hand(try await TabBench.stateUpdate())
    let path = bench.folder.url.appendingPathComponent("cloud-sync-state.data").path
    #expect(FileManager.default.fileExists(atPath: path))

    #expect(try TabBench(bench.folder).sync.isEnabled == true, "the switch was not kept")
    try bench.sync.setEnabled(false)
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(bench.tabs.tabs.map(\.id) == [testID(1)])
    // writeStopDeleteStart: closed while sync is off, deleted in the cloud when it is on again.
    try bench.tabs.close(testID(1))
    let again = try TabBench(bench.folder)
    #expect(again.sync.isEnabled == false)
    again.run()
    again.account(.signIn(currentUser: TabBench.user))
    #expect(again.pending == ["saveZone ItsypadData", "delete \(testID(1))"])
  }

  @Test(
    "T: C: Migration from the key-value store honors tombstones and later dates, and runs once")
  func migrationHonorsTombstonesOnce() throws {
    let bench = try TabBench()
    try bench.tabs.add([
      testTab(1, "newer here", at: 100), testTab(2, "older here", at: 0), testTab(3, "closed"),
    ])
    let json = """
      {"tabs": [
        {"id": "\(testID(1))", "name": "1", "content": "older there", "lastModified": 800000050},
        {"id": "\(testID(2))", "name": "2", "content": "newer there", "lastModified": 800000050,
         "language": "swift", "languageLocked": 1},
        {"id": "\(testID(4))", "name": "4", "content": "resurrected", "lastModified": 800000050},
        {"id": "\(testID(5))", "name": "5", "content": "new", "lastModified": "2026-05-01T12:00:00Z"},
        {"id": "no-uuid", "name": "6", "content": "bad", "lastModified": 0}],
       "deletedTabIDs": ["\(testID(3))", "\(testID(4))"],
       "clipboard": [{"id": "\(testID(11))", "text": "copied", "timestamp": 800000000},
                     {"id": "\(testID(12))", "text": "deleted", "timestamp": 800000000}],
       "deletedClipboardIDs": ["\(testID(12))"]}
      """
    let export = try KeyValueExport(Data(json.utf8))
    #expect(export.unreadable == 1)
    var expected = MigrationReport()
    (expected.added, expected.updated, expected.removed) = (1, 1, 1)
    #expect(try bench.tabs.migrate(export) == expected)
    #expect(
      bench.tabs.tabs.map(\.content).sorted() == ["new", "newer here", "newer there"])
    #expect(bench.tabs.tab(testID(2))?.languageLocked == true)
    #expect([3, 4].allSatisfy { bench.tabs.isUnsent(testID($0)) })
    #expect(try bench.clipboard.migrate(export).added == 1)
    #expect(bench.clipboard.entries.map(\.text) == ["copied"])

    try bench.tabs.close(testID(5))
    #expect(try bench.tabs.migrate(export).wasDoneBefore)
    #expect(bench.tabs.tab(testID(5)) == nil)
    for bad in ["", "[]", "{}", "{\"tabs\": 3}", "not json"] {
      #expect(throws: KeyValueExportError.self, "\(bad)") { try KeyValueExport(Data(bad.utf8)) }
    }
  }
}
