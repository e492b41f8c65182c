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

  var names: NameRules { NameRules(limits: limits) }

  /// The row of the database; a new one if data was never stored in it.
  func databaseRow() throws -> DatabaseRow {
    try storage.database(database) ?? DatabaseRow(id: database, incarnation: 1)
  }

  /// The live zone called `zone`, in the spelling of rows, or the error.
  func zone(_ zone: ZoneID) throws -> Result<ZoneRow, CloudError> {
    switch database.scope {
    case .shared: return .failure(.missingZone)
    case .public where zone.name != ZoneID.defaultName:
      return .failure(
        CloudError(.badDatabase, "the public database has only the default zone"))
    case .public, .private: break
    }
    guard zone.owner == ZoneID.currentOwner else { return .failure(.missingZone) }
    let row = try storage.zone(zone, in: database)
    if zone == .default {
      return .success(row ?? ZoneRow(id: zone, incarnation: 0, changedAt: 0))
    }
    guard let row else { return .failure(.missingZone) }
    switch row.deletion {
    case nil: return .success(row)
    case .deleted: return .failure(.missingZone)
    case .purged:
      return .failure(
        CloudError(
          .userDeletedZone,
          "the user deleted this zone's data in the settings; ask before uploading again"))
    case .encryptedDataReset:
      return .failure(
        CloudError(
          .zoneNotFound,
          "a reset of encrypted data deleted the zone; create it again and upload the local data",
          userDidResetEncryptedData: true))
    }
  }
}

extension CloudError {
  /// The error of a missing zone.
  static let missingZone = CloudError(.zoneNotFound, "there is no such zone; create it first")
}
