/// What is to happen to one record or zone.
package enum ChangeKind: UInt8, Hashable, Sendable, Codable {
  /// Save it as it is when the batch is built.
  case save = 0
  /// Delete it.
  case delete = 1
}

/// A record or zone, and what is to happen to it.
package struct PendingChange<ID: Hashable & Sendable>: Hashable, Sendable {
  /// The record or zone.
  package var id: ID
  /// What is to happen to it.
  package var kind: ChangeKind

  /// Wishes `kind` for `id`.
  package init(_ kind: ChangeKind, _ id: ID) {
    self.id = id
    self.kind = kind
  }
}

/// The ordered set of changes that wait to be sent, with those under way kept apart.
///
/// One change waits for an ID at most: adding the same again keeps the first position, adding the
/// opposite replaces it in place (cksyncengine 2.4). A change that was taken for a request is
/// under way until it is settled; the same ID may be added meanwhile, and that newer change
/// survives whatever becomes of the older one.
///
/// Complexity: every operation on one ID is O(1) on average; listing is O(n). Order is kept in an
/// array with holes, which is compacted when more than half of it is holes.
package struct PendingChanges<ID: Hashable & Sendable>: Sendable {
  private struct Slot: Sendable {
    var change: PendingChange<ID>
    var isUnderWay: Bool
    /// Whether a change under way goes back to waiting when the request fails for now.
    var mayReturn: Bool
  }

  private var slots: [Slot?] = []
  private var waitingIndex: [ID: Int] = [:]
  private var underWayIndex: [ID: Int] = [:]

  /// Nothing pending.
  package init() {}

  /// How many changes wait.
  package var count: Int { waitingIndex.count }

  /// How many changes are under way.
  package var underWayCount: Int { underWayIndex.count }

  /// Whether no change waits.
  package var isEmpty: Bool { waitingIndex.isEmpty }

  /// The change that waits for `id`.
  package func waiting(for id: ID) -> ChangeKind? {
    guard let index = waitingIndex[id] else { return nil }
    return slots[index]?.change.kind
  }

  /// Whether a change of `id` is under way.
  package func isUnderWay(_ id: ID) -> Bool { underWayIndex[id] != nil }

  /// The change of `id` that would be remembered across a restart; see `unsettled`.
  package func unsettledKind(of id: ID) -> ChangeKind? {
    if let kind = waiting(for: id) { return kind }
    guard let index = underWayIndex[id], let slot = slots[index], slot.mayReturn else { return nil }
    return slot.change.kind
  }

  /// The changes that wait, in the order they were added.
  package var waiting: [PendingChange<ID>] {
    var changes: [PendingChange<ID>] = []
    changes.reserveCapacity(waitingIndex.count)
    for slot in slots {
      if let slot, !slot.isUnderWay { changes.append(slot.change) }
    }
    return changes
  }

  /// The first changes that wait and satisfy `isIncluded`, at most `limit`, in order.
  package func prefix(
    _ limit: Int, where isIncluded: (PendingChange<ID>) -> Bool
  ) -> [PendingChange<ID>] {
    var changes: [PendingChange<ID>] = []
    for slot in slots {
      guard changes.count < limit else { break }
      if let slot, !slot.isUnderWay, isIncluded(slot.change) { changes.append(slot.change) }
    }
    return changes
  }

  /// What has to be remembered across a restart: everything not settled, in order, one change an
  /// ID; a change under way counts unless a newer one waits for the same ID.
  package var unsettled: [PendingChange<ID>] {
    var changes: [PendingChange<ID>] = []
    changes.reserveCapacity(waitingIndex.count + underWayIndex.count)
    for slot in slots {
      guard let slot else { continue }
      let isSuperseded = slot.isUnderWay && waitingIndex[slot.change.id] != nil
      if !isSuperseded, slot.mayReturn { changes.append(slot.change) }
    }
    return changes
  }

  /// Adds a change; answers whether anything is different now.
  @discardableResult
  package mutating func add(_ change: PendingChange<ID>) -> Bool {
    if let index = waitingIndex[change.id] {
      guard slots[index]?.change.kind != change.kind else { return false }
      slots[index]?.change = change
      return true
    }
    waitingIndex[change.id] = slots.count
    slots.append(Slot(change: change, isUnderWay: false, mayReturn: true))
    return true
  }

  /// Removes a change; one that is under way will not return.
  ///
  /// Answers whether anything is different now.
  @discardableResult
  package mutating func remove(_ change: PendingChange<ID>) -> Bool {
    var isDifferent = false
    if let index = underWayIndex[change.id], let slot = slots[index], slot.mayReturn,
      slot.change == change
    {
      slots[index]?.mayReturn = false
      isDifferent = true
    }
    if let index = waitingIndex[change.id], slots[index]?.change == change {
      waitingIndex[change.id] = nil
      vacate(index)
      isDifferent = true
    }
    return isDifferent
  }

  /// Moves a waiting change under way; answers whether exactly that change was waiting.
  package mutating func take(_ change: PendingChange<ID>) -> Bool {
    guard underWayIndex[change.id] == nil, let index = waitingIndex[change.id],
      slots[index]?.change == change
    else { return false }
    slots[index]?.isUnderWay = true
    waitingIndex[change.id] = nil
    underWayIndex[change.id] = index
    return true
  }

  /// What is remembered of an ID after its change under way was settled.
  package enum Remainder: Hashable, Sendable {
    /// Something still waits for the ID.
    case waiting(ChangeKind)
    /// Nothing is left of it.
    case nothing
  }

  /// Ends a change under way; `returns` puts it back in its place, unless a newer change waits
  /// for the same ID or the app removed it meanwhile.
  @discardableResult
  package mutating func settle(_ id: ID, returns: Bool) -> Remainder {
    if let index = underWayIndex.removeValue(forKey: id) {
      let mayReturn = slots[index]?.mayReturn ?? false
      if returns, mayReturn, waitingIndex[id] == nil {
        slots[index]?.isUnderWay = false
        waitingIndex[id] = index
      } else {
        vacate(index)
      }
    }
    return waiting(for: id).map(Remainder.waiting) ?? .nothing
  }

  /// Puts everything under way back in its place, as after a request whose fate is unknown.
  package mutating func returnAll() {
    for slot in slots {
      if let slot, slot.isUnderWay { settle(slot.change.id, returns: true) }
    }
  }

  private mutating func vacate(_ index: Int) {
    slots[index] = nil
    let alive = waitingIndex.count + underWayIndex.count
    if slots.count > 64, slots.count > 2 * alive { compact() }
  }

  private mutating func compact() {
    slots = slots.filter { $0 != nil }
    for (index, slot) in slots.enumerated() {
      guard let slot else { continue }
      if slot.isUnderWay {
        underWayIndex[slot.change.id] = index
      } else {
        waitingIndex[slot.change.id] = index
      }
    }
  }
}

extension PendingChanges: Equatable {
  /// Whether the same would be remembered across a restart.
  package static func == (first: PendingChanges, second: PendingChanges) -> Bool {
    first.unsettled == second.unsettled
  }
}
