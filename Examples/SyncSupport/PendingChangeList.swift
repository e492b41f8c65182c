import CloudSync

/// The list of changes that wait to be sent: the engine's own, or one that a test looks into.
protocol PendingChangeList: AnyObject, Sendable {
  /// The record changes that wait.
  var pendingRecordZoneChanges: [CKSyncEngine.PendingRecordZoneChange] { get }
  /// The first record changes that wait and that `scope` contains, `limit` at most.
  func firstPendingRecordZoneChanges(
    in scope: CKSyncEngine.SendChangesOptions.Scope, limit: Int
  ) -> [CKSyncEngine.PendingRecordZoneChange]
  /// The zone changes that wait.
  var pendingDatabaseChanges: [CKSyncEngine.PendingDatabaseChange] { get }
  /// Adds record changes.
  func add(pendingRecordZoneChanges: [CKSyncEngine.PendingRecordZoneChange])
  /// Removes record changes.
  func remove(pendingRecordZoneChanges: [CKSyncEngine.PendingRecordZoneChange])
  /// Adds zone changes.
  func add(pendingDatabaseChanges: [CKSyncEngine.PendingDatabaseChange])
  /// Removes zone changes.
  func remove(pendingDatabaseChanges: [CKSyncEngine.PendingDatabaseChange])
}

extension PendingChangeList {
  /// The most changes one batch takes.
  private static var batchLimit: Int { 250 }

  /// The next batch in `scope`; `nil` when nothing is left to send.
  ///
  /// Looks at no more changes than a batch takes, unless there turns out to be no record any more
  /// for any of them.
  func nextBatch(
    in scope: CKSyncEngine.SendChangesOptions.Scope,
    record: @escaping @Sendable (CKRecord.ID) -> CKRecord?
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    var seen: Set<CKSyncEngine.PendingRecordZoneChange> = []
    while true {
      let pending = firstPendingRecordZoneChanges(in: scope, limit: Self.batchLimit)
      // What was looked at and waits again has no record either way.
      guard pending.contains(where: { !seen.contains($0) }) else { return nil }
      let batch = await CKSyncEngine.RecordZoneChangeBatch(
        pendingChanges: pending, recordProvider: record)
      if let batch { return batch }
      seen.formUnion(pending)
    }
  }
}
