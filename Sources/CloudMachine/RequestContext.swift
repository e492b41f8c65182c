import CloudProtocol
import Records

/// The context of a request: requester, database, time and storage.
struct RequestContext {
  var storage: any CloudStorage
  var limits: CloudLimits
  /// The requested database; a shared database stores only its subscriptions.
  var database: DatabaseID
  /// The requesting account, if one is signed in.
  var account: AccountRow?
  /// The requesting device; `nil` for the administrator.
  var device: String?
  var now: Timestamp
  let book = AddressBook()

  var names: NameRules { NameRules(limits: limits) }

  /// The row of the database; a new one if data was never stored in it.
  func databaseRow() throws -> DatabaseRow {
    try storage.database(database) ?? DatabaseRow(id: database, incarnation: 1)
  }

  /// The existing zones but the default one, by name.
  func customZones() throws -> [ZoneID] {
    try storage.zones(in: database).filter { $0.deletion == nil && $0.id != .default }.map(\.id)
  }

  /// The live zone called `zone`, in the spelling of rows.
  func zone(_ zone: ZoneID) throws -> ZoneRow {
    switch database.scope {
    case .shared: throw zone.owner == ZoneID.currentOwner ? Refusal.ownZone : .missingZone
    case .public where zone.name != ZoneID.defaultName:
      throw Refusal(.badDatabase, "the public database has only the default zone")
    case .public, .private: break
    }
    guard zone.owner == ZoneID.currentOwner else { throw Refusal.foreignZone }
    let row = try storage.zone(zone, in: database)
    if zone == .default { return row ?? ZoneRow(id: zone, incarnation: 0, changedAt: 0) }
    guard let row else { throw Refusal.missingZone }
    switch row.deletion {
    case nil: return row
    case .deleted: throw Refusal.missingZone
    case .purged:
      throw Refusal(
        .userDeletedZone,
        "the user deleted this zone's data in the settings; ask before uploading again")
    case .encryptedDataReset:
      throw Refusal(
        CloudError(
          .zoneNotFound,
          "a reset of encrypted data deleted the zone; create it again and upload the local data",
          userDidResetEncryptedData: true))
    }
  }
}

extension RequestContext {
  /// The context of changes to `database` that no device requests.
  init(
    _ storage: any CloudStorage, _ limits: CloudLimits, _ database: DatabaseID,
    now: Timestamp = Timestamp(secondsSinceReferenceDate: 0)
  ) throws {
    self.init(
      storage: storage, limits: limits, database: database,
      account: try database.owner.flatMap { try storage.account($0) }, device: nil, now: now)
  }
}

extension Refusal {
  /// The error of a missing zone.
  static let missingZone = Refusal(
    .zoneNotFound,
    "there is no such zone here; it has to be saved before its records can be saved or fetched")

  /// The error of a zone of the requester's own in the shared database.
  ///
  /// Rule: CS-246.
  static let ownZone = Refusal(
    .invalidArguments,
    "only zones of other users are in the shared database; use the private database")

  /// The error of another user's zone in a private or public database.
  ///
  /// Rule: CS-246.
  static let foreignZone = Refusal(
    .invalidArguments, "the zone belongs to another user; use the shared database")
}
