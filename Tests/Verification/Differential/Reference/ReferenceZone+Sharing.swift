import CloudProtocol
import Records

/// The shares that the records of a zone are in, and the accounts that see them.
///
/// Source: CS-153, CS-154.
extension ReferenceZone {
  /// The share of the hierarchy that the record called `name` is in.
  ///
  /// It is that of the nearest root at or above the record; a share is in itself.
  func share(of name: String) -> String? {
    if let sharing = records[name]?.record.sharing { return sharing.root.map { _ in name } }
    var climbed: Set<String> = []
    var here: String? = name
    while let current = here, let record = records[current]?.record,
      climbed.insert(current).inserted
    {
      if let share = share(rootedAt: current) { return share }
      here = record.parent?.name
    }
    return nil
  }

  /// The share whose root is the record called `name`.
  func share(rootedAt name: String) -> String? {
    records.values.first { $0.record.sharing?.root?.name == name }?.name
  }

  /// The shares of hierarchies.
  var hierarchies: [String] {
    records.values.filter { $0.record.sharing?.root != nil }.map(\.name).sorted()
  }

  /// The shares through which `account`, who is not the owner, sees something.
  func shares(seenBy account: String, _ plant: Plant?) -> [String] {
    records.values.filter { record in
      record.record.sharing?.participants.contains { one in
        one.role != .owner && one.identity.user == UserID(account)
          && (one.acceptance == .accepted || plant == .revokedReader && one.acceptance == .removed)
          && one.permission.allowsReading
      } ?? false
    }.map(\.name).sorted()
  }
}

extension SharePermission {
  /// Whether it lets read.
  var allowsReading: Bool { self == .readOnly || self == .readWrite }
}

/// The view that one account has of another's zone in its shared database.
struct ReferenceVisit {
  struct Key: Hashable {
    let guest: String
    let owner: String
    let zone: String

    var id: ZoneID { ZoneID(name: zone, owner: owner) }
  }

  var isThere = true
  /// Tells this stay from an earlier one.
  var life: Int
  /// When the zone came, when something seen in it changed, or when it went.
  var changed: Int
}

extension ReferenceCloud {
  /// Brings the visits of the zones of `home` up to date.
  /// - Returns: Who is to be told, with the types of the records that changed for them.
  func settleVisits(
    of home: String, since old: ReferenceDatabase?
  ) -> [(guest: String, types: Set<String>)] {
    var told: [(guest: String, types: Set<String>)] = []
    let new = databases[home]
    let names = Set((old?.zones ?? [:]).keys).union((new?.zones ?? [:]).keys).sorted()
    for name in names {
      for guest in Device.accounts where guest != home {
        let key = ReferenceVisit.Key(guest: guest, owner: home, zone: name)
        let (was, now) = (old?.zones[name], new?.zones[name])
        let isSame = was?.life == now?.life
        let before = isSame ? was?.shares(seenBy: guest, plant) ?? [] : []
        let after = now?.shares(seenBy: guest, plant) ?? []
        let types = now.map { $0.types(changedSince: isSame ? was : nil, in: after) } ?? []
        let wasThere = visits[key]?.isThere == true
        guard wasThere || !after.isEmpty else { continue }
        guard before != after || wasThere == after.isEmpty || !types.isEmpty else { continue }
        sharedNow += 1
        var visit = visits[key] ?? ReferenceVisit(life: sharedNow, changed: sharedNow)
        if !visit.isThere { visit.life = sharedNow }
        visit.isThere = !after.isEmpty
        visit.changed = sharedNow
        visits[key] = visit
        told.append((guest, types))
      }
    }
    return told
  }
}

extension ReferenceZone {
  /// The types of the records that changed, came, went or moved, as far as `shares` show or
  /// showed them.
  fileprivate func types(changedSince old: ReferenceZone?, in shares: [String]) -> Set<String> {
    var types: Set<String> = []
    for name in Set(records.keys).union(old.map { Set($0.records.keys) } ?? []) {
      let (was, now) = (old?.records[name], records[name])
      guard was?.changed != now?.changed else { continue }
      let places = [old?.share(of: name), share(of: name)].compactMap { $0 }
      let isSeen =
        shares.contains(ShareDetails.zoneWideName) || places.contains(where: shares.contains)
      if isSeen, let type = (now ?? was)?.record.type { types.insert(type) }
    }
    return types
  }
}
