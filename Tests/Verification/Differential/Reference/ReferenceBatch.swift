import CloudProtocol
import Records

/// The part of one request for one zone, and its results.
struct ReferenceBatch {
  let saves: [RecordSave]
  let deletes: [RecordID]
  let request: ModifyRecords
  /// The zone before, as the asker may use it.
  let place: ReferencePlace
  let uploads: [String: ReferenceUpload]
  /// The number of bytes by which the owner's database may grow; `nil` for no limit.
  let room: Int?
  /// The errors, by record.
  private(set) var errors: [RecordID: CloudError] = [:]
  /// The records that saves make, also of saves that fail for other reasons than their content.
  private(set) var outcomes: [RecordID: Record] = [:]

  var zone: [String: ReferenceRecord] { place.zone.records }

  init(
    saves: [RecordSave], deletes: [RecordID], request: ModifyRecords, place: ReferencePlace,
    uploads: [String: ReferenceUpload], room: Int?
  ) {
    self.saves = saves
    self.deletes = deletes
    self.request = request
    self.place = place
    self.uploads = uploads
    self.room = room
  }

  /// All or nothing: the culprits keep their own errors, the others fail with them.
  mutating func decideAtomically() {
    judgeEach()
    _ = judgeQuota(freeing: deletes.filter { errors[$0] == nil && !isLeft($0) })
    let broken = faults(
      saves: saves.filter { outcomes[$0.id] != nil }, deletes: deletes,
      promised: saves.map(\.id.name))
    errors.merge(broken) { first, _ in first }
    guard !errors.isEmpty else { return }
    for id in saves.map(\.id) + deletes where errors[id] == nil {
      errors[id] = refusal(.batchRequestFailed)
    }
  }

  /// Each for itself: what fails may make others fail that lean on it, until nothing more does.
  mutating func decideOneByOne() {
    judgeEach()
    while true {
      refuseHolders()
      let saves = saves.filter { errors[$0.id] == nil }
      let deletes = deletes.filter { errors[$0] == nil }
      let broken = faults(saves: saves, deletes: deletes, promised: [])
      if broken.isEmpty {
        if judgeQuota(freeing: []) { continue }
        return
      }
      errors.merge(broken) { first, _ in first }
    }
  }

  /// Refuses the saves that refer to a new record that was not saved, and those that refer to them.
  private mutating func refuseHolders() {
    var failed = saves.map(\.id).filter { errors[$0] != nil && place.record($0.name) == nil }
    var index = 0
    while index < failed.count {
      let target = failed[index]
      index += 1
      let isOver = errors[target]?.code == .quotaExceeded
      for save in saves where errors[save.id] == nil {
        guard let record = outcomes[save.id],
          ReferenceRecord(record: record, changed: 0).links.contains(where: {
            $0.0 == target.name
          })
        else { continue }
        errors[save.id] = refusal(isOver ? .quotaExceeded : .referenceViolation)
        if place.record(save.id.name) == nil { failed.append(save.id) }
      }
    }
  }

  /// The names of all records that go: those asked for and those drawn along.
  var gone: [String] {
    let asked = going(deletes.filter { errors[$0] == nil })
    let saved = saves.filter { errors[$0.id] == nil }
    return closure(of: asked, in: after(saved), without: Set(saved.map(\.id.name)))
  }

  /// The shares that the asker leaves: what for the owner is a deletion.
  ///
  /// Rules: CS-150 to CS-170.
  var left: [String] { deletes.filter { errors[$0] == nil && isLeft($0) }.map(\.name) }

  private func isLeft(_ id: RecordID) -> Bool {
    place.isVisit && place.record(id.name)?.sharing != nil
  }

  /// The deletions that find something and are no leaving.
  private func going(_ ids: [RecordID]) -> [String] {
    ids.filter { place.record($0.name) != nil && !isLeft($0) }.map(\.name)
  }

  /// The rules that look at one save or deletion only.
  ///
  /// Rules: CS-110 to CS-124.
  private mutating func judgeEach() {
    for save in saves {
      do throws(CloudError) {
        outcomes[save.id] = try outcome(of: save)
      } catch {
        errors[save.id] = error
      }
    }
    for id in deletes {
      let stored = place.record(id.name)
      if let tag = request.deleteTags[id], stored?.changeTag != tag {
        // The version that was to go is not there: as for a save with a tag.
        errors[id] = refusal(stored == nil ? .unknownItem : .serverRecordChanged, of: stored)
      } else if let stored, !isLeft(id) {
        errors[id] = refusalOfChange(stored, isDeletion: true)
      }
    }
  }

