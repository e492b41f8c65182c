package import CloudProtocol
package import Records

/// The endpoints of CloudKit Web Services, by the last part of their path.
///
/// Rules: WS-1 to WS-7.
package enum Endpoint: String, Hashable, Sendable, CaseIterable {
  /// Save and delete records.
  case recordsModify = "records/modify"
  /// Fetch records by name.
  case recordsLookup = "records/lookup"
  /// Query records.
  case recordsQuery = "records/query"
  /// Fetch the changes of one zone; superseded by `changes/zone`.
  case recordsChanges = "records/changes"
  /// Resolve shares.
  case recordsResolve = "records/resolve"
  /// Accept shares.
  case recordsAccept = "records/accept"
  /// Fetch the changed zones.
  case changesDatabase = "changes/database"
  /// Fetch the changed records of zones.
  case changesZone = "changes/zone"
  /// List all zones.
  case zonesList = "zones/list"
  /// Fetch zones by name.
  case zonesLookup = "zones/lookup"
  /// Create and delete zones.
  case zonesModify = "zones/modify"
  /// Fetch the changed zones; superseded by `changes/database`.
  case zonesChanges = "zones/changes"
  /// List all subscriptions.
  case subscriptionsList = "subscriptions/list"
  /// Fetch subscriptions by name.
  case subscriptionsLookup = "subscriptions/lookup"
  /// Create and delete subscriptions.
  case subscriptionsModify = "subscriptions/modify"
  /// Fetch the current user.
  case usersCaller = "users/caller"
  /// Fetch the current user; superseded by `users/caller`.
  case usersCurrent = "users/current"
  /// Find users by email address, phone number or user record name.
  case usersDiscover = "users/discover"
  /// Find users by email address.
  case usersLookupEmail = "users/lookup/email"
  /// Find users by user record name.
  case usersLookupID = "users/lookup/id"
  /// Find the users in the address book.
  case usersLookupContacts = "users/lookup/contacts"
  /// Request upload URLs.
  case assetsUpload = "assets/upload"
  /// Reference existing files in other records.
  case assetsRereference = "assets/rereference"
  /// Request a courier URL for pushes.
  case tokensCreate = "tokens/create"
  /// Register a device for pushes.
  case tokensRegister = "tokens/register"

  /// Whether the endpoint accepts `GET`.
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

  /// Whether the path of the endpoint contains no database.
  package var isOfDevice: Bool { self == .tokensCreate || self == .tokensRegister }
}

/// A path of CloudKit Web Services.
package struct ServicePath: Hashable, Sendable {
  /// The container.
  package var container: String
  /// The environment.
  package var environment: CloudEnvironment
  /// The database; the public one if the path contains none.
  package var database: DatabaseScope
  /// The endpoint.
  package var endpoint: Endpoint

  /// Creates a path.
  package init(
    container: String, environment: CloudEnvironment, database: DatabaseScope, endpoint: Endpoint
  ) {
    self.container = container
    self.environment = environment
    self.database = database
    self.endpoint = endpoint
  }

  /// Parses a path; `nil` when it is unknown.
  ///
  /// A path consists of ASCII letters, digits, dots and dashes, without escapes and without `..`
  /// parts.
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
