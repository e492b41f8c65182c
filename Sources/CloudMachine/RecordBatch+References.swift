import CloudProtocol
import Records

/// Validation of the items together: parents, and references that delete their holder.
///
/// Rules: CS-125 to CS-139; scenarios `saveTransaction_ChildNoParent`,
/// `deleteTransaction_ParentBeforeChild`, `deleteTransaction_DeleteParentButNotChild`.
extension RecordBatch {
  /// A record to be deleted: requested, or cascaded from another.
  struct Removal {
    var id: RecordID
    /// The requested deletion that causes it, as a position in `deletes`.
    var cause: Int
  }

  /// Sets the errors that depend on other items, and returns the records to delete: the requested
  /// ones first, then the cascaded ones.
  ///
  /// In an atomic batch every item is validated as if all others succeed, so that only the causes
  /// of a failure get a specific error. Otherwise a failed item is removed and the rest is
  /// validated again, until no more items fail.
  mutating func judgeTogether() throws -> [Removal] {
    try judgeOwners()
    if isAtomic { judgeQuota() }
    while true {
      if !isAtomic { refuseHolders() }
      let removals = try removals()
      let found = try faults(removals)
      if found.saves.isEmpty && found.deletes.isEmpty {
        if isAtomic || !judgeQuota() { return removals }
        continue
      }
      for (index, error) in found.saves where saves[index].error == nil {
        saves[index].error = error
      }
      for (index, error) in found.deletes where deletes[index].error == nil {
        deletes[index].error = error
      }
      if isAtomic { return removals }
    }
  }

  /// Refuses the saves that refer to a new record whose save failed, and those that refer to them.
  ///
  /// All at once, because a chain of them would otherwise take one validation for each.
  private func refuseHolders() {
    var failed = saves.indices.filter { !holds($0) && saves[$0].stored == nil }
    var next = 0
    while next < failed.count {
      let target = saves[failed[next]]
      next += 1
      for holder in holders[target.save.id] ?? [] where holds(holder.position) {
        saves[holder.position].error = faultOfHolder(of: target)
        if saves[holder.position].stored == nil { failed.append(holder.position) }
      }
    }
  }

  /// The error of a save that refers to a new record whose save failed.
  private func faultOfHolder(of target: PendingSave) -> CloudError {
    if let error = target.error, error.code == .quotaExceeded { return error }
    return CloudError(
      .referenceViolation, "it refers to a record that this request failed to create")
  }

  /// Whether a save is assumed to succeed while others are validated.
  func holds(_ index: Int) -> Bool {
    saves[index].merged != nil && (isAtomic || saves[index].error == nil)
  }

  private func holds(delete index: Int) -> Bool { isAtomic || deletes[index].error == nil }

  /// The records that the remaining deletions delete, breadth first, so cycles end.
  private mutating func removals() throws -> [Removal] {
    var removals: [Removal] = []
    var seen = Set<RecordID>()
    for (index, delete) in deletes.enumerated()
    where holds(delete: index) && delete.stored != nil && !delete.leaves {
      seen.insert(delete.id)
      removals.append(Removal(id: delete.id, cause: index))
    }
    var next = 0
    while next < removals.count {
      let level = removals[next...]
      next = removals.count
      try context.storage.foresee {
        ReadPlan(records: level.map(\.id), links: true, in: zone.id, of: access.home)
      }
      for removal in level {
        for holder in try holders(of: removal.id, .deleteSelf)
        where !isSaved(holder) && seen.insert(holder).inserted {
          removals.append(Removal(id: holder, cause: removal.cause))
        }
      }
    }
    return removals
  }

  /// Whether this request saves `id`: then the record is not deleted by a cascade; instead the save
  /// fails because its target is missing.
  func isSaved(_ id: RecordID) -> Bool { savePosition(of: id).map { holds($0) } ?? false }

  /// The items that are invalid together with `removals`.
  private mutating func faults(
    _ removals: [Removal]
  ) throws -> (saves: [(Int, CloudError)], deletes: [Int: CloudError]) {
    let gone = Set(removals.map(\.id))
    var failedDeletes: [Int: CloudError] = [:]
    for removal in removals where failedDeletes[removal.cause] == nil {
      let children = try holders(of: removal.id, .parent)
      if try children.contains(where: { !gone.contains($0) }) || drawsShareAlong(removal) {
        failedDeletes[removal.cause] = .isParent
      } else if let holder = try holders(of: removal.id, .validating).first(where: {
        !gone.contains($0)
      }) {
        failedDeletes[removal.cause] = try validationFault(removal.id, holder)
      }
    }
    var failedSaves: [(Int, CloudError)] = []
    for index in saves.indices
    where !saves[index].links.isEmpty && holds(index) && saves[index].error == nil {
      // A participant need not see what the record referred to before.
      let known = Dictionary(
        grouping: access.isShared ? saves[index].stored?.links ?? [] : [], by: \.kind
      ).mapValues { Set($0.map(\.target)) }
      for link in saves[index].links {
        let isKnown = known[link.kind]?.contains(link.target) == true
        if let error = try fault(of: link.target, link.kind, gone, isKnown: isKnown) {
          failedSaves.append((index, error))
          break
        }
      }
    }
    failedSaves += try planSharing(gone)
    return (failedSaves, failedDeletes)
  }

