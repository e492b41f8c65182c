import Records
import SyncMachine
import Synchronization

/// A list of pending changes for the app; each element is created once.
struct EngineListing: Sendable {
  private(set) var elements: [CKSyncEngine.PendingRecordZoneChange] = []
  private var listing = PendingListing<RecordID>()

  /// Updates the elements to the pending changes in `changes`.
  mutating func follow(_ changes: PendingChanges<RecordID>) {
    if let steps = listing.follow(changes) { follow(steps) }
  }

  /// Updates the elements to the first pending changes in `scope`, at most `limit`.
  mutating func follow(
    _ changes: PendingChanges<RecordID>, first limit: Int, in scope: SendScope
  ) {
    follow(listing.follow(changes, first: limit, in: scope))
  }

  private mutating func follow(_ steps: [PendingListing<RecordID>.Step]) {
    let kept = steps.prefix { step in
      if case .keep = step { true } else { false }
    }
    let isAppended = steps[kept.count...].allSatisfy { step in
      if case .make = step { true } else { false }
    }
    if kept.count <= 8, isAppended { drop(allBut: kept) } else { rebuild(kept) }
    for step in steps[kept.count...] {
      switch step {
      case .keep(let range): elements += old[range]
      case .make(let change): elements.append(CKSyncEngine.PendingRecordZoneChange(change))
      }
    }
    old = []
  }

  /// The previous list, while the new one is built from its parts.
  private var old: [CKSyncEngine.PendingRecordZoneChange] = []

  /// Removes the other elements; the kept ones are moved in blocks.
  private mutating func drop(allBut kept: ArraySlice<PendingListing<RecordID>.Step>) {
    var end = elements.count
    for case .keep(let range) in kept.reversed() {
      elements.removeSubrange(range.upperBound..<end)
      end = range.lowerBound
    }
    elements.removeSubrange(..<end)
  }

  private mutating func rebuild(_ kept: ArraySlice<PendingListing<RecordID>.Step>) {
    old = elements
    elements = []
    elements.reserveCapacity(old.count)
    for case .keep(let range) in kept { elements += old[range] }
  }
}

/// The lists that were last returned to the app during a send.
struct EngineListings: Sendable {
  private var whole = EngineListing()
  private var front = EngineListing()
  /// Whether the whole list was read since the last reading of its front.
  private var isWholeRead = false

  /// All pending changes.
  mutating func all(
    of changes: PendingChanges<RecordID>
  ) -> [CKSyncEngine.PendingRecordZoneChange] {
    isWholeRead = true
    whole.follow(changes)
    return whole.elements
  }

  /// The first pending changes in `scope`, at most `limit`.
  mutating func first(
    _ limit: Int, of changes: PendingChanges<RecordID>, in scope: SendScope
  ) -> [CKSyncEngine.PendingRecordZoneChange] {
    if !isWholeRead { whole = EngineListing() }
    isWholeRead = false
    front.follow(changes, first: limit, in: scope)
    return front.elements
  }
}

extension EngineDriver {
  /// The pending record changes; while the delegate builds a batch, those that it is shown.
  var pendingRecordZoneChanges: [CKSyncEngine.PendingRecordZoneChange] {
    CallbackMark.question?.list(by: self) ?? allPendingRecordZoneChanges
  }

  /// All pending record changes.
  ///
  /// During a send the list is kept, and sent changes are removed from it; afterwards it is
  /// released to save memory.
  var allPendingRecordZoneChanges: [CKSyncEngine.PendingRecordZoneChange] {
    listings.withLock { listings in
      let (changes, isSending) = core.withLock { core in
        (core.machine.state.records.snapshot, core.machine.stage.isSend)
      }
      guard isSending else {
        listings = EngineListings()
        return changes.pending.map { CKSyncEngine.PendingRecordZoneChange($0) }
      }
      return listings.all(of: changes)
    }
  }

  /// The first pending record changes in `scope`, if the machine limits what the app is shown.
  ///
  /// - Returns: `nil` when the app is shown all pending changes.
  func shownRecordZoneChanges(
    in scope: SendScope
  ) -> (list: [CKSyncEngine.PendingRecordZoneChange], isPart: Bool)? {
    listings.withLock { listings in
      core.withLock { core in
        let changes = core.machine.state.records
        guard let limit = core.machine.shownLimit.count, changes.count > limit else { return nil }
        let list = listings.first(limit, of: changes, in: scope)
        return (list, changes.pendingCount(in: scope) > limit)
      }
    }
  }

  /// Releases the lists after a send.
  func dropListings() { listings.withLock { $0 = EngineListings() } }
}
