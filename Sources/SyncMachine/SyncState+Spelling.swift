import CloudProtocol
import Records

/// Normalization of zone IDs that have two spellings.
///
/// Feeds and stored state name the owner of the user's own zones as `ZoneID.currentOwner`. An app
/// may also use the user's name: a pending change keeps the ID that the app used last, since the
/// app looks its records up by it. See Docs/Decisions/0016.
extension SyncState {
  /// `zone` in the spelling of feeds.
  func resolved(_ zone: ZoneID) -> ZoneID {
    user.map { RecordID.resolved(zone, for: $0) } ?? zone
  }

  /// `id` with its zone in the spelling of feeds.
  func resolved(_ id: RecordID) -> RecordID { RecordID(name: id.name, zone: resolved(id.zone)) }

  /// `scope` with its zones in the spelling of feeds.
  func resolved(_ scope: FetchScope) -> FetchScope {
    switch scope {
    case .all: .all
    case .allExcluding(let zones): .allExcluding(zones.map { resolved($0) })
    case .zones(let zones): .zones(zones.map { resolved($0) })
    }
  }

  /// `scope` with each zone in every spelling by which a change may be pending.
  ///
  /// Unchanged if neither `scope` nor the pending changes use the user's name.
  func spelledAsPending(_ scope: SendScope) -> SendScope {
    guard let user, usesName(of: user, scope) else { return scope }
    func both(_ zone: ZoneID) -> [ZoneID] {
      let feed = resolved(zone)
      guard feed.owner == ZoneID.currentOwner else { return [zone] }
      return [feed, ZoneID(name: feed.name, owner: user.rawValue)]
    }
    return switch scope {
    case .all: .all
    case .allExcluding(let zones): .allExcluding(zones.flatMap(both))
    case .zones(let zones): .zones(zones.flatMap(both))
    case .records(let records):
      .records(records.flatMap { id in both(id.zone).map { RecordID(name: id.name, zone: $0) } })
    }
  }

  /// `batch` without repeated records, and the changes that name one of its records again in
  /// another spelling: a request may contain a record once.
  func separated(_ batch: RecordBatch) -> (RecordBatch, later: RecordBatch) {
    var later = RecordBatch(isAtomic: batch.isAtomic)
    guard let user,
      batch.saves.contains(where: { $0.id.zone.owner == user.rawValue })
        || batch.deletions.contains(where: { $0.zone.owner == user.rawValue })
    else { return (batch, later) }
    var first = RecordBatch(isAtomic: batch.isAtomic)
    var seen: Set<RecordID> = []
    func isFirst(_ id: RecordID) -> Bool {
      seen.insert(RecordID(name: id.name, zone: resolved(id.zone))).inserted
    }
    for save in batch.saves {
      if isFirst(save.id) { first.saves.append(save) } else { later.saves.append(save) }
    }
    for id in batch.deletions {
      if isFirst(id) { first.deletions.append(id) } else { later.deletions.append(id) }
    }
    return (first, later)
  }

  private func usesName(of user: UserID, _ scope: SendScope) -> Bool {
    let named: [ZoneID]
    switch scope {
    case .all: return false
    case .allExcluding(let zones), .zones(let zones): named = zones
    case .records(let records): named = records.map(\.zone)
    }
    return named.contains { $0.owner == user.rawValue }
      || !zones.prefix(1, where: { $0.id.owner == user.rawValue }).isEmpty
      || records.hasPending { $0.owner == user.rawValue }
  }
}
