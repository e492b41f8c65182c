import ClipboardStore
import CloudSync
import CommandLineKit
import Foundation
import SyncSupport
import SyncedStore
import TabStore

/// The editor whose tabs and clipboard history sync with one engine.
final class ItsypadApp: StoreApp {
  static let name = "itsypad"
  static let recordTypes = ["ScratchTab", "ClipboardEntry"]

  let tabs: TabStore
  let clipboard: ClipboardStore
  private let place: AppPlace
  private let store: SyncedStore

  init(_ place: AppPlace) throws {
    self.place = place
    store = try SyncedStore.itsypad(directory: place.directory)
    tabs = TabStore(store)
    clipboard = ClipboardStore(store)
  }

  var inventory: [(count: Int, noun: String)] {
    [(tabs.tabs.count, "tab"), (clipboard.entries.count, "clipboard entry")]
  }

  var unsent: Int { store.status.unsentCount }

  var activity: SyncedStore.Activity { store.status.activity }

  /// Starts to sync, unless the user turned sync off on this device.
  ///
  /// The first sync turns it on if the user has not decided.
  func start() throws {
    try connect()
    switch store.isEnabled {
    case nil: try store.setEnabled(true)
    case true?: try store.start()
    case false?:
      throw ToolError("sync is off on this device; to turn it on, run: stores tabs sync on")
    }
  }

  private func connect() throws {
    store.connect(to: try place.container(), automaticallySync: false)
  }

  func setEnabled(_ isEnabled: Bool) async throws {
    try connect()
    try store.setEnabled(isEnabled)
    try await store.shutDown()
  }

  func sync() async throws -> SyncReport {
    let before = activity
    try await store.sync()
    return SyncReport("tabs and clipboard", activity, since: before, unsent: unsent)
  }

  func stop() async throws { try await store.shutDown() }

  var seen: RecordTable {
    let items: [any SyncedItem] = tabs.tabs + clipboard.entries
    return RecordTable(
      items.filter { $0.isSynced }.map { item in
        let id = CKRecord.ID(recordName: item.recordName, zoneID: store.zoneID)
        let record = CKRecord(recordType: type(of: item).recordType, recordID: id)
        item.copy(to: record)
        return record
      })
  }

  var traces: Traces {
    Traces(
      names: tabs.tabs.map(\.id.uuidString) + clipboard.entries.map(\.id.uuidString),
      texts: tabs.tabs.map(\.content) + clipboard.entries.compactMap(\.text))
  }
}
