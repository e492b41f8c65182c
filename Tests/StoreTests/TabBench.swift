import CloudSync
import Foundation
import LoopbackServer
import Synchronization
import Testing

@testable import ClipboardStore
@testable import SyncSupport
@testable import SyncedStore
@testable import TabStore

/// A folder that is gone when the test is over.
final class TemporaryFolder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("swift-cloud-sync-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// The names of all files that hold `text` in any form a file of ours could hold it.
  func filesContaining(_ text: String) throws -> [String] {
    try TraceSearch(text).files(below: url)
  }
}

/// A list of pending changes with the documented rules and no engine behind it.
final class PendingList: PendingChanges {
  private struct Lists {
    var records: [CKSyncEngine.PendingRecordZoneChange] = []
    var zones: [CKSyncEngine.PendingDatabaseChange] = []
  }

  private let lists = Mutex(Lists())

  var pendingRecordZoneChanges: [CKSyncEngine.PendingRecordZoneChange] {
    lists.withLock { $0.records }
  }

  func first(
    _ limit: Int, in scope: CKSyncEngine.SendChangesOptions.Scope
  ) -> [CKSyncEngine.PendingRecordZoneChange] {
    Array(pendingRecordZoneChanges.filter { scope.contains($0) }.prefix(limit))
  }

  var pendingDatabaseChanges: [CKSyncEngine.PendingDatabaseChange] {
    lists.withLock { $0.zones }
  }

  func add(pendingRecordZoneChanges: [CKSyncEngine.PendingRecordZoneChange]) {
    lists.withLock { lists in
      for change in pendingRecordZoneChanges where !lists.records.contains(change) {
        switch change {
        case .saveRecord(let id): lists.records.removeAll { $0 == .deleteRecord(id) }
        case .deleteRecord(let id): lists.records.removeAll { $0 == .saveRecord(id) }
        }
        lists.records.append(change)
      }
    }
  }

  func remove(pendingRecordZoneChanges: [CKSyncEngine.PendingRecordZoneChange]) {
    lists.withLock { $0.records.removeAll { pendingRecordZoneChanges.contains($0) } }
  }

  func add(pendingDatabaseChanges: [CKSyncEngine.PendingDatabaseChange]) {
    lists.withLock { lists in
      for change in pendingDatabaseChanges where !lists.zones.contains(change) {
        lists.zones.append(change)
      }
    }
  }

  func remove(pendingDatabaseChanges: [CKSyncEngine.PendingDatabaseChange]) {
    lists.withLock { $0.zones.removeAll { pendingDatabaseChanges.contains($0) } }
  }
}

/// Both stores and their coordinator, which gets events that the tests made.
final class TabBench: Sendable {
  static let user = CKRecord.ID(recordName: "_anna")
  static let other = CKRecord.ID(recordName: "_ben")
  static let zone = CKRecordZone.ID(zoneName: "ItsypadData", ownerName: CKCurrentUserDefaultName)

  let folder: TemporaryFolder
  let tabs: TabStore
  let clipboard: ClipboardStore
  let sync: SyncedStore
  let list = PendingList()

  init(_ folder: TemporaryFolder? = nil) throws {
    let folder = try folder ?? TemporaryFolder()
    self.folder = folder
    sync = try .itsypad(directory: folder.url)
    tabs = TabStore(sync)
    clipboard = ClipboardStore(sync)
    sync.connect(to: CKContainer(identifier: "iCloud.test"), automaticallySync: false)
  }

  /// A bench that is running and signed in as ``user``, with nothing left to send.
  static func signedIn() throws -> TabBench {
    let bench = try TabBench()
    bench.run()
    bench.account(.signIn(currentUser: user))
    bench.hand(.sentDatabaseChanges(.init(savedZones: [CKRecordZone(zoneID: zone)])))
    bench.clear()
    return bench
  }

  /// Lets the coordinator believe that an engine is at work.
  func run() {
    sync.state.withLock { $0.run = SyncedStore.Run(pending: list) }
  }

  func hand(_ event: CKSyncEngine.Event) { sync.state.withLock { sync.take(event, &$0) } }

  /// What follows a fetch that did not tell why zones are missing.
  func createMissingZones() {
    sync.state.withLock { state in
      state.table.createMissingZones(among: state.table.missingZones)
      state.act()
    }
  }

  func account(_ change: CKSyncEngine.Event.AccountChange.ChangeType) {
    hand(.accountChange(.init(changeType: change)))
  }

