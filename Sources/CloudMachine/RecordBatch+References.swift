import CloudProtocol
import Records

/// What is judged of the items together: parents, and references that delete their holder.
///
/// Source: cloudkit-surface 2.3; scenarios `saveTransaction_ChildNoParent`,
/// `deleteTransaction_ParentBeforeChild`, `deleteTransaction_DeleteParentButNotChild`.
extension RecordBatch {
  /// A record that would go: asked for, or drawn along by another.
  struct Removal {
    var id: RecordID
    /// The deletion it belongs to, as a position in `deletes`.
    var cause: Int
  }

  /// Sets the errors that only show in company, and says what the deletions that hold draw
  /// along, those asked for first.
  ///
  /// In an atomic batch every item is judged as if all others held, so that only true culprits
  /// carry an error of their own. Otherwise a failed item is taken out and the rest judged
  /// again, until nothing more fails.
  mutating func judgeTogether() throws -> [Removal] {
    try judgeOwners()
    while true {
      let removals = try removals()
      let found = try faults(removals)
      if found.saves.isEmpty && found.deletes.isEmpty { return removals }
      for (index, error) in found.saves where saves[index].error == nil {
        saves[index].error = error
      }
      for index in found.deletes where deletes[index].error == nil {
        deletes[index].error = CloudError(
          .referenceViolation, "other records have it, or what goes with it, as their parent")
      }
      if isAtomic { return removals }
    }
  }

  /// Whether a save counts while judging others.
  func holds(_ index: Int) -> Bool {
    saves[index].merged != nil && (isAtomic || saves[index].error == nil)
  }

  private func holds(delete index: Int) -> Bool { isAtomic || deletes[index].error == nil }

  /// What goes when the deletions that hold are done: breadth first, so cycles end.
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
      let removal = removals[next]
      next += 1
      for holder in try holders(of: removal.id, .deleteSelf)
      where !savesHolding(holder) && seen.insert(holder).inserted {
        removals.append(Removal(id: holder, cause: removal.cause))
      }
    }
    return removals
  }

  /// Whether this request saves `id`, and the save counts: then it is not drawn along, but the
  /// save itself fails for want of its target.
  private func savesHolding(_ id: RecordID) -> Bool {
    savePositions[id].map { holds($0) } ?? false
  }

  /// The items that can't be done together with `removals`.
  private mutating func faults(
    _ removals: [Removal]
  ) throws -> (saves: [(Int, CloudError)], deletes: [Int]) {
    let gone = Set(removals.map(\.id))
    var failedDeletes: [Int] = []
    for removal in removals where !failedDeletes.contains(removal.cause) {
      var holders = try holders(of: removal.id, .parent)
      holders += try self.holders(of: removal.id, .validating)
      if try holders.contains(where: { !gone.contains($0) }) || drawsShareAlong(removal) {
        failedDeletes.append(removal.cause)
      }
    }
    var failedSaves: [(Int, CloudError)] = []
    for index in saves.indices
    where !saves[index].links.isEmpty && holds(index) && saves[index].error == nil {
      for link in saves[index].links {
        if let error = try fault(of: link.target, link.kind, gone) {
          failedSaves.append((index, error))
          break
        }
      }
    }
    failedSaves += try planSharing(gone)
    return (failedSaves, failedDeletes)
  }

  /// Why a save can't point at `target`.
  ///
  /// A parent, or a validated target, that this request deletes is the deletion's fault; an owner
  /// that goes is the save's, or it would vanish as it is written.
  private mutating func fault(
    of target: RecordID, _ kind: RecordLink.Kind, _ gone: Set<RecordID>
  ) throws -> CloudError? {
    if let position = savePositions[target] {
      if isAtomic || holds(position) { return nil }
      if saves[position].stored == nil {
        if saves[position].error?.code == .quotaExceeded { return saves[position].error }
        return CloudError(
          .referenceViolation, "it points at a record that this request failed to create")
      }
    } else if try isMissing(target) {
      return CloudError(
        .referenceViolation,
        "it points at a record that does not exist; save both in one request, or that one first")
    }
    guard kind == .deleteSelf, gone.contains(target) else { return nil }
    return CloudError(.referenceViolation, "it points at a record that this request deletes")
  }

  private mutating func isMissing(_ id: RecordID) throws -> Bool {
    if let isThere = storedTargets[id] { return !isThere }
    let isThere = try access.record(id) != nil
    storedTargets[id] = isThere
    return !isThere
  }

  /// Who points at `target` once the saves that hold are done.
  mutating func holders(
    of target: RecordID, _ kind: RecordLink.Kind
  ) throws -> [RecordID] {
    var found = try stored(linksTo: target)
      .filter { $0.kind == kind && !savesHolding($0.holder) }.map(\.holder)
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

  /// Refuses the saves that would bring a target more owning references than it may have.
  private mutating func judgeOwners() throws {
    var counts: [RecordID: Int] = [:]
    for index in saves.indices
    where !saves[index].links.isEmpty && holds(index) && saves[index].error == nil {
      let id = saves[index].save.id
      var targets: [RecordID] = []
      for link in saves[index].links where link.kind == .deleteSelf {
        if !targets.contains(link.target) { targets.append(link.target) }
      }
      for target in targets {
        let links = try stored(linksTo: target).filter { $0.kind == .deleteSelf }
        if links.contains(where: { $0.holder == id }) { continue }
        let count = (counts[target] ?? links.count) + 1
        guard count <= context.limits.owningReferences else {
          saves[index].error = CloudError(
            .limitExceeded,
            "more than \(context.limits.owningReferences) records would be deleted with one target")
          continue
        }
        counts[target] = count
      }
    }
  }
}
