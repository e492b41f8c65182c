import Records
import SyncMachine
import Synchronization

/// The list of what waits, as the app is given it.
typealias EngineListing = PendingListing<RecordID, CKSyncEngine.PendingRecordZoneChange>

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
      listing.follow(changes) { CKSyncEngine.PendingRecordZoneChange($0) }
      return listing.elements
    }
  }

  /// Lets the list go, as a send has ended.
  func dropListing() { listing.withLock { $0 = EngineListing() } }
}
