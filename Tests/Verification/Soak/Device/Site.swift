import CloudProtocol
import CloudSync
import CommandLineKit
import Foundation

/// The server, the tokens, and the zones that both accounts see.
struct Site: Sendable {
  static let identifier = "iCloud.com.example.soak"
  /// The type of the record that stands at the beginning of each database's log.
  static let markerType = "Marker"

  /// The zones that one engine sees.
  struct View: Sendable {
    var scope: CKDatabase.Scope
    var realms: [CKRecordZone.ID: Realm]
  }

  var url: URL
  var greeting: ServerChild.Greeting
  /// The name of the first account's user, under which the second sees what it shares.
  var owner = ""

  func transport(_ device: String, _ account: Int?) -> WebServicesTransport {
    WebServicesTransport(
      url: url, apiToken: greeting.apiToken, webAuthToken: account.map { greeting.webTokens[$0] },
      device: device)
  }

  func container(_ transport: any CloudTransport) -> CKContainer {
    CKContainer(identifier: Site.identifier, transport: transport)
  }

  func views(of account: Int) -> [View] {
    var own: [CKRecordZone.ID: Realm] = [
      CKRecordZone.ID(zoneName: Realm.ownZone): .own(account: account)
    ]
    let common = CKRecordZone.ID(
      zoneName: Realm.commonZone,
      ownerName: account == 0 ? CKCurrentUserDefaultName : owner)
    if account == 0 {
      own[common] = .common
      return [View(scope: .private, realms: own)]
    }
    return [View(scope: .private, realms: own), View(scope: .shared, realms: [common: .common])]
  }

  /// Makes the zones and the share, and then the record with which the counting of writes begins.
  mutating func prepare() async throws {
    let first = container(transport("setup", 0))
    let second = container(transport("setup", 1))
    owner = try await first.userRecordID().recordName
    let common = CKRecordZone(zoneName: Realm.commonZone)
    let own = CKRecordZone(zoneName: Realm.ownZone)
    for (database, zones) in [
      (first.privateCloudDatabase, [own, common]), (second.privateCloudDatabase, [own]),
    ] {
      for result in try await database.modifyRecordZones(saving: zones, deleting: []).saveResults
        .values
      { _ = try result.get() }
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

  /// The engines of one device with a folder of its own; nothing is opened yet.
  func device(
    _ number: Int, of count: Int, _ ledger: Ledger, folder: URL
  ) throws -> [Replica] {
    let account = number < count / 2 ? 0 : 1
    let container = container(CountedTransport(transport("device-\(number)", account), ledger))
    return try views(of: account).map { view in
      let place = Replica.Place(
        device: number, deviceCount: count, scope: view.scope, realms: view.realms,
        folder: folder.appendingPathComponent("device-\(number)-\(view.scope.rawValue)"))
      return try Replica(place, container, ledger)
    }
  }

  /// Reads all that there is, as a device that was never there before.
  func read(_ ledger: Ledger, deviceCount: Int, folder: URL) async throws -> [Replica] {
    var replicas: [Replica] = []
    for account in ServerChild.accounts.indices {
      let container = container(
        CountedTransport(transport("reader-\(account)", account), ledger))
      for view in views(of: account) {
        let place = Replica.Place(
          device: nil, deviceCount: deviceCount, scope: view.scope, realms: view.realms,
          folder: folder)
        let replica = try Replica(place, container, ledger)
        try replica.open()
        try await replica.engine?.fetchChanges()
        replicas.append(replica)
      }
    }
    return replicas
  }
}
