import Records
import SyncMachine
import Synchronization

/// The list of pending changes for the app; each element is created once.
struct EngineListing: Sendable {
  private(set) var elements: [CKSyncEngine.PendingRecordZoneChange] = []
  private var listing = PendingListing<RecordID>()

  /// Updates the elements to the pending changes in `changes`.
  mutating func follow(_ changes: PendingChanges<RecordID>) {
    guard let steps = listing.follow(changes) else { return }
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

extension EngineDriver {
  /// The pending record changes.
  ///
  /// Apps read the whole list for every batch of a send. During a send the list is kept, and sent
  /// changes are removed from it; afterwards it is released to save memory.
  var pendingRecordZoneChanges: [CKSyncEngine.PendingRecordZoneChange] {
    listing.withLock { listing in
      let (changes, isSending) = core.withLock { core in
        (core.machine.state.records.snapshot, core.machine.stage.isSend)
      }
      guard isSending else {
        listing = EngineListing()
        return changes.pending.map { CKSyncEngine.PendingRecordZoneChange($0) }
      }
      listing.follow(changes)
      return listing.elements
    }
  }

  /// Releases the list after a send.
  func dropListing() { listing.withLock { $0 = EngineListing() } }
}
