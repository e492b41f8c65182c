package import CloudProtocol
package import Records

/// The things that can be asked of CloudKit Web Services, by the end of their path.
///
/// Source: web-services 1.1.
package enum Endpoint: String, Hashable, Sendable, CaseIterable {
  /// Save and delete records.
  case recordsModify = "records/modify"
  /// Records by name.
  case recordsLookup = "records/lookup"
  /// Records by query.
  case recordsQuery = "records/query"
  /// Changes of one zone; superseded by `changes/zone`.
  case recordsChanges = "records/changes"
  /// What is behind shares.
  case recordsResolve = "records/resolve"
  /// Join shares.
  case recordsAccept = "records/accept"
  /// Which zones changed.
  case changesDatabase = "changes/database"
  /// Which records of zones changed.
  case changesZone = "changes/zone"
  /// All zones.
  case zonesList = "zones/list"
  /// Zones by name.
  case zonesLookup = "zones/lookup"
  /// Create and delete zones.
  case zonesModify = "zones/modify"
  /// Which zones changed; superseded by `changes/database`.
  case zonesChanges = "zones/changes"
  /// All subscriptions.
  case subscriptionsList = "subscriptions/list"
  /// Subscriptions by name.
  case subscriptionsLookup = "subscriptions/lookup"
  /// Create and delete subscriptions.
  case subscriptionsModify = "subscriptions/modify"
  /// Who asks.
  case usersCaller = "users/caller"
  /// Who asks; superseded by `users/caller`.
  case usersCurrent = "users/current"
  /// People by address, number or name.
  case usersDiscover = "users/discover"
  /// People by address.
  case usersLookupEmail = "users/lookup/email"
  /// People by name.
  case usersLookupID = "users/lookup/id"
  /// People in the address book.
  case usersLookupContacts = "users/lookup/contacts"
  /// Where to bring files.
  case assetsUpload = "assets/upload"
  /// Files to use in other records.
  case assetsRereference = "assets/rereference"
  /// Where to wait for pushes.
  case tokensCreate = "tokens/create"
  /// Have pushes sent to a device.
  case tokensRegister = "tokens/register"

  /// Whether it can be asked with `GET`.
  package var takesGet: Bool {
    switch self {
    case .zonesList, .subscriptionsList, .usersCaller, .usersCurrent, .usersDiscover,
      .usersLookupContacts:
      true
    case .recordsModify, .recordsLookup, .recordsQuery, .recordsChanges, .recordsResolve,
      .recordsAccept, .changesDatabase, .changesZone, .zonesLookup, .zonesModify, .zonesChanges,
      .subscriptionsLookup, .subscriptionsModify, .usersLookupEmail, .usersLookupID,
      .assetsUpload, .assetsRereference, .tokensCreate, .tokensRegister:
      false
    }
  }

  /// Whether its path names no database.
  package var isOfDevice: Bool { self == .tokensCreate || self == .tokensRegister }
}

/// A path of CloudKit Web Services.
package struct ServicePath: Hashable, Sendable {
  /// The container.
  package var container: String
  /// Which of its worlds.
  package var environment: CloudEnvironment
  /// Which of its databases; the public one for what names none.
  package var database: DatabaseScope
  /// What is asked.
  package var endpoint: Endpoint

  /// Puts a path together.
  package init(
    container: String, environment: CloudEnvironment, database: DatabaseScope, endpoint: Endpoint
  ) {
    self.container = container
    self.environment = environment
    self.database = database
    self.endpoint = endpoint
  }

  /// Reads a path; `nil` when there is nothing there.
  ///
  /// It is made of letters, digits, points and dashes of ASCII: nothing is escaped in it, and no
  /// part of it leads upwards.
  package init?(_ path: String) {
    guard path.utf8.count <= 1024, path.utf8.allSatisfy(ServicePath.isOfPath) else { return nil }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count >= 7, parts[0].isEmpty, parts[2] == "1",
      parts[3].contains(where: { $0 != "." }),
      let environment = CloudEnvironment(rawValue: String(parts[4]))
    else { return nil }
    let isOfDevice = parts[1] == "device"
    guard isOfDevice || parts[1] == "database" else { return nil }
    guard
      let endpoint = Endpoint(
        rawValue: parts[(isOfDevice ? 5 : 6)...].joined(separator: "/")),
      endpoint.isOfDevice == isOfDevice,
      let database = isOfDevice ? .public : DatabaseScope(pathName: parts[5])
    else { return nil }
    self.init(
      container: String(parts[3]), environment: environment, database: database,
      endpoint: endpoint)
  }

  private static func isOfPath(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."),
      UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// The path as text.
  package var text: String {
    let end = endpoint.rawValue
    let world = "1/\(container)/\(environment.rawValue)"
    return endpoint.isOfDevice
      ? "/device/\(world)/\(end)" : "/database/\(world)/\(database.pathName)/\(end)"
  }
}
