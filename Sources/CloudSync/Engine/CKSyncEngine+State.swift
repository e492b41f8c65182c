import Records
import SyncMachine
import Synchronization

extension CKSyncEngine {
  /// What an engine has pending: a live view that any thread may read and change, also from
  /// inside delegate callbacks.
  ///
  /// Source: cksyncengine 2.4.
  public final class State: Sendable {
    private let driver: EngineDriver

    init(driver: EngineDriver) { self.driver = driver }

    /// The record changes that wait to be sent, in the order they were added.
    ///
    /// One change waits for a record at most. Changes under way are not listed; they come back
    /// when their request fails for now. While a send is under way, each call builds on the last;
    /// `pendingRecordZoneChanges(in:limit:)` lists no more than is needed.
    public var pendingRecordZoneChanges: [PendingRecordZoneChange] {
      driver.pendingRecordZoneChanges
    }

    /// The first record changes that wait to be sent and that `scope` contains, in the order they
    /// were added.
    ///
    /// For the next batch this is all that is needed of `pendingRecordZoneChanges`, and it costs
    /// the same however much is pending. Not in CloudKit.
    /// - Parameters:
    ///   - scope: The scope of the send, from the context's options.
    ///   - limit: The most changes to list; the most that one batch takes unless given.
    public func pendingRecordZoneChanges(
      in scope: CKSyncEngine.SendChangesOptions.Scope,
      limit: Int = 250
    ) -> [PendingRecordZoneChange] {
      let scope = scope.machineScope
      return driver.core.withLock { $0.machine.state.records.prefix(limit, in: scope) }
        .map { PendingRecordZoneChange($0) }
    }

    /// The zone changes that wait to be sent, in the order they were added.
    public var pendingDatabaseChanges: [PendingDatabaseChange] {
      driver.core.withLock { $0.machine.state.zones.waiting }.map {
        switch $0.kind {
        case .save: .saveZone(CKRecordZone(zoneID: CKRecordZone.ID($0.id)))
        case .delete: .deleteZone(CKRecordZone.ID($0.id))
        }
      }
    }

    /// Whether the app has changes that it does not list; setting it to `true` schedules a send in
    /// which the delegate is asked for a batch.
    ///
    /// Back to `false` when the delegate has nothing.
    public var hasPendingUntrackedChanges: Bool {
      get { driver.core.withLock { $0.machine.state.hasUntrackedChanges } }
      set {
        driver.move { core, now in core.machine.setHasUntrackedChanges(newValue, now: now) }
      }
    }

    /// Zones of which the server has told changes that the delegate has not been given.
    public var zoneIDsWithUnfetchedServerChanges: [CKRecordZone.ID] {
      driver.core.withLock { $0.machine.state.changedZones }.map { CKRecordZone.ID($0) }
    }

    /// Adds record changes; the same one again is no news, the opposite one replaces it.
    ///
    /// With a state store the changes are durable when this returns.
    /// - Parameter pendingRecordZoneChanges: The changes, in the order they should be sent.
    public func add(pendingRecordZoneChanges: [PendingRecordZoneChange]) {
      let changes = pendingRecordZoneChanges.map(\.value)
      driver.trace("add", changes: changes.count)
      driver.move { core, now in core.machine.add(changes, now: now) }
    }

    /// Removes record changes; one under way is not sent again when it fails.
    ///
    /// With a state store this is durable when it returns, like an addition: an app that takes a
    /// change back writes its data down first, or nobody would send it after a crash in between.
    /// - Parameter pendingRecordZoneChanges: The changes; those not pending are ignored.
    public func remove(pendingRecordZoneChanges: [PendingRecordZoneChange]) {
      let changes = pendingRecordZoneChanges.map(\.value)
      driver.trace("remove", changes: changes.count)
      driver.move { core, now in core.machine.remove(changes, now: now) }
    }

    /// Adds zone changes; they are sent before record changes.
    ///
    /// With a state store the changes are durable when this returns.
    /// - Parameter pendingDatabaseChanges: The changes, in the order they should be sent.
    public func add(pendingDatabaseChanges: [PendingDatabaseChange]) {
      let changes = pendingDatabaseChanges.map(\.value)
      driver.trace("add", changes: changes.count)
      driver.move { core, now in core.machine.add(changes, now: now) }
    }

    /// Removes zone changes; one under way is not sent again when it fails.
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
