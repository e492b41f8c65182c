import CloudProtocol
import Records

/// One private database, or the public one, which has the default zone only.
struct ReferenceDatabase {
  /// Counts everything that happens, so that of two things the later one is known.
  var now = 0
  /// Zones by name; the default zone is there from the start.
  var zones: [String: ReferenceZone] = [ZoneID.defaultName: ReferenceZone(life: 0, changed: 0)]
  /// Zones that are gone: why, and when.
  var graves: [String: (reason: ZoneDeletionReason, at: Int)] = [:]
  /// Tokens of the database's feed from before are expired.
  var tokensExpireBefore = 0
  /// The last deletion of a zone that was forgotten.
  var forgotten = 0
  /// The owner; tokens of other databases are refused.
  var identity = ""

  /// The next moment.
  mutating func tick() -> Int {
    now += 1
    return now
  }

  /// The error for a zone that does not exist.
  func missing(_ zone: ZoneID) -> CloudError {
    guard let grave = graves[zone.name] else { return refusal(.zoneNotFound) }
    switch grave.reason {
    case .deleted: return refusal(.zoneNotFound)
    case .purged: return refusal(.userDeletedZone)
    case .encryptedDataReset:
      return CloudError(.zoneNotFound, "", userDidResetEncryptedData: true)
    }
  }

  /// Makes a zone where there is none; answers whether it did.
  mutating func make(_ id: ZoneID) -> Bool {
    guard zones[id.name] == nil else { return false }
    let moment = tick()
    zones[id.name] = ReferenceZone(life: moment, changed: moment)
    graves[id.name] = nil
    return true
  }

  /// The bytes that all records count toward a quota, with their files.
  ///
  /// Source: CS-43.
  var bytes: Int {
    zones.values.reduce(0) { sum, zone in
      zone.records.values.reduce(sum) { $0 + $1.record.bytes }
    }
  }

  mutating func end(_ zone: ZoneID, _ reason: ZoneDeletionReason) {
    guard zones.removeValue(forKey: zone.name) != nil else { return }
    graves[zone.name] = (reason, tick())
  }

  /// - Returns: The zone that went.
  mutating func administer(_ act: Act) -> String? {
    let moment = tick()
    switch act {
    case .end(let zone, let reason):
      guard zones[zone.name] != nil else { return nil }
      end(zone, reason)
      return zone.name
    case .expireTokens(let zone?): zones[zone.name]?.tokensExpireBefore = moment
    case .expireTokens(nil): tokensExpireBefore = moment
    case .trim(let zone?): zones[zone.name]?.trim()
    case .trim(nil):
      forgotten = graves.values.map(\.at).reduce(forgotten, max)
      graves = [:]
    case .quota: break
    }
    return nil
  }
}

/// One zone and everything that ever was in it.
struct ReferenceZone {
  /// Tells this zone from an earlier one of the same name.
  let life: Int
  /// When something in it changed last.
  var changed: Int
  /// Records that are there, by name.
  var records: [String: ReferenceRecord] = [:]
  /// Records that are gone: their type, and when they went.
  var tombstones: [String: (type: String, at: Int)] = [:]
  /// Tokens from before are expired.
  var tokensExpireBefore = 0
  /// The last deletion that was forgotten.
  var forgotten = 0

  init(life: Int, changed: Int) {
    self.life = life
    self.changed = changed
  }

  /// Forgets all deletions; who has not heard of everything until now must begin again.
  mutating func trim() {
    forgotten = max(forgotten, changed)
    tombstones = [:]
  }
}

/// One record, and when it changed last.
struct ReferenceRecord {
  var record: Record
  var changed: Int

  var name: String { record.id.name }

  /// Whom it goes with; a share goes with its root.
  var owners: [String] {
    [record.sharing?.root?.name].compactMap { $0 } + targets(.deleteSelf)
  }

  /// The records that must exist as long as this one.
  var needed: [String] { [record.parent?.name].compactMap { $0 } + targets(.validate) }

  /// What must be there when it is saved, and whether it goes with that: parent and root first,
  /// then the fields in their order.
  var links: [(target: String, owns: Bool)] {
    let first = [(record.parent?.name, false), (record.sharing?.root?.name, true)]
    return first.compactMap { name, owns in name.map { ($0, owns) } }
      + record.fields.flatMap { $0.field.value.references }.filter { $0.action != .none }
      .map { ($0.target.name, $0.action == .deleteSelf) }
  }

  /// The targets of its references that act so.
  private func targets(_ action: Reference.Action) -> [String] {
    record.fields.flatMap { $0.field.value.references }.filter { $0.action == action }
      .map(\.target.name)
  }
}

extension FieldValue {
  /// The references in it.
  var references: [Reference] {
    switch self {
    case .reference(let reference): [reference]
    case .list(let values): values.flatMap(\.references)
    case .string, .int64, .double, .date, .bytes, .asset, .location: []
    }
  }
}

extension Record {
  /// The bytes that the record counts toward a quota.
  var bytes: Int {
    fields.reduce(byteCount) { sum, element in
      if case .asset(let asset) = element.field.value { sum + asset.size } else { sum }
    }
  }
}
