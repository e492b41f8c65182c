import CloudSync
import Foundation
import Synchronization

/// Deletions that nobody can tell of any more: when the place in a zone's history is lost, the
/// zone is read from its beginning, and what was deleted meanwhile just does not come.
extension CloudSyncEngine {
  /// Begins to note what a zone shows that is read from its beginning.
  func beginSweep(_ fetch: CKSyncEngine.Event.WillFetchRecordZoneChanges) {
    guard fetch.zoneID == zoneID else { return }
    state.withLock { $0.sweep = fetch.startsOver ? [] : nil }
  }

  /// Notes what there is.
  func noteSeen(_ changes: CKSyncEngine.Event.FetchedRecordZoneChanges) {
    state.withLock { state in
      guard state.sweep != nil else { return }
      for modification in changes.modifications {
        state.sweep?.insert(modification.record.recordID.recordName)
      }
    }
  }

  /// Tells the stores what the cloud once had and did not show any more.
  func finishSweep(
    _ fetch: CKSyncEngine.Event.DidFetchRecordZoneChanges, _ list: any PendingChangeList
  ) {
    guard fetch.zoneID == zoneID else { return }
    var news = NewsByStore()
    state.withLock { state in
      guard let seen = state.sweep else { return }
      state.sweep = nil
      guard fetch.error == nil else { return }
      for name in state.metadata.names where !seen.contains(name) {
        let recordID = CKRecord.ID(recordName: name, zoneID: zoneID)
        guard let id = UUID(uuidString: name), let record = state.metadata.record(recordID)
        else { continue }
        news.add(.removed(id), type: record.recordType)
      }
    }
    deliver(news, list)
  }
}
