import CloudProtocol
import Records

/// The share of each record that a batch affects.
struct SharePlan {
  /// A record that the batch does not save but that joins or leaves a share.
  struct Move {
    var id: RecordID
    var share: String?
  }

  /// The share of each saved record.
  private(set) var shares: [RecordID: String] = [:]
  /// The other affected records, parents before their children.
  var moves: [Move] = []
  /// The shares that the batch creates, by their roots.
  var roots: [RecordID: String] = [:]
  /// A cache of the shares of ancestors, so that a long chain is followed once.
  var above: [RecordID: String?] = [:]

  func share(of id: RecordID) -> String? { shares[id] }

  mutating func put(_ id: RecordID, in share: String?) { shares[id] = share }
}

/// Hierarchies: a record is in the share of which it is the root, otherwise in its parent's share.
///
/// Rules: CS-150 to CS-170; scenarios `share`, `shareUnshareShareAgain`,
/// `deletingShareOwnedByCurrentUserDeletesShareAndDoesNotDeleteAssociatedData`.
extension RecordBatch {
  /// Computes the share of each record after the deletion of `gone`, and the saves that are invalid
  /// because of it.
  mutating func planSharing(_ gone: Set<RecordID>) throws -> [(Int, CloudError)] {
    plan = SharePlan()
    var faults = try faultsOfKind(gone)
    let makesHierarchy = saves.indices.contains {
      holds($0) && saves[$0].merged?.sharing?.root != nil
    }
    guard makesHierarchy || zone.sharing.hierarchies > 0 else { return faults }
    try foreseeShares()
    var makers: [String: Int] = [:]
    for index in saves.indices where holds(index) {
      let id = saves[index].save.id
      guard let details = saves[index].merged?.sharing, let root = details.root else { continue }
      plan.put(id, in: id.name)
      guard saves[index].stored == nil else { continue }
      if !isAtomic, let position = savePosition(of: root), !holds(position) {
        faults.append((index, .rootNotSaved))
        continue
      }
      if try shareAfter(root, gone) != nil {
        faults.append((index, .alreadyShared))
        continue
      }
      plan.roots[root] = id.name
      plan.above = [:]
      makers[id.name] = index
    }
    faults += try followParents(gone, makers)
    if access.isShared && !access.isWhole { faults += try faultsOfLanding() }
    return faults
  }

  /// Tells which shares the saved records and their parents are in.
  private mutating func foreseeShares() throws {
    var shares: Set<RecordID> = []
    for item in saves {
      let parent = try item.merged?.parent.flatMap { try row($0)?.share }
      for share in [item.row?.share, parent] {
        if let share { shares.insert(RecordID(name: share, zone: zone.id)) }
      }
    }
    guard !shares.isEmpty else { return }
    try context.storage.foresee {
      ReadPlan(records: shares.sorted(), links: false, in: zone.id, of: access.home)
    }
  }

  /// Follows the saved records and the roots of deleted shares down to their descendants.
  private mutating func followParents(
    _ gone: Set<RecordID>, _ makers: [String: Int]
  ) throws -> [(Int, CloudError)] {
    var faults: [(Int, CloudError)] = []
    // With the save that moves the record; deleted shares move records without one.
    var queue: [(id: RecordID, save: Int?)] = []
    for index in saves.indices where holds(index) && saves[index].merged?.sharing == nil {
      queue.append((saves[index].save.id, index))
      if try movesRoot(saves[index], gone) { faults.append((index, .alreadyShared)) }
    }
    for id in gone.sorted() {
      guard let root = try row(id)?.record?.sharing?.root, !gone.contains(root) else { continue }
      queue.append((root, nil))
    }
    var seen = Set<RecordID>()
    var next = 0
    while next < queue.count {
      let (id, save) = queue[next]
      next += 1
      guard seen.insert(id).inserted else { continue }
      let before = try row(id)?.share
      let after = try shareAfter(id, gone)
      if isSaved(id) { plan.put(id, in: after) }
      if before == after { continue }
      if !isSaved(id) { plan.moves.append(SharePlan.Move(id: id, share: after)) }
      for child in try holders(of: id, .parent) where !gone.contains(child) {
        if let after, let cause = makers[after] ?? save,
          let inner = try share(rootedAt: child, gone), inner != after
        {
          faults.append((cause, .alreadyShared))
        }
        queue.append((child, save))
      }
    }
    return faults
  }

