import CloudProtocol
import Records

/// One private database.
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
  /// Whose it is: tokens of others are refused.
  var identity = ""
  var plant: Plant?

  /// The next moment.
  mutating func tick() -> Int {
    now += 1
    return now
  }

  /// What is said of a zone that is not there.
  func missing(_ zone: ZoneID) -> CloudError {
    guard let grave = graves[zone.name] else { return refusal(.zoneNotFound) }
    switch grave.reason {
    case .deleted: return refusal(.zoneNotFound)
    case .purged: return refusal(.userDeletedZone)
    case .encryptedDataReset:
      return CloudError(.zoneNotFound, "", userDidResetEncryptedData: true)
    }
  }

  func zones(_ ids: [ZoneID]?) -> [ItemResult<ZoneID, Zone>] {
    let asked = ids ?? zones.keys.sorted().map { ZoneID(name: $0) }
    return asked.map { id in
      guard zones[id.name] != nil else { return ItemResult(id: id, .failure(missing(id))) }
      let isDefault = id.name == ZoneID.defaultName
      return ItemResult(id: id, .success(Zone(id: id, capabilities: isDefault ? [] : .custom)))
    }
  }

  mutating func modify(_ request: ModifyZones) throws(CloudError) -> CloudReply {
    let asked = request.save + request.delete
    guard Set(asked).count == asked.count else { throw refusal(.invalidArguments) }
    var saved: [ItemResult<ZoneID, Zone>] = []
    var deleted: [ItemResult<ZoneID, Done>] = []
    for id in request.save {
      if zones[id.name] == nil {
        let moment = tick()
        zones[id.name] = ReferenceZone(life: moment, changed: moment)
        graves[id.name] = nil
      }
      saved += zones([id])
    }
    for id in request.delete {
      if id.name == ZoneID.defaultName {
        deleted.append(ItemResult(id: id, .failure(refusal(.invalidArguments))))
      } else if zones[id.name] == nil, graves[id.name]?.reason == .encryptedDataReset {
        // A reset asks apps to delete the zone; that it was reset stays the news of it.
        deleted.append(ItemResult(id: id, .success(Done())))
      } else if zones[id.name] == nil {
        deleted.append(ItemResult(id: id, .failure(missing(id))))
      } else {
        end(id, .deleted)
        deleted.append(ItemResult(id: id, .success(Done())))
      }
    }
    return .zonesModified(saved: saved, deleted: deleted)
  }

  mutating func end(_ zone: ZoneID, _ reason: ZoneDeletionReason) {
    guard zones.removeValue(forKey: zone.name) != nil else { return }
    graves[zone.name] = (reason, tick())
  }

  mutating func administer(_ act: Act) {
    let moment = tick()
    switch act {
    case .end(let zone, let reason): end(zone, reason)
    case .expireTokens(let zone?): zones[zone.name]?.tokensExpireBefore = moment
    case .expireTokens(nil): tokensExpireBefore = moment
    case .trim(let zone?): zones[zone.name]?.trim()
    case .trim(nil):
      forgotten = graves.values.map(\.at).reduce(forgotten, max)
      graves = [:]
    }
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

  /// The targets of its references that act so.
  func targets(_ action: Reference.Action) -> [String] {
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
