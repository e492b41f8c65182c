import ClipboardStore
import CloudSync
import CommandLineKit
import Foundation
import SyncSupport
import Synchronization
import TabStore

/// The editor whose tabs and clipboard history sync with one engine.
final class ItsypadApp: StoreApp {
  static let name = "itsypad"
  static let recordTypes = ["ScratchTab", "ClipboardEntry"]

  let tabs: TabStore
  let clipboard: ClipboardStore
  private let place: AppPlace
  private let running = Mutex<CloudSyncEngine?>(nil)

  init(_ place: AppPlace) throws {
    self.place = place
    tabs = try TabStore(directory: place.directory)
    clipboard = try ClipboardStore(directory: place.directory)
  }

  var inventory: [(count: Int, noun: String)] {
    [(tabs.tabs.count, "tab"), (clipboard.entries.count, "clipboard entry")]
  }

  var unsent: Int { tabs.unsentCount + clipboard.unsentCount }

  /// The engine of both stores, made at the first use; sends nothing until it is started.
  var engine: CloudSyncEngine {
    get throws {
      try running.withLock { running throws -> CloudSyncEngine in
        if let running { return running }
        let engine = try CloudSyncEngine(
          database: place.device.link().container.privateCloudDatabase,
          directory: place.directory, stores: [tabs, clipboard], automaticallySync: false)
        running = engine
        return engine
      }
    }
  }

  /// Starts the engine, unless the user turned sync off on this device.
  ///
  /// The first sync turns it on if the user has not decided.
  func start() throws {
    let switchFile = place.directory.appendingPathComponent("cloud-sync-settings.json")
    let engine = try engine
    if !FileManager.default.fileExists(atPath: switchFile.path) {
      try engine.setEnabled(true)
    } else if engine.isEnabled {
      try engine.start()
    } else {
      throw ToolError("sync is off on this device; to turn it on, run: stores tabs sync on")
    }
  }

  func sync() async throws -> SyncReport {
    let engine = try engine
    let before = engine.activity
    try await engine.sync()
    return SyncReport("tabs and clipboard", engine.activity, since: before, unsent: unsent)
  }

  func stop() async throws { try await engine.shutDown() }

  func seen() -> RecordTable {
    var table = RecordTable()
    func add(_ type: String, _ id: UUID, copy: (CKRecord) -> Void) {
      let zone = CKRecordZone.ID(zoneName: "seen")
      let record = CKRecord(
        recordType: type, recordID: CKRecord.ID(recordName: id.uuidString, zoneID: zone))
      copy(record)
      table.add(record)
    }
    for tab in tabs.tabs where tab.isScratch {
      add("ScratchTab", tab.id, copy: CloudTabRecord(tab).copy(onto:))
    }
    for entry in clipboard.entries {
      guard let fields = CloudClipboardRecord(entry) else { continue }
      add("ClipboardEntry", entry.id, copy: fields.copy(onto:))
    }
    return table
  }

  var traces: Traces {
    Traces(
      names: tabs.tabs.map(\.id.uuidString) + clipboard.entries.map(\.id.uuidString),
      texts: tabs.tabs.map(\.content) + clipboard.entries.compactMap(\.text))
  }
}
