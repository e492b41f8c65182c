import ClipboardStore
import CloudSync
import CommandLineKit
import Foundation
import GameResultStore
import SyncSupport
import TabStore

/// One device of the demo: a session that stays open, with all stores syncing.
struct DemoDevice: Sendable {
  let session: Session
  let link: LinkedDevice
  let sync: CloudSyncEngine
  let results: GameResultStore

  /// Starts the device called `name`, signed in as `account`.
  init(_ home: Home, _ cloud: some Cloud, _ name: String, account: String) async throws {
    session = try await Session(home, device: name, account: account)
    link = LinkedDevice(cloud, device: name, account: account)
    sync = try session.itsypad(link)
    results = try session.results(link)
    try sync.setEnabled(true)
    try results.start()
  }

  var name: String { session.deviceName }
  var tabs: TabStore { session.tabs }
  var clipboard: ClipboardStore { session.clipboard }

  /// Changes that wait to be sent, of all stores.
  var unsent: Int { tabs.unsentCount + clipboard.unsentCount + results.status.waiting }

  /// Syncs all stores.
  ///
  /// - Throws: `CKError` or `ToolError` when one of them could not.
  func syncAll() async throws {
    try await sync.sync()
    switch try await results.syncNow() {
    case .synced, .syncing: break
    case .offline: throw ToolError(results.status.message ?? "the server can't be reached")
    case .failed(let failure): throw ToolError("\(failure)")
    }
  }

  /// Ends the app on this device in good order.
  func close() async throws {
    await results.stop()
    try await sync.shutDown()
  }

  /// Every record this device would have the cloud hold, by type and name.
  func records() -> RecordTable {
    var table = RecordTable()
    for tab in tabs.tabs where tab.isScratch {
      let record = CKRecord(recordType: "ScratchTab", recordID: sync.recordID(tab.id))
      CloudTabRecord(tab).copy(onto: record)
      table.add(record)
    }
    for entry in clipboard.entries {
      guard let fields = CloudClipboardRecord(entry) else { continue }
      let record = CKRecord(recordType: "ClipboardEntry", recordID: sync.recordID(entry.id))
      fields.copy(onto: record)
      table.add(record)
    }
    for result in results.results { table.add(result.record()) }
    return table
  }
}
