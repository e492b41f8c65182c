import Records
import SyncMachine
import Synchronization

/// The list of what waits, as the app is given it: every element is made once.
struct EngineListing: Sendable {
  private(set) var elements: [CKSyncEngine.PendingRecordZoneChange] = []
  private var listing = PendingListing<RecordID>()

  /// Brings the elements to what waits in `changes`.
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

  /// What the list was, while it is put together from its pieces.
  private var old: [CKSyncEngine.PendingRecordZoneChange] = []

  /// Takes out what is not kept; what stays is moved, and not touched one by one.
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
  /// The record changes that wait.
  ///
  /// An app asks for the whole list for every batch of a send. While one is under way the list is
  /// kept, and what was sent since is taken out of it; afterwards it would only take up room.
  var pendingRecordZoneChanges: [CKSyncEngine.PendingRecordZoneChange] {
    listing.withLock { listing in
      let (changes, isSending) = core.withLock { core in
        (core.machine.state.records.snapshot, core.machine.stage.isSend)
      }
      guard isSending else {
        listing = EngineListing()
        return changes.waiting.map { CKSyncEngine.PendingRecordZoneChange($0) }
      }
      listing.follow(changes)
      return listing.elements
    }
  }

  /// Lets the list go, as a send has ended.
  func dropListing() { listing.withLock { $0 = EngineListing() } }
}
