import ClipboardStore
import CloudSync
import CommandLineKit
import Foundation
import SyncSupport
import TabStore

/// The editor whose tabs and clipboard history sync with one engine.
final class ItsypadApp: StoreApp {
  static let name = "itsypad"
  static let recordTypes = ["ScratchTab", "ClipboardEntry"]

  let tabs: TabStore
  let clipboard: ClipboardStore
  private let place: AppPlace
  private let running = OnceMade<CloudSyncEngine>()

  init(_ place: AppPlace) throws {
    self.place = place
    tabs = try TabStore(directory: place.directory)
    clipboard = try ClipboardStore(directory: place.directory)
  }

  var inventory: [(count: Int, noun: String)] {
    [(tabs.tabs.count, "tab"), (clipboard.entries.count, "clipboard entry")]
  }

  var unsent: Int { tabs.unsentCount + clipboard.unsentCount }

  /// The engine of both stores; nothing is sent before it is started.
  var engine: CloudSyncEngine {
    get throws {
      try running.get {
        try CloudSyncEngine(
          database: place.device.link().container.privateCloudDatabase,
          directory: place.directory, stores: [tabs, clipboard], automaticallySync: false)
      }
    }
  }

  /// Starts the engine unless the person turned sync off on this device.
  ///
  /// As long as nobody has decided about sync, asking for one turns it on.
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

  func sync() async throws -> any SyncReport {
    let engine = try engine
    let before = engine.activity
    try await engine.sync()
    return EngineReport("tabs and clipboard", engine.activity, since: before, unsent: unsent)
  }

  func stop() async throws { try await engine.shutDown() }

  func seen() -> RecordTable {
    var table = RecordTable()
    let zone = CKRecordZone.ID(zoneName: "seen")
    for tab in tabs.tabs where tab.isScratch {
      let id = CKRecord.ID(recordName: tab.id.uuidString, zoneID: zone)
      let record = CKRecord(recordType: "ScratchTab", recordID: id)
      CloudTabRecord(tab).copy(onto: record)
      table.add(record)
    }
    for entry in clipboard.entries {
      guard let fields = CloudClipboardRecord(entry) else { continue }
      let id = CKRecord.ID(recordName: entry.id.uuidString, zoneID: zone)
      let record = CKRecord(recordType: "ClipboardEntry", recordID: id)
      fields.copy(onto: record)
      table.add(record)
    }
    return table
  }

  var traces: Traces {
    Traces(
      names: tabs.tabs.map(\.id.uuidString) + clipboard.entries.map(\.id.uuidString),
      texts: tabs.tabs.map(\.content) + clipboard.entries.compactMap(\.text))
  }
}