  func zoneGone(_ reason: CKDatabase.DatabaseChange.Deletion.Reason) {
    hand(
      .fetchedDatabaseChanges(.init(deletions: [.init(zoneID: Self.zone, reason: reason)])))
  }

  func sent(
    saved: [CKRecord] = [], failed: [(CKRecord, CKError)] = [], deleted: [CKRecord.ID] = [],
    failedDeletions: [CKRecord.ID: CKError] = [:]
  ) {
    hand(
      .sentRecordZoneChanges(
        .init(
          savedRecords: saved, failedRecordSaves: failed.map { .init(record: $0, error: $1) },
          deletedRecordIDs: deleted, failedRecordDeletes: failedDeletions)))
  }

  func fetched(_ records: [CKRecord] = [], deleted: [(UUID, String)] = []) {
    hand(
      .fetchedRecordZoneChanges(
        .init(
          modifications: records.map { .init(record: $0) },
          deletions: deleted.map {
            .init(recordID: Self.recordID($0.0), recordType: $0.1)
          })))
  }

  /// What waits to be sent, as `save` or `delete` with the item's ID; zones by name.
  var pending: [String] {
    list.pendingDatabaseChanges.map { change in
      switch change {
      case .saveZone(let zone): "saveZone \(zone.zoneID.zoneName)"
      case .deleteZone(let zone): "deleteZone \(zone.zoneName)"
      }
    }
      + list.pendingRecordZoneChanges.map { change in
        switch change {
        case .saveRecord(let id): "save \(id.recordName)"
        case .deleteRecord(let id): "delete \(id.recordName)"
        }
      }
  }

  /// Empties the list, as if everything were under way.
  func clear() {
    list.remove(pendingRecordZoneChanges: list.pendingRecordZoneChanges)
    list.remove(pendingDatabaseChanges: list.pendingDatabaseChanges)
  }

  /// The records the delegate would send now.
  func batch() async -> [CKRecord] {
    await sync.nextBatch(.all, list)?.recordsToSave ?? []
  }

  /// Whether a change tag is remembered for the item `number`.
  func knows(_ number: Int) -> Bool {
    sync.state.withLock { $0.table[Self.recordID(testID(number))]?.systemFields != nil }
  }

  /// A state update of a real engine that has something pending.
  static func stateUpdate() async throws -> CKSyncEngine.Event {
    let catcher = StateCatcher()
    let device = LoopbackServer().device("device")
    let engine = CKSyncEngine(
      .init(
        database: CKContainer(identifier: "iCloud.test", transport: device).privateCloudDatabase,
        stateSerialization: nil, delegate: catcher))
    defer { withExtendedLifetime((engine, catcher)) {} }
    engine.state.add(pendingRecordZoneChanges: [.saveRecord(recordID(testID(99)))])
    for await update in catcher.updates { return .stateUpdate(update) }
    throw CancellationError()
  }

  static func recordID(_ id: UUID) -> CKRecord.ID {
    CKRecord.ID(recordName: id.uuidString, zoneID: zone)
  }

  /// A tab's record as another device would have saved it.
  static func record(_ tab: ScratchTab) -> CKRecord {
    let record = CKRecord(recordType: "ScratchTab", recordID: recordID(tab.id))
    tab.copy(to: record)
    return record
  }
}

/// Catches an engine's state updates.
final class StateCatcher: CKSyncEngineDelegate {
  let updates: AsyncStream<CKSyncEngine.Event.StateUpdate>
  private let continuation: AsyncStream<CKSyncEngine.Event.StateUpdate>.Continuation

  init() {
    (updates, continuation) = AsyncStream.makeStream()
  }

  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    if case .stateUpdate(let update) = event { continuation.yield(update) }
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? { nil }
}

/// The `number`th ID, the same in every run.
func testID(_ number: Int) -> UUID {
  let digits = String(number)
  let tail = String(repeating: "0", count: 12 - digits.count) + digits
  return UUID(uuidString: "00000000-0000-4000-8000-" + tail) ?? UUID()
}

/// The moment `seconds` after the tests' beginning of time.
func testDate(_ seconds: Double) -> Date {
  Date(timeIntervalSinceReferenceDate: 800_000_000 + seconds)
}

func testTab(_ number: Int, _ content: String = "text", at seconds: Double = 0) -> ScratchTab {
  ScratchTab(
    id: testID(number), name: "Tab \(number)", content: content, lastModified: testDate(seconds))
}
