package import Records

/// Lists of what is pending, in the order it was added.
extension PendingChanges {
  /// The changes that wait.
  package var waiting: [PendingChange<ID>] { prefix(count, inGroups: { _ in true }) }

  /// The first changes that wait and satisfy `isIncluded`, at most `limit`.
  package func prefix(
    _ limit: Int, where isIncluded: (PendingChange<ID>) -> Bool
  ) -> [PendingChange<ID>] {
    var changes: [PendingChange<ID>] = []
    guard limit > 0, count > 0 else { return changes }
    changes.reserveCapacity(min(limit, count))
    list.forEach { position, entry in
      guard entry.isWaiting else { return true }
      let change = change(at: position, entry)
      if isIncluded(change) { changes.append(change) }
      return changes.count < limit
    }
    return changes
  }

  /// The first changes that wait in the groups that `isIncluded`, at most `limit`.
  ///
  /// Complexity: O(limit) where the front of the list is in scope; otherwise what stands before
  /// is passed over without a look at its names.
  package func prefix(
    _ limit: Int, inGroups isIncluded: (ID.Group) -> Bool
  ) -> [PendingChange<ID>] {
    let (total, isIncluded) = waiting(inGroups: isIncluded)
    let wanted = min(limit, total)
    var changes: [PendingChange<ID>] = []
    guard wanted > 0 else { return changes }
    changes.reserveCapacity(wanted)
    list.forEach { position, entry in
      if isIncluded[Int(entry.group)], entry.isWaiting {
        changes.append(change(at: position, entry))
      }
      return changes.count < wanted
    }
    return changes
  }

  /// The first changes that wait for any of `ids`, at most `limit`, in the order they were added.
  package func prefix(_ limit: Int, of ids: [ID]) -> [PendingChange<ID>] {
    Set(ids.compactMap(waitingPosition)).sorted().prefix(max(0, limit)).map {
      change(at: $0, list[$0])
    }
  }

  /// What has to be remembered across a restart: everything not settled, in order, one change an
  /// ID; a change under way counts unless a newer one waits for the same ID.
  package var unsettled: [PendingChange<ID>] {
    var changes: [PendingChange<ID>] = []
    changes.reserveCapacity(list.alive)
    list.forEach { position, entry in
      if entry.isUnsettled { changes.append(change(at: position, entry)) }
      return true
    }
    return changes
  }
}

extension PendingChanges<RecordID> {
  /// Whether a change waits that `scope` means.
  package func hasWaiting(in scope: SendScope) -> Bool {
    switch scope {
    case .all: !isEmpty
    case .allExcluding(let zones): hasWaiting { !zones.contains($0) }
    case .zones(let zones): hasWaiting { zones.contains($0) }
    case .records(let records): records.contains { waiting(for: $0) != nil }
    }
  }

  /// How many changes wait that `scope` means.
  package func waitingCount(in scope: SendScope) -> Int {
    switch scope {
    case .all: count
    case .allExcluding(let zones): waiting(inGroups: { !zones.contains($0) }).count
    case .zones(let zones): waiting(inGroups: { zones.contains($0) }).count
    case .records(let records): Set(records.compactMap(waitingPosition)).count
    }
  }

  /// The first changes that wait and that `scope` means, at most `limit`, in order.
  package func prefix(_ limit: Int, in scope: SendScope) -> [PendingChange<RecordID>] {
    switch scope {
    case .all: prefix(limit, inGroups: { _ in true })
    case .allExcluding(let zones): prefix(limit, inGroups: { !zones.contains($0) })
    case .zones(let zones): prefix(limit, inGroups: { zones.contains($0) })
    case .records(let records): prefix(limit, of: records)
    }
  }
}
