import CloudProtocol
import CloudSync
import CommandLineKit
import Foundation

/// The server, its tokens, and the zones that both accounts see.
struct Site: Sendable {
  static let identifier = "iCloud.com.example.soak"
  /// The type of the record that stands at the beginning of each database's log.
  static let markerType = "Marker"

  /// The URL of the servers.
  let url: URL
  let greeting: ServerChild.Greeting
  let writes: AcknowledgedWrites
  let options: Options
  /// The folder of the devices' files.
  let folder: URL
  /// The name of the first account's user, under which the second sees what it shares.
  private var owner = ""

  /// Makes the zones and the share, and then the record with which the counting of writes begins.
  init(
    url: URL, greeting: ServerChild.Greeting, _ writes: AcknowledgedWrites, _ options: Options,
    folder: URL
  ) async throws {
    self.url = url
    self.greeting = greeting
    self.writes = writes
    self.options = options
    self.folder = folder
    let first = container(transport("setup", 0))
    let second = container(transport("setup", 1))
    owner = try await first.userRecordID().recordName
    let common = CKRecordZone(zoneName: Realm.common.zoneName)
    let own = CKRecordZone(zoneName: Realm.own(0).zoneName)
    for (container, zones) in [(first, [own, common]), (second, [own])] {
      let results = try await container.privateCloudDatabase.modifyRecordZones(
        saving: zones, deleting: [])
      for result in results.saveResults.values { _ = try result.get() }
    }
    let share = CKShare(recordZoneID: common.zoneID)
    share.publicPermission = .readWrite
    guard let saved = try await first.privateCloudDatabase.save(share) as? CKShare,
      let url = saved.url
    else { throw ToolError("the share got no URL") }
    _ = try await second.accept(try await second.shareMetadata(for: url))
    for container in [first, second] {
      let id = CKRecord.ID(recordName: "marker", zoneID: own.zoneID)
      _ = try await container.privateCloudDatabase.save(
        CKRecord(recordType: Site.markerType, recordID: id))
    }
  }

  private func transport(_ device: String, _ account: Int) -> WebServicesTransport {
    WebServicesTransport(
      url: url, apiToken: greeting.apiToken, webAuthToken: greeting.webTokens[account],
      device: device)
  }

  /// A transport of the probes' account.
  ///
  /// - Parameter url: The URL of one server; `nil` for the one that devices use.
  func probe(_ device: String, at url: URL? = nil) -> WebServicesTransport {
    WebServicesTransport(
      url: url ?? self.url, apiToken: greeting.apiToken,
      webAuthToken: greeting.webTokens[ServerChild.accounts.count], device: device)
  }

  private func container(_ transport: any CloudTransport) -> CKContainer {
    CKContainer(identifier: Site.identifier, transport: transport)
  }

  /// The realms that an account sees, by database and zone.
  private func views(
    of account: Int
  ) -> [(scope: CKDatabase.Scope, realms: [CKRecordZone.ID: Realm])] {
    let isOwner = account == Realm.common.owner
    let own = Realm.own(account)
    let common = CKRecordZone.ID(
      zoneName: Realm.common.zoneName, ownerName: isOwner ? CKCurrentUserDefaultName : owner)
    let realms = [CKRecordZone.ID(zoneName: own.zoneName): own]
    return isOwner
      ? [(.private, realms.merging([common: .common]) { $1 })]
      : [(.private, realms), (.shared, [common: .common])]
  }

  /// The engines of one device, or of one that only reads; nothing is opened yet.
  private func replicas(_ device: Int?, of account: Int) throws -> [Replica] {
    let name = device.map { "device-\($0)" } ?? "reader-\(account)"
    let container = container(CountedTransport(transport(name, account), writes))
    return try views(of: account).map { view in
      try Replica(
        device, of: options.devices, container.database(with: view.scope), view.realms,
        folder: folder.appendingPathComponent("\(name)-\(view.scope.rawValue)"), writes)
    }
  }

  /// The engines of all devices.
  func devices() throws -> [Replica] {
    try (0..<options.devices).flatMap { try replicas($0, of: $0 < options.devices / 2 ? 0 : 1) }
  }

  /// Reads all that there is, as devices that were never there before.
  func read() async throws -> [Replica] {
    let readers = try ServerChild.accounts.indices.flatMap { try replicas(nil, of: $0) }
    for reader in readers {
      try reader.open()
      try await reader.engine?.fetchChanges()
    }
    return readers
  }
}
