import CloudProtocol
import Records

/// The creation, change or deletion of a share.
struct ShareChange {
  var name: String
  var old: ShareDetails?
  var new: ShareDetails?
  /// The number of the change.
  var sequence: UInt64
}

/// Updates the shared databases of a zone's viewers.
extension WriteTransaction {
  /// The changes of a zone for one viewer.
  private struct ViewerChanges {
    var joined: [ShareMembership] = []
    var left: [ShareMembership] = []
    var types = Set<String>()
  }

  /// Adds events for the viewers of `zone`, each only for the changes it may see, and updates their
  /// mounts.
  ///
  /// - Parameters:
  ///   - zone: the owner's row, whose list of viewers is updated.
  ///   - written: the rows that this request wrote in the zone.
  ///   - first: the number of the first of them.
  ///   - changes: the changes of its shares.
  mutating func notifyViewers(
    of zone: inout ZoneRow, in home: DatabaseID, written: [RecordRow], since first: UInt64,
    changes: [ShareChange], _ context: RequestContext
  ) throws {
    if zone.sharing.viewers.isEmpty && changes.isEmpty { return }
    var viewerChanges: [UserID: ViewerChanges] = [:]
    for (share, types) in WriteTransaction.touched(written, since: first, in: zone).sorted(by: {
      $0.key < $1.key
    }) {
      let details: ShareDetails?
      if let change = changes.last(where: { $0.name == share }) {
        details = change.new
      } else {
        let id = RecordID(name: share, zone: zone.id)
        details = try self.share(id, in: home, context)?.record?.sharing
      }
      for user in details?.viewers ?? [] {
        viewerChanges[user, default: ViewerChanges()].types.formUnion(types)
      }
    }
    for change in changes {
      let (before, after) = (change.old?.viewers ?? [], change.new?.viewers ?? [])
      let membership = ShareMembership(share: change.name, since: change.sequence)
      for user in before where !after.contains(user) {
        viewerChanges[user, default: ViewerChanges()].left.append(membership)
      }
      for user in after where !before.contains(user) {
        viewerChanges[user, default: ViewerChanges()].joined.append(membership)
      }
    }
    try context.storage.foresee {
      ReadPlan(viewers: viewerChanges.keys.sorted(), of: zone.id, in: home)
    }
    for (user, viewerChanges) in viewerChanges.sorted(by: { $0.key < $1.key }) {
      try notify(user, viewerChanges, of: &zone, in: home, context)
    }
  }

  /// Removes `zone`, which is being deleted, from its viewers' shared databases.
  private mutating func removeMounts(
    of zone: ZoneRow, in home: DatabaseID, _ context: RequestContext
  ) throws {
    try context.storage.foresee {
      ReadPlan(viewers: zone.sharing.viewers, of: zone.id, in: home)
    }
    for user in zone.sharing.viewers {
      guard let mounted = try mount(of: zone.id, in: home, for: user, context) else { continue }
      var mount = mounted
      let position = try open(home.shared(with: user), context)
      mount.end(at: self[position].nextSequence())
      put(mount, at: position)
      self[position].note(ChangeSet.ZoneEvent(zone: mount.id, types: []))
    }
  }

  /// Deletes `zone`, keeping the reason, and removes it from its viewers' shared databases.
  mutating func remove(
    _ zone: ZoneRow, in home: DatabaseID, reason: ZoneDeletionReason, _ context: RequestContext
  ) throws {
    let position = try open(home, context)
    self[position].remove(zone, reason: reason)
    try removeMounts(of: zone, in: home, context)
  }

  private mutating func notify(
    _ user: UserID, _ viewerChanges: ViewerChanges, of zone: inout ZoneRow, in home: DatabaseID,
    _ context: RequestContext
  ) throws {
    let position = try open(home.shared(with: user), context)
    var found = try mount(of: zone.id, in: home, for: user, context)
    if found?.deletion != nil { found = nil }
    if found == nil && viewerChanges.joined.isEmpty { return }
    let sequence = self[position].nextSequence()
    var mount =
      found
      ?? ZoneRow(
        id: ZoneID(name: zone.id.name, owner: home.owner?.rawValue ?? ""), incarnation: sequence,
        changedAt: sequence)
    mount.changedAt = sequence
    for membership in viewerChanges.left {
      for index in mount.sharing.memberships.indices
      where mount.sharing.memberships[index].share == membership.share
        && mount.sharing.memberships[index].until == nil
      {
        mount.sharing.memberships[index].until = membership.since
      }
    }
    mount.sharing.memberships += viewerChanges.joined
    mount.trimmedThrough = max(
      mount.trimmedThrough, mount.sharing.memberships.forget(through: zone.trimmedThrough))
    if mount.sharing.memberships.contains(where: { $0.until == nil }) {
      if !zone.sharing.viewers.contains(user) {
        zone.sharing.viewers = (zone.sharing.viewers + [user]).sorted()
      }
    } else {
      mount.end(at: sequence)
      zone.sharing.viewers.removeAll { $0 == user }
    }
    put(mount, at: position)
    self[position].note(ChangeSet.ZoneEvent(zone: mount.id, types: viewerChanges.types.sorted()))
  }

  private func mount(
    of zone: ZoneID, in home: DatabaseID, for user: UserID, _ context: RequestContext
  ) throws -> ZoneRow? {
    try self.zone(
      ZoneID(name: zone.name, owner: home.owner?.rawValue ?? ""), in: home.shared(with: user),
      context)
  }

  /// The types of the written records, by their current and past shares.
  private static func touched(
    _ written: [RecordRow], since first: UInt64, in zone: ZoneRow
  ) -> [String: Set<String>] {
    var touched: [String: Set<String>] = [:]
    for row in written {
      if zone.sharing.isZoneWide {
        touched[ShareDetails.zoneWideName, default: []].insert(row.type)
      }
      for membership in row.memberships where membership.until ?? .max >= first {
        touched[membership.share, default: []].insert(row.type)
      }
    }
    return touched
  }
}

extension ZoneRow {
  /// Marks a mount as deleted.
  fileprivate mutating func end(at sequence: UInt64) {
    deletion = .deleted
    changedAt = sequence
    trimmedThrough = 0
    sharing = ZoneSharing()
  }
}

extension [ShareMembership] {
  /// The maximum number of ended memberships that are kept.
  private static var mostEnded: Int { 16 }

  /// Removes the memberships that ended at `sequence` or before, and the oldest ended ones above
  /// the maximum; returns the sequence number up to which they were removed, so that older tokens
  /// expire.
  mutating func forget(through sequence: UInt64) -> UInt64 {
    removeAll { $0.until.map { $0 <= sequence } ?? false }
    var forgotten: UInt64 = 0
    let ended = compactMap(\.until).sorted()
    if ended.count > Self.mostEnded {
      forgotten = ended[ended.count - Self.mostEnded - 1]
      removeAll { $0.until.map { $0 <= forgotten } ?? false }
    }
    return forgotten
  }
}

extension ShareDetails {
  /// The users who can see the share's records, besides the owner.
  var viewers: [UserID] {
    participants.compactMap {
      $0.role != .owner && $0.acceptance == .accepted && $0.permission.allowsReading
        ? $0.identity.user : nil
    }
  }
}

extension SharePermission {
  /// Whether the permission allows reading.
  var allowsReading: Bool {
    switch self {
    case .readOnly, .readWrite: true
    case .unknown, .none: false
    }
  }
}
