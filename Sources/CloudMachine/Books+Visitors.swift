import CloudProtocol
import Records

/// What became of one share: made, changed or gone.
struct ShareChange {
  var name: String
  var old: ShareDetails?
  var new: ShareDetails?
  /// The number of the change.
  var sequence: UInt64
}

/// How those who see a zone in their shared database learn what one request did in it.
extension Books {
  /// News of a zone for one visitor.
  private struct News {
    var joined: [ShareStay] = []
    var left: [ShareStay] = []
    var types = Set<String>()
  }

  /// Tells the visitors of `zone`, each only of what it may see, and keeps their mounts.
  ///
  /// - Parameters:
  ///   - zone: the owner's row, whose list of visitors is brought up to date.
  ///   - written: the rows this request wrote in it.
  ///   - first: the number of the first of them.
  ///   - changes: what became of its shares.
  mutating func tellVisitors(
    of zone: inout ZoneRow, in home: DatabaseID, written: [RecordRow], since first: UInt64,
    changes: [ShareChange], _ context: RequestContext
  ) throws {
    if zone.sharing.visitors.isEmpty && changes.isEmpty { return }
    var news: [UserID: News] = [:]
    for (share, types) in Books.touched(written, since: first, in: zone).sorted(by: {
      $0.key < $1.key
    }) {
      let details: ShareDetails?
      if let change = changes.last(where: { $0.name == share }) {
        details = change.new
      } else {
        let id = RecordID(name: share, zone: zone.id)
        details = try self.share(id, in: home, context)?.record?.sharing
      }
      for user in details?.viewers ?? [] { news[user, default: News()].types.formUnion(types) }
    }
    for change in changes {
      let (before, after) = (change.old?.viewers ?? [], change.new?.viewers ?? [])
      let stay = ShareStay(share: change.name, since: change.sequence)
      for user in before where !after.contains(user) {
        news[user, default: News()].left.append(stay)
      }
      for user in after where !before.contains(user) {
        news[user, default: News()].joined.append(stay)
      }
    }
    for (user, news) in news.sorted(by: { $0.key < $1.key }) {
      try tell(user, news, of: &zone, in: home, context)
    }
  }

  /// Takes `zone`, which goes, out of its visitors' shared databases.
  private mutating func turnOut(
    visitorsOf zone: ZoneRow, in home: DatabaseID, _ context: RequestContext
  ) throws {
    for user in zone.sharing.visitors {
      guard let mounted = try mount(of: zone.id, in: home, for: user, context) else { continue }
      var mount = mounted
      let position = try open(home.shared(with: user), context)
      mount.end(at: self[position].nextSequence())
      put(mount, at: position)
      self[position].note(Ledger.ZoneEvent(zone: mount.id, types: []))
    }
  }

  /// Deletes `zone`, keeps why, and takes it out of its visitors' shared databases.
  mutating func remove(
    _ zone: ZoneRow, in home: DatabaseID, reason: ZoneDeletionReason, _ context: RequestContext
  ) throws {
    let position = try open(home, context)
    self[position].remove(zone, reason: reason)
    try turnOut(visitorsOf: zone, in: home, context)
  }

  private mutating func tell(
    _ user: UserID, _ news: News, of zone: inout ZoneRow, in home: DatabaseID,
    _ context: RequestContext
  ) throws {
    let position = try open(home.shared(with: user), context)
    var found = try mount(of: zone.id, in: home, for: user, context)
    if found?.deletion != nil { found = nil }
    if found == nil && news.joined.isEmpty { return }
    let sequence = self[position].nextSequence()
    var mount =
      found
      ?? ZoneRow(
        id: ZoneID(name: zone.id.name, owner: home.owner?.rawValue ?? ""), incarnation: sequence,
        changedAt: sequence)
    mount.changedAt = sequence
    for stay in news.left {
      for index in mount.sharing.stays.indices
      where mount.sharing.stays[index].share == stay.share
        && mount.sharing.stays[index].until == nil
      {
        mount.sharing.stays[index].until = stay.since
      }
    }
    mount.sharing.stays += news.joined
    mount.trimmedThrough = max(
      mount.trimmedThrough, mount.sharing.stays.forget(through: zone.trimmedThrough))
    if mount.sharing.stays.contains(where: { $0.until == nil }) {
      if !zone.sharing.visitors.contains(user) {
        zone.sharing.visitors = (zone.sharing.visitors + [user]).sorted()
      }
    } else {
      mount.end(at: sequence)
      zone.sharing.visitors.removeAll { $0 == user }
    }
    put(mount, at: position)
    self[position].note(Ledger.ZoneEvent(zone: mount.id, types: news.types.sorted()))
  }

  private func mount(
    of zone: ZoneID, in home: DatabaseID, for user: UserID, _ context: RequestContext
  ) throws -> ZoneRow? {
    try self.zone(
      ZoneID(name: zone.name, owner: home.owner?.rawValue ?? ""), in: home.shared(with: user),
      context)
  }

  /// The types of the records written, by the shares that show or showed them.
  private static func touched(
    _ written: [RecordRow], since first: UInt64, in zone: ZoneRow
  ) -> [String: Set<String>] {
    var touched: [String: Set<String>] = [:]
    for row in written {
      if zone.sharing.isZoneWide {
        touched[ShareDetails.zoneWideName, default: []].insert(row.type)
      }
      for stay in row.stays where stay.until ?? .max >= first {
        touched[stay.share, default: []].insert(row.type)
      }
    }
    return touched
  }
}

extension ZoneRow {
  /// Makes a mount one that is gone.
  fileprivate mutating func end(at sequence: UInt64) {
    deletion = .deleted
    changedAt = sequence
    trimmedThrough = 0
    sharing = ZoneSharing()
  }
}

extension [ShareStay] {
  /// How many ended stays are kept at most.
  private static var mostEnded: Int { 16 }

  /// Forgets the stays that ended at `sequence` or before, and the oldest ended ones when there
  /// are many; the answer is up to where they are forgotten, so that older tokens expire.
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
  /// Whom the share shows its records to, besides the owner.
  var viewers: [UserID] {
    participants.compactMap {
      $0.role != .owner && $0.acceptance == .accepted && $0.permission.allowsReading
        ? $0.identity.user : nil
    }
  }
}

extension SharePermission {
  /// Whether records can be seen with it.
  var allowsReading: Bool {
    switch self {
    case .readOnly, .readWrite: true
    case .unknown, .none: false
    }
  }
}