  /// Refuses the saves that exceed the quota, in the order of the request.
  ///
  /// The deletions in `deletes` free space before.
  ///
  /// Rules: CS-171 to CS-173.
  private mutating func judgeQuota(freeing deletes: [RecordID]) -> Bool {
    guard var left = room else { return false }
    for id in deletes { left += place.record(id.name)?.bytes ?? 0 }
    var isExceeded = false
    for save in saves where errors[save.id] == nil {
      guard let record = outcomes[save.id] else { continue }
      let growth = record.bytes - (place.record(save.id.name)?.bytes ?? 0)
      let isTooMuch = place.plant == .tightQuota ? growth >= left : growth > left
      if growth > 0, isTooMuch {
        errors[save.id] = refusal(.quotaExceeded)
        isExceeded = true
      } else {
        left -= growth
      }
    }
    return isExceeded
  }

  /// The zone as it would be after `saves`.
  func after(_ saves: [RecordSave]) -> [String: ReferenceRecord] {
    var zone = zone
    for save in saves {
      guard let record = outcomes[save.id] else { continue }
      zone[save.id.name] = ReferenceRecord(record: record, changed: 0)
    }
    return zone
  }

  /// `names` with what they own, and what that owns; what is in `kept` is not drawn along.
  private func closure(
    of names: [String], in zone: [String: ReferenceRecord], without kept: Set<String>
  ) -> [String] {
    var gone = names.filter { zone[$0] != nil }
    guard place.plant != .keptOwned else { return gone }
    var index = 0
    while index < gone.count {
      let owner = gone[index]
      index += 1
      for name in zone.keys.sorted() where !gone.contains(name) && !kept.contains(name) {
        if zone[name]?.owners.contains(owner) == true { gone.append(name) }
      }
    }
    return gone
  }

  /// What can't be done together: saves that point at nothing, deletions that would leave records
  /// pointing at nothing, and shares that overlap.
  ///
  /// A save that failed by itself leaves the record as it was. Only in an atomic zone what points
  /// at such a new record is a victim, not a culprit: it fails with the others.
  private func faults(
    saves: [RecordSave], deletes: [RecordID], promised: [String]
  ) -> [RecordID: CloudError] {
    let zone = after(saves)
    // A record that is saved is refused rather than drawn along.
    let saved = Set(saves.map(\.id.name))
    let gone = Set(closure(of: going(deletes), in: zone, without: saved))
    var broken: [RecordID: CloudError] = [:]
    for save in saves {
      guard let record = zone[save.id.name] else { continue }
      for (target, owns) in record.links {
        let isThere = saved.contains(target) || promised.contains(target) || place.sees(target)
        guard
          zone[target] == nil && !promised.contains(target) || !isThere
            || owns && gone.contains(target)
        else { continue }
        // A child of what is over quota is over quota too. Rules: CS-125 to CS-139.
        let isOver = errors.contains {
          $0.key.name == target && $0.value.code == .quotaExceeded && zone[target] == nil
        }
        broken[save.id] = refusal(isOver ? .quotaExceeded : .referenceViolation)
        break
      }
    }
    for name in going(deletes) {
      // What is asked for by itself answers for itself.
      let others = saved.union(deletes.map(\.name)).subtracting([name])
      let drawn = Set(closure(of: [name], in: zone, without: others))
      let isNeeded = zone.values.contains { record in
        !gone.contains(record.name) && record.needed.contains(where: drawn.contains)
      }
      let endsShare =
        place.isVisit && drawn.contains { $0 != name && zone[$0]?.record.sharing != nil }
      guard isNeeded || endsShare, let id = deletes.first(where: { $0.name == name }) else {
        continue
      }
      broken[id] = refusal(.referenceViolation)
    }
    let unshareable = sharingFaults(
      saves: saves, promised: promised, in: zone, gone: gone)
    return broken.merging(unshareable) { first, _ in first }
  }
}