  /// The error of a deletion of `target`, to which `holder` has a reference that validates it.
  ///
  /// The text is that of CloudKit; a holder that the requester can't see is not named.
  /// Rules: WS-44.
  private func validationFault(_ target: RecordID, _ holder: RecordID) throws -> CloudError {
    let title = "title=Record delete would violate validating reference, rejecting update"
    let saved = savePosition(of: holder).flatMap { holds($0) ? saves[$0].merged : nil }
    let field = try (saved ?? access.record(holder))?.fields.first { element in
      element.field.value.validates(target)
    }
    guard let field else { return CloudError(.referenceViolation, title) }
    return CloudError(
      .referenceViolation, "Field=\(field.key), recordID=\(holder.name), \(title)")
  }

  /// The error of a save that refers to `target`.
  ///
  /// If this request deletes a parent or a validated target, the deletion fails; if it deletes an
  /// owning target, the save fails, because its record would be deleted at once.
  private mutating func fault(
    of target: RecordID, _ kind: RecordLink.Kind, _ gone: Set<RecordID>, isKnown: Bool
  ) throws -> CloudError? {
    if let position = savePosition(of: target) {
      if isAtomic || holds(position) { return nil }
      if saves[position].stored == nil { return faultOfHolder(of: saves[position]) }
    } else if !isKnown, try isMissing(target) {
      return CloudError(
        .referenceViolation,
        "it refers to a record that does not exist; save both in one request, or that one first")
    }
    guard kind == .deleteSelf, gone.contains(target) else { return nil }
    return CloudError(.referenceViolation, "it refers to a record that this request deletes")
  }

  private mutating func isMissing(_ id: RecordID) throws -> Bool {
    if let isThere = storedTargets[id] { return !isThere }
    let isThere = try access.record(id) != nil
    storedTargets[id] = isThere
    return !isThere
  }

  /// The records that refer to `target` after the remaining saves.
  mutating func holders(
    of target: RecordID, _ kind: RecordLink.Kind
  ) throws -> [RecordID] {
    var found = try stored(linksTo: target)
      .filter { $0.kind == kind && !isSaved($0.holder) }.map(\.holder)
    for holder in holders[target] ?? [] where holder.kind == kind && holds(holder.position) {
      found.append(saves[holder.position].save.id)
    }
    return found
  }

  private mutating func stored(linksTo target: RecordID) throws -> [RecordLink] {
    if let links = storedLinks[target] { return links }
    let links = try context.storage.links(to: target, in: context.database)
    storedLinks[target] = links
    return links
  }

  /// Rejects the saves that would give a target more owning references than allowed.
  ///
  /// References that this request deletes or removes are not counted.
  private mutating func judgeOwners() throws {
    var counts: [RecordID: Int] = [:]
    let deleted = Set(deletes.lazy.filter { $0.error == nil }.map(\.id))
    for index in saves.indices
    where !saves[index].links.isEmpty && holds(index) && saves[index].error == nil {
      let id = saves[index].save.id
      var targets: Set<RecordID> = []
      var added: [RecordID] = []
      for link in saves[index].links
      where link.kind == .deleteSelf && targets.insert(link.target).inserted {
        let target = link.target
        let links = try stored(linksTo: target).filter { $0.kind == .deleteSelf }
        if links.contains(where: { $0.holder == id }) { continue }
        let count = counts[target] ?? links.count { remains($0, to: target, deleted) }
        counts[target] = count
        added.append(target)
        if count < context.limits.owningReferences { continue }
        saves[index].error = CloudError(
          .limitExceeded,
          "more than \(context.limits.owningReferences) records would be deleted with one target")
      }
      // A refused save gives none of its targets another reference.
      guard saves[index].error == nil else { continue }
      for target in added { counts[target, default: 0] += 1 }
    }
  }

  /// Whether a stored owning reference to `target` is still there after this request, which deletes
  /// the records `deleted`.
  private func remains(
    _ link: RecordLink, to target: RecordID, _ deleted: Set<RecordID>
  ) -> Bool {
    guard let position = savePosition(of: link.holder), holds(position) else {
      return !deleted.contains(link.holder)
    }
    return saves[position].links.contains { $0.target == target && $0.kind == .deleteSelf }
  }
}

extension FieldValue {
  /// Whether the value has a reference to `target` that validates it.
  fileprivate func validates(_ target: RecordID) -> Bool {
    switch self {
    // Both are in one zone, whose owner has several spellings.
    case .reference(let reference):
      reference.action == .validate && reference.target.name == target.name
    case .list(let values): values.contains { $0.validates(target) }
    case .string, .int64, .double, .date, .bytes, .asset, .location: false
    }
  }
}

extension CloudError {
  /// The error of a deletion of a parent whose children remain, or of a record that takes a share
  /// along.
  fileprivate static let isParent = CloudError(
    .referenceViolation, "other records have it, or a record deleted with it, as their parent")
}
