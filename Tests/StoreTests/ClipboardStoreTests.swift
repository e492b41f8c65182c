import CloudSync
import Foundation
import Testing

@testable import ClipboardStore
@testable import SyncSupport
@testable import SyncedStore
@testable import TabStore

@Suite("Row C: the clipboard store")
struct ClipboardStoreTests {
  private func entry(_ number: Int, at seconds: Double = 0) -> ClipboardEntry {
    ClipboardEntry(id: testID(number), text: "text \(number)", timestamp: testDate(seconds))
  }

  private func record(_ entry: ClipboardEntry) throws -> CKRecord {
    let record = CKRecord(
      recordType: "ClipboardEntry", recordID: TabBench.recordID(entry.id))
    entry.copy(to: record)
    return record
  }

  @Test("C: A record has type ClipboardEntry, text and timestamp, and zone ItsypadData")
  func clipboardRecordHasTypeTextAndTimestamp() throws {
    let record = try record(entry(1, at: 2))
    #expect(record.recordType == "ClipboardEntry")
    #expect(record.recordID == TabBench.recordID(testID(1)))
    #expect(record.allKeys() == ["text", "timestamp"])
    #expect(record["text"] as? String == "text 1")
    #expect(record["timestamp"] as? Date == testDate(2))
    record["text"] = nil as String?
    #expect(CloudClipboardRecord(record) == nil)
  }

  @Test("C: New, deleted, cleared and pruned text entries are queued, and images stay local")
  func onlyTextEntryChangesAreQueued() async throws {
    let bench = try TabBench.signedIn()
    let image = ClipboardEntry(
      id: testID(9), content: .image(fileName: "a.png"), timestamp: testDate(9))
    try bench.clipboard.add([entry(1, at: 1), entry(2, at: 2), entry(3, at: 3), image])
    #expect(bench.clipboard.entries.map(\.id) == [testID(9), testID(3), testID(2), testID(1)])
    #expect(bench.pending == (1...3).map { "save \(testID($0))" })
    await bench.sent(saved: bench.batch())
    bench.clear()
    #expect(try bench.clipboard.delete(testID(2)))
    #expect(try !bench.clipboard.delete(testID(2)))
    #expect(bench.pending == ["delete \(testID(2))"])
    bench.clear()
    #expect(try bench.clipboard.prune(olderThan: 10, now: testDate(11.5)) == 1)
    #expect(bench.pending == ["delete \(testID(1))"])
    bench.clear()
    #expect(try bench.clipboard.clear() == 2)
    #expect(bench.pending == ["delete \(testID(3))"])
    #expect(bench.clipboard.entries.isEmpty)
    #expect(try ClipboardStore(directory: bench.folder.url).entries.isEmpty)
  }

  @Test("C: At most 1,000 texts are kept; the oldest are deleted, the same on every device")
  func oldestEntriesAreDeletedBeyondLimit() throws {
    let first = try TabBench.signedIn()
    try first.clipboard.add((1...1_000).map { entry($0, at: Double($0)) })
    try first.sent(saved: (1...1_000).map { try record(entry($0, at: Double($0))) })
    first.clear()
    try first.clipboard.add(entry(1_001, at: 1_001))
    #expect(first.clipboard.entries.count == 1_000)
    #expect(first.pending == ["save \(testID(1_001))", "delete \(testID(1))"])
    first.clear()
    // From elsewhere: one too old to stay, one that pushes another out, one as old as the oldest.
    try first.fetched([
      record(entry(2_000, at: 0.5)), record(entry(2_001, at: 5_000)),
      record(entry(2_002, at: 3)),
    ])
    #expect(first.clipboard.entries.count == 1_000)
    #expect(
      Set(first.pending) == [
        "delete \(testID(2_000))", "delete \(testID(2))", "delete \(testID(3))",
      ])

    let second = try TabBench.signedIn()
    try second.fetched(
      [record(entry(2_002, at: 3)), record(entry(2_001, at: 5_000))]
        + (1...1_001).reversed().map { try record(entry($0, at: Double($0))) })
    #expect(second.clipboard.entries == first.clipboard.entries)
  }

  @Test("C: The server wins a conflict, and remote deletions and duplicates are applied")
  func remoteDeletionsAndDuplicatesAreApplied() async throws {
    let bench = try TabBench.signedIn()
    try bench.clipboard.add([entry(1), entry(2)])
    let batch = await bench.batch()
    bench.clear()
    let server = try record(
      ClipboardEntry(id: testID(1), text: "theirs", timestamp: testDate(-100)))
    bench.sent(
      saved: [batch[1]],
      failed: [
        (
          batch[0],
          CKError(.serverRecordChanged, userInfo: [CKRecordChangedErrorServerRecordKey: server])
        )
      ])
    #expect(bench.pending == [])
    #expect(bench.clipboard.entry(testID(1))?.text == "theirs")
    #expect(bench.clipboard.unsentCount == 0)
    #expect(bench.sync.status.activity.conflicts.map(\.resolution) == [.serverWon])
    try bench.fetched([record(entry(2))])
    #expect(bench.clipboard.entries.map(\.text) == ["text 2", "theirs"])
    bench.fetched(deleted: [(testID(2), "ClipboardEntry"), (testID(9), "ScratchTab")])
    #expect(bench.clipboard.entries.map(\.text) == ["theirs"])
    #expect(bench.tabs.tabs.isEmpty)
  }

  @Test("C: An entry that was deleted from the cloud elsewhere is deleted locally too")
  func remotelyDeletedEntryIsRemoved() async throws {
    let bench = try TabBench.signedIn()
    try bench.fetched([record(entry(1))])
    try bench.sync.save(ClipboardEntry(id: testID(1), text: "changed", timestamp: testDate(1)))
    let batch = await bench.batch()
    bench.clear()
    bench.sent(failed: [(batch[0], CKError(.unknownItem))])
    #expect(bench.pending == [])
    #expect(bench.clipboard.entries.isEmpty)
    #expect(try ClipboardStore(directory: bench.folder.url).entries.isEmpty)
  }

  @Test("C: Entries with their texts survive a restart byte for byte")
  func entriesSurviveRestartExactly() throws {
    let folder = try TemporaryFolder()
    let texts = [
      "", "a\nb", "\u{0}\u{1F}\u{FEFF}", "é e\u{301} 🧩", String(repeating: "x", count: 9),
    ]
    let entries = texts.enumerated().map {
      ClipboardEntry(id: testID($0), text: $1, timestamp: Date(timeIntervalSince1970: 0.1 * 3))
    }
    try ClipboardStore(directory: folder.url).add(entries)
    let again = try ClipboardStore(directory: folder.url)
    #expect(Set(again.entries) == Set(entries))
    #expect(Set(again.entries.map { Array(($0.text ?? "").utf8) }).count == texts.count)
  }
}
