import Records
import SyncMachine
import Synchronization

extension CKSyncEngine {
  /// The pending changes of an engine: a live view that can be read and changed from any thread,
  /// including delegate callbacks.
  ///
  /// See CE-45 to CE-58.
  public final class State: Sendable {
    private let driver: EngineDriver

    init(driver: EngineDriver) { self.driver = driver }

    /// The pending record changes, in the order in which they were added.
    ///
    /// A record has at most one pending change. Changes in flight are not listed; they are pending
    /// again after a transient failure. During a send each call reuses the last result.
    ///
    /// In `nextRecordZoneChangeBatch`, a delegate that reads the list once in each call and sends
    /// its front in its order is shown only the front when more than 10,000 changes are pending. A
    /// second reading in the same call lists everything, and so does the next call if the delegate
    /// returns no batch. See CE-170 to CE-172.
    public var pendingRecordZoneChanges: [PendingRecordZoneChange] {
      driver.pendingRecordZoneChanges
    }

    /// The first pending record changes in `scope`, in the order in which they were added.
    ///
    /// Sufficient for the next batch, at a cost that does not depend on the number of pending
    /// changes. Not in CloudKit.
    /// - Parameters:
    ///   - scope: The scope of the send, from the context's options.
    ///   - limit: The maximum number of changes; by default that of a batch.
    public func pendingRecordZoneChanges(
      in scope: CKSyncEngine.SendChangesOptions.Scope,
      limit: Int = 250
    ) -> [PendingRecordZoneChange] {
      let scope = scope.machineScope
      return driver.core.withLock { $0.machine.state.records.prefix(limit, in: scope) }
        .map { PendingRecordZoneChange($0) }
    }

    /// The pending zone changes, in the order in which they were added.
    public var pendingDatabaseChanges: [PendingDatabaseChange] {
      driver.core.withLock { $0.machine.state.zones.pending }.map {
        switch $0.kind {
        case .save: .saveZone(CKRecordZone(zoneID: CKRecordZone.ID($0.id)))
        case .delete: .deleteZone(CKRecordZone.ID($0.id))
        }
      }
    }

    /// Whether the app has untracked changes.
    ///
    /// Setting it to `true` schedules a send in which the delegate is asked for a batch.
    ///
    /// The engine sets it to `false` when the delegate returns no batch.
    public var hasPendingUntrackedChanges: Bool {
      get { driver.core.withLock { $0.machine.state.hasUntrackedChanges } }
      set {
        driver.move { core, now in core.machine.setHasUntrackedChanges(newValue, now: now) }
      }
    }

    /// The zones with changes on the server that were not delivered to the delegate yet.
    public var zoneIDsWithUnfetchedServerChanges: [CKRecordZone.ID] {
      driver.core.withLock { $0.machine.state.changedZones }.map { CKRecordZone.ID($0) }
    }

    /// Adds pending record changes.
    ///
    /// Adding a change that is already pending has no effect; the opposite change replaces it.
    ///
    /// With a state store the changes are durable when this returns.
    /// - Parameter pendingRecordZoneChanges: The changes, in the order in which to send them.
    public func add(pendingRecordZoneChanges: [PendingRecordZoneChange]) {
      let changes = pendingRecordZoneChanges.map(\.value)
      driver.trace("add", changes: changes.count)
      driver.move { core, now in core.machine.add(changes, now: now) }
    }

    /// Removes pending record changes.
    ///
    /// A change in flight is not retried when it fails.
    ///
    /// With a state store the removal is durable when this returns. The app stores its own data
    /// first; otherwise the change could be lost in a crash in between.
    /// - Parameter pendingRecordZoneChanges: The changes; those not pending are ignored.
    public func remove(pendingRecordZoneChanges: [PendingRecordZoneChange]) {
      let changes = pendingRecordZoneChanges.map(\.value)
      driver.trace("remove", changes: changes.count)
      driver.move { core, now in core.machine.remove(changes, now: now) }
    }

    /// Adds pending zone changes, which are sent before record changes.
    ///
    /// With a state store the changes are durable when this returns.
    /// - Parameter pendingDatabaseChanges: The changes, in the order in which to send them.
    public func add(pendingDatabaseChanges: [PendingDatabaseChange]) {
      let changes = pendingDatabaseChanges.map(\.value)
      driver.trace("add", changes: changes.count)
      driver.move { core, now in core.machine.add(changes, now: now) }
    }

    /// Removes pending zone changes.
    ///
    /// A change in flight is not retried when it fails.
    ///
    /// - Parameter pendingDatabaseChanges: The changes; those not pending are ignored.
    public func remove(pendingDatabaseChanges: [PendingDatabaseChange]) {
      let changes = pendingDatabaseChanges.map(\.value)
      driver.trace("remove", changes: changes.count)
      driver.move { core, now in core.machine.remove(changes, now: now) }
    }
  }
}

extension CKSyncEngine.PendingRecordZoneChange {
  init(_ change: PendingChange<RecordID>) {
    switch change.kind {
    case .save: self = .saveRecord(CKRecord.ID(change.id))
    case .delete: self = .deleteRecord(CKRecord.ID(change.id))
    }
  }

  var value: PendingChange<RecordID> {
    switch self {
    case .saveRecord(let id): PendingChange(.save, id.value)
    case .deleteRecord(let id): PendingChange(.delete, id.value)
    }
  }
}

extension CKSyncEngine.PendingDatabaseChange {
  var value: PendingChange<ZoneID> {
    switch self {
    case .saveZone(let zone): PendingChange(.save, zone.zoneID.value)
    case .deleteZone(let id): PendingChange(.delete, id.value)
    }
  }
}
