import CloudProtocol
import Records

/// A user's access to a zone: the location of its rows, and which of them the user can see.
///
/// The only visibility check. All code that reads a zone's records uses `record(_:)` or
/// `shows(_:)`, and converts the results with `outward(_:)`; owners and viewers are then treated
/// alike.
struct ZoneAccess {
  /// The zone in the requester's spelling.
  let id: ZoneID
  /// The database that contains the rows.
  let home: DatabaseID
  /// The zone's row there.
  let zone: ZoneRow
  /// The account whose quota the zone counts toward; `nil` for a public database.
  let owner: AccountRow?
  /// The row in the requester's shared database; `nil` for the requester's own zones.
  let mount: ZoneRow?
  /// The roots of the hierarchies through which a viewer sees the zone.
  var roots: Set<RecordID> = []
  /// The requester; `nil` without an account.
  let requester: AccountRow?
  /// The request's context with the database that contains the rows.
  let context: RequestContext

  /// Whether the zone belongs to another user.
  var isShared: Bool { mount != nil }

  /// Whether the requester sees the whole zone.
  var isWhole: Bool {
    guard let mount else { return true }
    return mount.sharing.isStaying(in: ShareDetails.zoneWideName)
  }

  /// Whether the requester sees this record, or saw it before its deletion.
  func shows(_ row: RecordRow) -> Bool {
    if isWhole { return true }
    guard let mount, let share = row.share else { return false }
    return mount.sharing.isStaying(in: share)
  }

  /// The record `id`, in the spelling of rows; `nil` if the requester cannot see it.
  func record(_ id: RecordID) throws -> Record? {
    try record(id, at: try context.storage.record(id, in: home))
  }

  /// The record `id`, whose row is `row`; `nil` if the requester cannot see it.
  func record(_ id: RecordID, at row: RecordRow?) throws -> Record? {
    guard let row else { return try context.untouchedUserRecord(id) }
    return shows(row) ? row.record : nil
  }

  /// The zone as the requester sees it.
  var described: Zone {
    let share = RecordID(name: ShareDetails.zoneWideName, zone: id)
    return Zone(
      id: id, capabilities: id == .default ? [] : .custom,
      share: zone.sharing.isZoneWide && isWhole ? share : nil)
  }

  /// The requester's participant in the share with these details; `nil` if there is none.
  func participant(in details: ShareDetails) -> ShareParticipant? {
    guard let requester else { return nil }
    return details.participants.first {
      $0.identity.user == requester.user && $0.acceptance == .accepted
    }
  }
}

extension RequestContext {
  /// The requester's access to `zone`, in the spelling of rows.
  func access(to zone: ZoneID) throws -> ZoneAccess {
    guard database.scope == .shared else {
      let row = try self.zone(zone)
      return ZoneAccess(
        id: row.id, home: database, zone: row, owner: database.owner == nil ? nil : account,
        mount: nil, requester: account, context: self)
    }
    guard zone.owner != ZoneID.currentOwner else { throw Refusal.ownZone }
    guard let mount = try storage.zone(zone, in: database), mount.deletion == nil,
      let owner = try storage.account(UserID(zone.owner))
    else { throw Refusal.missingZone }
    let home = database.home(of: owner.user)
    guard let row = try storage.zone(ZoneID(name: zone.name), in: home), row.deletion == nil
    else { throw Refusal.missingZone }
    var access = ZoneAccess(
      id: zone, home: home, zone: row, owner: owner, mount: mount, requester: account,
      context: at(home))
    for membership in mount.sharing.memberships where membership.until == nil {
      let share = RecordID(name: membership.share, zone: row.id)
      if let root = try storage.record(share, in: home)?.record?.sharing?.root {
        access.roots.insert(root)
      }
    }
    return access
  }

  /// The same request asked of another database.
  func at(_ database: DatabaseID) -> RequestContext {
    var context = self
    context.database = database
    return context
  }
}

extension DatabaseID {
  /// The private database of `user` in the same container and world.
  func home(of user: UserID) -> DatabaseID {
    DatabaseID(container: container, environment: environment, scope: .private, owner: user)
  }

  /// The shared database of `user` in the same container and world.
  func shared(with user: UserID) -> DatabaseID {
    DatabaseID(container: container, environment: environment, scope: .shared, owner: user)
  }
}

extension RecordRow {
  /// The hierarchical share the record is in.
  var share: String? { memberships.last { $0.until == nil }?.share }
}

extension ZoneSharing {
  /// Whether a mount shows the share called `name`.
  func isStaying(in name: String) -> Bool {
    memberships.contains { $0.share == name && $0.until == nil }
  }
}
