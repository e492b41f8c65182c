import CloudSync
import Foundation
import LoopbackServer
import Synchronization
import Testing

@testable import ClipboardStore
@testable import SyncSupport
@testable import SyncedStore
@testable import TabStore

@Suite("Rows T and C: other versions of the app", .timeLimit(.minutes(20)))
struct TabNewerVersionTests {
  /// Another version of the app: a device that reads and writes records as they are.
  struct OtherVersion {
    let database: CKDatabase

    init(_ server: LoopbackServer) {
      let link = server.device("other version", signedInAs: "anna")
      database =
        CKContainer(identifier: TabDevice.container, transport: link)
        .privateCloudDatabase
    }

    func record(_ number: Int) async throws -> CKRecord {
      try await database.record(for: TabBench.recordID(testID(number)))
    }

    /// All there is of a record, tag and dates included.
    func whole(_ name: String) async throws -> [String] {
      let record = try await database.record(
        for: CKRecord.ID(recordName: name, zoneID: TabBench.zone))
      return [record.recordChangeTag ?? "", "\(record.modificationDate as Any)"]
        + record.allKeys().sorted().map { "\($0): \(record.object(forKey: $0) as Any)" }
    }
  }

  /// Proves SC-137.
  @Test("T: C: Fields of a newer version stay when this device saves the item again")
  func newerTabFieldsSurviveSave() async throws {
    let server = LoopbackServer()
    let device = try TabDevice(server, "device")
    try device.tabs.add(testTab(1, "one"))
    try device.clipboard.add(TabRecoveryTests.entry(2))
    try await device.sync.sync()
    let other = OtherVersion(server)
    for number in [1, 102] {
      let record = try await other.record(number)
      record["colour"] = "red"
      record["pins"] = [1, 2] as [Int64]
      try await other.database.save(record)
    }
    try await device.sync.sync()
    try device.tabs.updateContent(testID(1), "edited", now: testDate(9))
    // An entry never changes; deleted and copied again before a sync, it is saved again.
    try device.clipboard.delete(testID(102))
    try device.clipboard.add(
      ClipboardEntry(id: testID(102), text: "again", timestamp: testDate(50)))
    try await device.sync.sync()
    for (number, field, text) in [(1, "content", "edited"), (102, "text", "again")] {
      let record = try await other.record(number)
      #expect(record[field] as? String == text)
      #expect(record["colour"] as? String == "red")
      #expect(record["pins"] as? [Int64] == [1, 2])
    }
  }

  @Test("T: C: A missing field has its default, the same on every device")
  func missingTabFieldsGetDefaults() async throws {
    let server = LoopbackServer()
    let devices = try ["a", "b"].map { try TabDevice(server, $0) }
    try devices[0].tabs.add(testTab(9))
    for device in devices { try await device.sync.sync() }
    let other = OtherVersion(server)
    let fields: [(String, any CKRecordValueProtocol)] = [
      ("name", "n"), ("content", "c"), ("language", "swift"), ("languageLocked", 1),
      ("lastModified", testDate(3)),
    ]
    for missing in fields.indices {
      let record = CKRecord(
        recordType: "ScratchTab", recordID: TabBench.recordID(testID(missing + 1)))
      for (index, field) in fields.enumerated() where index != missing {
        record.setObject(field.1, forKey: field.0)
      }
      try await other.database.save(record)
    }
    let timeless = CKRecord(
      recordType: "ClipboardEntry", recordID: TabBench.recordID(testID(10)))
    timeless["text"] = "no time"
    let saved = try await other.database.save(timeless)
    for device in devices {
      try await device.sync.sync()
      let tabs = (1...5).compactMap { device.tabs.tab(testID($0)) }
      #expect(tabs.map(\.name) == ["Untitled", "n", "n", "n", "n"])
      #expect(tabs.map(\.content) == ["c", "", "c", "c", "c"])
      #expect(tabs.map(\.language) == ["swift", "swift", "plain", "swift", "swift"])
      #expect(tabs.map(\.languageLocked) == [true, true, true, false, true])
      let cloudDate = try await other.record(5).modificationDate
      #expect(tabs.last?.lastModified == cloudDate)
      #expect(device.clipboard.entry(testID(10))?.timestamp == saved.modificationDate)
      #expect(device.sync.unreadableNames == [])
    }
    #expect(devices[0].content == devices[1].content)
  }

