import CloudSync
import Foundation
import LoopbackServer
import Synchronization

@testable import ClipboardStore
@testable import SyncSupport
@testable import SyncedStore
@testable import TabStore

/// A device with both stores, its engine and its files, on a loopback server.
final class TabDevice: Sendable {
  static let container = "iCloud.com.example.itsypad"

  let link: LoopbackDevice
  let folder: TemporaryFolder
  let tabs: TabStore
  let clipboard: ClipboardStore
  let sync: SyncedStore

  /// Starts the app on the device called `name`; with another app's folder it is that one's next
  /// launch.
  init(
    _ server: LoopbackServer, _ name: String, account: String? = "anna",
    folder: TemporaryFolder? = nil, container: String = TabDevice.container,
    automaticallySync: Bool = false, recovering: Bool = false
  ) throws {
    let folder = try folder ?? TemporaryFolder()
    self.folder = folder
    link = server.device(name, signedInAs: account)
    sync = try .itsypad(directory: folder.url, recovering: recovering)
    tabs = TabStore(sync)
    clipboard = ClipboardStore(sync)
    sync.connect(
      to: CKContainer(identifier: container, transport: link),
      automaticallySync: automaticallySync)
    try sync.start()
  }

  /// The engine itself, for tests that send without fetching.
  var engine: CKSyncEngine? { sync.state.withLock { $0.run?.engine } }

  /// Everything that syncs, in the order of the IDs.
  var content: DeviceContent {
    DeviceContent(
      tabs: tabs.tabs.filter(\.isScratch)
        .sorted { $0.id.uuidString < $1.id.uuidString },
      entries: clipboard.entries.filter(\.isText)
        .sorted { $0.id.uuidString < $1.id.uuidString })
  }
}

extension TabStore {
  /// The tabs of a folder, without an engine.
  convenience init(directory: URL, recovering: Bool = false) throws {
    self.init(try .itsypad(directory: directory, recovering: recovering))
  }
}

extension ClipboardStore {
  /// The entries of a folder, without an engine.
  convenience init(directory: URL) throws {
    self.init(try .itsypad(directory: directory))
  }
}

/// What two devices are compared by.
struct DeviceContent: Hashable {
  var tabs: [CloudTabRecord]
  var entries: [CloudClipboardRecord]
}

extension LoopbackServer {
  /// What the server holds for `account`, as a device that was never here would fetch it.
  func content(of account: String = "anna") async throws -> DeviceContent {
    let link = device("auditor of \(account)", signedInAs: account)
    let database = CKContainer(identifier: TabDevice.container, transport: link)
      .privateCloudDatabase
    let zone = CKRecordZone.ID(zoneName: "ItsypadData", ownerName: CKCurrentUserDefaultName)
    var records: [CKRecord] = []
    var token: CKServerChangeToken?
    var isMore = true
    while isMore {
      do {
        let page = try await database.recordZoneChanges(inZoneWith: zone, since: token)
        records += try page.modificationResultsByID.values.map { try $0.get().record }
        (token, isMore) = (page.changeToken, page.moreComing)
      } catch let error as CKError where [.zoneNotFound, .userDeletedZone].contains(error.code) {
        isMore = false
      }
    }
    return DeviceContent(
      tabs: records.compactMap(CloudTabRecord.init)
        .sorted { $0.id.uuidString < $1.id.uuidString },
      entries: records.compactMap(CloudClipboardRecord.init)
        .sorted { $0.id.uuidString < $1.id.uuidString })
  }
}
