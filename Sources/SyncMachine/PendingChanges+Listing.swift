package import Records

/// Lists of pending changes, in the order of addition.
extension PendingChanges {
  /// The pending changes.
  package var pending: [PendingChange<ID>] { prefix(count, inGroups: { _ in true }) }

  /// The first pending changes that satisfy `isIncluded`, at most `limit`.
  package func prefix(
    _ limit: Int, where isIncluded: (PendingChange<ID>) -> Bool
  ) -> [PendingChange<ID>] {
    var changes: [PendingChange<ID>] = []
    guard limit > 0, count > 0 else { return changes }
    changes.reserveCapacity(min(limit, count))
    list.forEach { position, entry in
      guard entry.isPending else { return true }
      let change = change(at: position, entry)
      if isIncluded(change) { changes.append(change) }
      return changes.count < limit
    }
    return changes
  }

  /// The first pending changes in the included groups, at most `limit`.
  ///
  /// Complexity: O(limit) if the front of the list is in scope; otherwise the entries before it are
  /// skipped without reading their names.
  package func prefix(
    _ limit: Int, inGroups isIncluded: (ID.Group) -> Bool
  ) -> [PendingChange<ID>] {
    var changes: [PendingChange<ID>] = []
    changes.reserveCapacity(max(0, min(limit, count)))
    forEach(limit, inGroups: isIncluded) { changes.append(change(at: $0, $1)) }
    return changes
  }

  /// Calls `body` with the first pending changes in the included groups, at most `limit`.
  func forEach(
    _ limit: Int, inGroups isIncluded: (ID.Group) -> Bool, _ body: (Int, PendingList.Entry) -> Void
  ) {
    let (total, isIncluded) = pending(inGroups: isIncluded)
    var left = min(limit, total)
    guard left > 0 else { return }
    list.forEach { position, entry in
      if isIncluded[Int(entry.group)], entry.isPending {
        body(position, entry)
        left -= 1
      }
      return left > 0
    }
  }

  /// Calls `body` with the first pending changes of `ids`, at most `limit`.
  func forEach(_ limit: Int, of ids: [ID], _ body: (Int, PendingList.Entry) -> Void) {
    for position in Set(ids.compactMap(pendingPosition)).sorted().prefix(max(0, limit)) {
      body(position, list[position])
    }
  }

  /// The changes to store for a restart: all unsettled ones in order, one for each ID; a change in
  /// flight is included unless a newer one of the same ID is pending.
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
  /// Whether a pending change is in `scope`.
  package func hasPending(in scope: SendScope) -> Bool {
    switch scope {
    case .all: !isEmpty
    case .allExcluding(let zones): hasPending { !zones.contains($0) }
    case .zones(let zones): hasPending { zones.contains($0) }
    case .records(let records): records.contains { pending(for: $0) != nil }
    }
  }

  /// The number of pending changes in `scope`.
  package func pendingCount(in scope: SendScope) -> Int {
    switch scope {
    case .all: count
    case .allExcluding(let zones): pending(inGroups: { !zones.contains($0) }).count
    case .zones(let zones): pending(inGroups: { zones.contains($0) }).count
    case .records(let records): Set(records.compactMap(pendingPosition)).count
    }
  }

  /// The first pending changes in `scope`, at most `limit`, in order.
  package func prefix(_ limit: Int, in scope: SendScope) -> [PendingChange<RecordID>] {
    var changes: [PendingChange<RecordID>] = []
    changes.reserveCapacity(max(0, min(limit, count)))
    forEach(limit, in: scope) { changes.append(change(at: $0, $1)) }
    return changes
  }

  /// Calls `body` with the first pending changes in `scope`, at most `limit`, in order.
  func forEach(_ limit: Int, in scope: SendScope, _ body: (Int, PendingList.Entry) -> Void) {
    switch scope {
    case .all: forEach(limit, inGroups: { _ in true }, body)
    case .allExcluding(let zones): forEach(limit, inGroups: { !zones.contains($0) }, body)
    case .zones(let zones): forEach(limit, inGroups: { zones.contains($0) }, body)
    case .records(let records): forEach(limit, of: records, body)
    }
  }
}
