import CloudProtocol
import Records

/// What one request wants of one zone, and what becomes of it.
struct ReferenceBatch {
  let saves: [RecordSave]
  let deletes: [RecordID]
  let request: ModifyRecords
  /// The zone's records before.
  let zone: [String: ReferenceRecord]
  let plant: Plant?
  /// What failed, and why.
  private(set) var errors: [RecordID: CloudError] = [:]

  init(
    saves: [RecordSave], deletes: [RecordID], request: ModifyRecords,
    zone: [String: ReferenceRecord], plant: Plant?
  ) {
    self.saves = saves
    self.deletes = deletes
    self.request = request
    self.zone = zone
    self.plant = plant
  }

  /// All or nothing: the culprits keep their own errors, the others fail with them.
  mutating func decideAtomically() {
    judgeEach()
    let broken = brokenReferences(
      saves: saves.filter { errors[$0.id] == nil }, deletes: deletes,
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
      let saves = saves.filter { errors[$0.id] == nil }
      let deletes = deletes.filter { errors[$0] == nil }
      let broken = brokenReferences(saves: saves, deletes: deletes, promised: [])
      guard !broken.isEmpty else { return }
      errors.merge(broken) { first, _ in first }
    }
  }

  /// The names of all records that go: those asked for and those drawn along.
  var gone: [String] {
    let asked = deletes.filter { errors[$0] == nil }.map(\.name)
    let saved = saves.filter { errors[$0.id] == nil }
    return closure(of: asked, in: after(saved), without: Set(saved.map(\.id.name)))
  }

  /// The rules that look at one save or deletion only.
  ///
  /// Source: cloudkit-surface 2.1.
  private mutating func judgeEach() {
    for save in saves {
      if let error = verdict(on: save) { errors[save.id] = error }
    }
    for id in deletes {
      guard let tag = request.deleteTags[id] else { continue }
      if let stored = zone[id.name]?.record {
        if stored.changeTag != tag { errors[id] = refusal(.serverRecordChanged, of: stored) }
      } else {
        // The version that was to go is not there: as for a save with a tag.
        errors[id] = refusal(.unknownItem)
      }
    }
  }

  private func verdict(on save: RecordSave) -> CloudError? {
    if save.id.name.hasPrefix("_") { return refusal(.invalidArguments) }
    let stored = zone[save.id.name]?.record
    if (save.policy ?? request.policy) == .ifServerRecordUnchanged, plant != .staleTag {
      switch (stored, save.changeTag) {
      case (nil, nil): break
      case (nil, .some): return refusal(.unknownItem)
      case (let stored?, let tag):
        if stored.changeTag != tag { return refusal(.serverRecordChanged, of: stored) }
      }
    }
    if let stored, stored.type != save.type { return refusal(.invalidArguments) }
    return nil
  }

  /// The record that a save makes.
  func outcome(of save: RecordSave) -> Record {
    var record = zone[save.id.name]?.record ?? Record(id: save.id, type: save.type)
    if save.clearsOtherFields { record.fields = Fields() }
    for change in save.changes { record.fields[change.key] = change.field }
    if case .set(let parent) = save.parent { record.parent = parent }
    return record
  }

  /// The zone as it would be after `saves`.
  private func after(_ saves: [RecordSave]) -> [String: ReferenceRecord] {
    var zone = zone
    for save in saves {
      zone[save.id.name] = ReferenceRecord(record: outcome(of: save), changed: 0)
    }
    return zone
  }

  /// `names` with what they own, and what that owns; what is in `kept` is not drawn along.
  private func closure(
    of names: [String], in zone: [String: ReferenceRecord], without kept: Set<String>
  ) -> [String] {
    var gone = names.filter { zone[$0] != nil }
    guard plant != .keptOwned else { return gone }
    var index = 0
    while index < gone.count {
      let owner = gone[index]
      index += 1
      for name in zone.keys.sorted() where !gone.contains(name) && !kept.contains(name) {
        if zone[name]?.targets(.deleteSelf).contains(owner) == true { gone.append(name) }
      }
    }
    return gone
  }

  /// Saves that point at nothing, and deletions that would leave somebody pointing at nothing.
  ///
  /// A save that failed by itself leaves the record as it was. Only in an atomic zone what points
  /// at such a new record is a victim, not a culprit: it fails with the others.
  private func brokenReferences(
    saves: [RecordSave], deletes: [RecordID], promised: [String]
  ) -> [RecordID: CloudError] {
    let zone = after(saves)
    // A record that is saved is refused rather than drawn along.
    let saved = Set(saves.map(\.id.name))
    let gone = Set(closure(of: deletes.map(\.name), in: zone, without: saved))
    var broken: [RecordID: CloudError] = [:]
    for save in saves {
      guard let record = zone[save.id.name] else { continue }
      let owners = record.targets(.deleteSelf)
      let isBroken =
        (owners + record.needed).contains { zone[$0] == nil && !promised.contains($0) }
        || owners.contains(where: gone.contains)
      if isBroken { broken[save.id] = refusal(.referenceViolation) }
    }
    for id in deletes where zone[id.name] != nil {
      // What is asked for by itself answers for itself.
      let others = saved.union(deletes.map(\.name)).subtracting([id.name])
      let drawn = Set(closure(of: [id.name], in: zone, without: others))
      let isBroken = zone.values.contains { record in
        !gone.contains(record.name) && record.needed.contains(where: drawn.contains)
      }
      if isBroken { broken[id] = refusal(.referenceViolation) }
    }
    return broken
  }
}

extension ReferenceRecord {
  /// What must be there as long as the record is.
  fileprivate var needed: [String] {
    [record.parent?.name].compactMap { $0 } + targets(.validate)
  }
}