  /// Proves SC-139.
  @Test("T: C: A record of a newer version is kept, but not shown, until an update")
  func newerTabRecordIsHiddenUntilUpdate() async throws {
    let server = LoopbackServer()
    let folder = try TemporaryFolder()
    let device = try TabDevice(server, "device", folder: folder)
    try device.tabs.add([testTab(1, "seen"), testTab(2, "edited here")])
    try device.clipboard.add(TabRecoveryTests.entry(1))
    try await device.sync.sync()
    let other = OtherVersion(server)
    // A newer schema of what was here, one with an unsent edit here, one that is new, one of
    // another number, a kind of entry without text, and a type nobody knows.
    try device.tabs.updateContent(testID(2), "not sent", now: testDate(90))
    for number in [1, 2] {
      let record = try await other.record(number)
      record["schemaVersion"] = 2
      record["content"] = "newer-\(number)"
      try await other.database.save(record)
    }
    func make(_ type: String, _ number: Int, _ field: String, _ value: any CKRecordValueProtocol)
      async throws
    {
      let record = CKRecord(recordType: type, recordID: TabBench.recordID(testID(number)))
      record.setObject(value, forKey: field)
      try await other.database.save(record)
    }
    try await make("ScratchTab", 3, "schemaVersion", 7)
    try await make("ScratchTab", 4, "schemaVersion", 3)
    try await make("ClipboardEntry", 5, "image", Data([3]))
    try await make("Drawing", 6, "lines", 3)
    let entry = try await other.record(101)
    entry["schemaVersion"] = 2
    try await other.database.save(entry)
    let names = [1, 2, 3, 4, 5, 6, 101].map { testID($0).uuidString }
    var before: [[String]] = []
    for name in names { before.append(try await other.whole(name)) }

    // The edit can't be sent: the cloud holds something this version can't bring together with it.
    await #expect(throws: SyncedStoreError.self) { try await device.sync.sync() }
    #expect(device.tabs.tabs.map(\.content) == ["not sent"])
    #expect(device.clipboard.entries.isEmpty)
    #expect(device.sync.unreadableNames == names.sorted())
    var after: [[String]] = []
    for name in names { after.append(try await other.whole(name)) }
    #expect(before == after, "nothing on the server was touched")
    try await device.sync.shutDown()

    // The next launch still has them, whole.
    let again = try TabDevice(server, "device", folder: folder)
    #expect(again.sync.unreadableNames == names.sorted())
    let kept = again.sync.state.withLock { $0.table[TabBench.recordID(testID(4))]?.unreadable }
      .flatMap { CKRecord(archive: $0) }
    #expect(kept?["schemaVersion"] as? Int64 == 3 && kept?.recordChangeTag != nil)
    // What another device deletes goes from here, and with the account goes all.
    try await other.database.deleteRecord(withID: TabBench.recordID(testID(6)))
    _ = try? await again.sync.sync()
    #expect(!again.sync.unreadableNames.contains(testID(6).uuidString))
    #expect(try folder.filesContaining("newer-1") == ["cloud-record-metadata.json"])
    again.link.signIn(as: "ben")
    _ = try? await again.sync.sync()
    #expect(again.sync.unreadableNames == [])
    #expect(try folder.filesContaining("newer-1") == [])
  }

  @Test("T: After an update the app shows the records it kept and merges them with local tabs")
  func updateShowsAndMergesKeptRecords() async throws {
    let bench = try TabBench.signedIn()
    try bench.tabs.add([testTab(1, "mine, later", at: 20), testTab(2, "mine, earlier", at: 1)])
    for number in 1...3 {
      let record = TabBench.record(testTab(number, "theirs", at: 10))
      record["schemaVersion"] = 2
      bench.fetched([record])
    }
    #expect(bench.tabs.tabs.map(\.content) == ["mine, later", "mine, earlier"])
    #expect(bench.sync.unreadableNames.count == 3)
    // The update: a version that knows the schema, which for this test is the one without a number.
    bench.sync.state.withLock { state in
      for id in state.table.unreadable {
        state.table.update(id) { entry in
          let record = entry.unreadable.flatMap { CKRecord(archive: $0) }
          record?["schemaVersion"] = nil
          entry.unreadable = record?.allFields
        }
      }
      state.table.readAgain()
      state.act()
    }
    #expect(bench.tabs.tabs.map(\.content) == ["mine, later", "theirs", "theirs"])
    #expect(bench.sync.unreadableNames == [])
    #expect(bench.sync.status.activity.conflicts.map(\.resolution) == [.clientWon, .serverWon])
  }
}
