import CloudSync

/// The list of changes that wait to be sent: the engine's own, or one that a test looks into.
protocol PendingChangeList: AnyObject, Sendable {
  /// The record changes that wait.
  var pendingRecordZoneChanges: [CKSyncEngine.PendingRecordZoneChange] { get }
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

extension CKSyncEngine.State: PendingChangeList {}
