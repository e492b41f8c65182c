// The lead's file: minimal declarations so that stores compile; the driver replaces it.

import Synchronization

extension CKSyncEngine {
  /// What waits to be sent, and what is known of the server.
  public final class State: Sendable {
    private struct Values {
      var records: [PendingRecordZoneChange] = []
      var zones: [PendingDatabaseChange] = []
      var isUntracked = false
    }

    private let values = Mutex(Values())

    init(_ serialization: Serialization?) {}

    /// The changes of records that wait to be sent, in the order they were added.
    public var pendingRecordZoneChanges: [CKSyncEngine.PendingRecordZoneChange] {
      values.withLock { $0.records }
    }

    /// The changes of zones that wait to be sent, in the order they were added.
    public var pendingDatabaseChanges: [CKSyncEngine.PendingDatabaseChange] {
      values.withLock { $0.zones }
    }

    /// Whether the delegate has changes that are not in the list.
    public var hasPendingUntrackedChanges: Bool {
      get { values.withLock { $0.isUntracked } }
      set { values.withLock { $0.isUntracked = newValue } }
    }

    /// The zones known to hold changes that were not fetched yet.
    public var zoneIDsWithUnfetchedServerChanges: [CKRecordZone.ID] { [] }

    /// Adds changes of records.
    public func add(pendingRecordZoneChanges: [CKSyncEngine.PendingRecordZoneChange]) {
      values.withLock { $0.records += pendingRecordZoneChanges }
    }

    /// Removes changes of records.
    public func remove(pendingRecordZoneChanges: [CKSyncEngine.PendingRecordZoneChange]) {
      values.withLock { $0.records.removeAll { pendingRecordZoneChanges.contains($0) } }
    }

    /// Adds changes of zones.
    public func add(pendingDatabaseChanges: [CKSyncEngine.PendingDatabaseChange]) {
      values.withLock { $0.zones += pendingDatabaseChanges }
    }

    /// Removes changes of zones.
    public func remove(pendingDatabaseChanges: [CKSyncEngine.PendingDatabaseChange]) {
      values.withLock { $0.zones.removeAll { pendingDatabaseChanges.contains($0) } }
    }

    /// The state in the form apps store; opaque.
    public struct Serialization: Codable, Sendable {
      var data: [UInt8] = []
    }
  }
}