  /// Whether a save gives the root of a share a parent that is in another share.
  private mutating func movesRoot(
    _ item: PendingSave, _ gone: Set<RecordID>
  ) throws -> Bool {
    guard let parent = item.merged?.parent, parent != item.row?.record?.parent,
      let own = try share(rootedAt: item.save.id, gone),
      let outer = try shareAfter(parent, gone)
    else { return false }
    return outer != own
  }

  /// The share of `id` after the batch: that of the nearest ancestor that is a root.
  private mutating func shareAfter(_ id: RecordID, _ gone: Set<RecordID>) throws -> String? {
    var path = Set<RecordID>()
    var current: RecordID? = id
    var found: String?
    while let here = current, !gone.contains(here), path.insert(here).inserted {
      if let known = plan.above[here] {
        found = known
        break
      }
      if let share = try share(rootedAt: here, gone) {
        found = share
        break
      }
      if isSaved(here), let position = savePosition(of: here) {
        current = saves[position].merged?.parent
      } else {
        current = try row(here)?.record?.parent
      }
    }
    for here in path { plan.above[here] = .some(found) }
    return found
  }

  /// The share whose root is `id` after the batch.
  private mutating func share(
    rootedAt id: RecordID, _ gone: Set<RecordID>
  ) throws -> String? {
    if let share = plan.roots[id] { return share }
    guard let name = try row(id)?.share else { return nil }
    let share = RecordID(name: name, zone: zone.id)
    guard !gone.contains(share) else { return nil }
    return try row(share)?.record?.sharing?.root == id ? name : nil
  }

  /// The row of `id` before this request, regardless of access.
  mutating func row(_ id: RecordID) throws -> RecordRow? {
    if let row = storedRows[id] { return row }
    let row = try context.storage.record(id, in: access.home)
    storedRows[id] = .some(row)
    return row
  }

  /// The saves of shares that conflict with other shares of the zone.
  private mutating func faultsOfKind(_ gone: Set<RecordID>) throws -> [(Int, CloudError)] {
    var new: [Int] = []
    for (index, save) in saves.enumerated()
    where save.merged?.sharing != nil && save.stored == nil && save.error == nil && holds(index) {
      new.append(index)
    }
    if new.isEmpty { return [] }
    var left = zone.sharing.hierarchies
    for id in gone where try row(id)?.record?.sharing?.root != nil { left -= 1 }
    let zoneWide = RecordID(name: ShareDetails.zoneWideName, zone: zone.id)
    let isZoneWide =
      isSaved(zoneWide) || zone.sharing.isZoneWide && !gone.contains(zoneWide)
    return new.compactMap { index in
      if saves[index].merged?.sharing?.root == nil {
        guard left > 0 else { return nil }
        return (
          index,
          CloudError(
            .invalidArguments, "hierarchies of the zone are shared, so the whole zone can't be")
        )
      }
      guard isZoneWide else { return nil }
      return (
        index,
        CloudError(
          .serverRejectedRequest, "the whole zone is shared, so a hierarchy of it can't be")
      )
    }
  }

  /// The saves of a participant whose records would be outside of the writable shares.
  ///
  /// Scenario `saveSharedRecordWithoutParent`.
  private mutating func faultsOfLanding() throws -> [(Int, CloudError)] {
    var faults: [(Int, CloudError)] = []
    for index in saves.indices where holds(index) && saves[index].merged?.sharing == nil {
      if let share = plan.share(of: saves[index].save.id), try mayWrite(in: share) { continue }
      faults.append(
        (
          index,
          CloudError(
            .permissionFailure,
            "in another user's zone a record needs a parent in a share with write permission")
        ))
    }
    return faults
  }
}

extension CloudError {
  /// The error of a new share whose root could not be saved with it.
  fileprivate static let rootNotSaved = CloudError(
    .referenceViolation,
    "the root record could not be saved, so the share was not created; save both again")

  /// The error of a hierarchy that overlaps with another shared hierarchy.
  fileprivate static let alreadyShared = CloudError(
    .alreadyShared, "the record, one above it or one below it is in another share")
}
