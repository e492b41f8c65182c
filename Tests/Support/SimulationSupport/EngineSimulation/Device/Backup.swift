import CloudSync
import Records
import SyncMachine

/// The app's data and the engine's state of one moment, from which a device can be restored.
struct Backup {
  /// The engine's state in the form in which the app or the store had it.
  enum Held {
    /// The value that a `stateUpdate` event handed over, or the engine's at that moment.
    case value(CKSyncEngine.State.Serialization, Situation.Restart)
    /// The disk with the state log, and the checker's list of what it must hold.
    case log(SimulatedDisk, PendingChangeChecker)
  }

  var model: AppModel
  var held: Held
}

/// The state with which the next run of an app starts.
enum RestartState {
  case nothing
  /// The state log on the device's disk.
  case log
  /// A value in the form in which it was handed over, or encoded and decoded.
  case value(CKSyncEngine.State.Serialization, Situation.Restart)

  /// Creates the state that a backup restores; a log is on the disk.
  init(_ held: Backup.Held, isEncoded: Bool) {
    switch held {
    case .value(let state, let kind): self = .value(state, isEncoded ? .encoded : kind)
    case .log: self = .log
    }
  }

  /// The situation that a start with it is.
  var kind: Situation.Restart? {
    switch self {
    case .nothing: nil
    case .log: .log
    case .value(_, let kind): kind
    }
  }

  /// The state that the app had stored; `nil` for a log.
  var given: CKSyncEngine.State.Serialization? {
    guard case .value(let state, _) = self else { return nil }
    return state
  }

  /// The state in it.
  var kept: SyncState? { given?.value }
}

extension SyncState {
  /// Whether a request with changes was under way when this was taken.
  var hasChangesInFlight: Bool {
    records.unsettled.count != records.pending.count || zones.unsettled.count != zones.pending.count
  }

  /// The first change of `kept` that an engine restored from it lacks; `nil` if it has all.
  ///
  /// A request ends with its run: whatever was under way waits again.
  func lossOfChanges(since kept: SyncState) -> String? {
    for change in kept.records.unsettled where records.pending(for: change.id) != change.kind {
      return "\(change.kind) of \(change.id.path) was under way and is not pending after a restart"
    }
    for change in kept.zones.unsettled where zones.pending(for: change.id) != change.kind {
      return "\(change.kind) of \(change.id.name) was under way and is not pending after a restart"
    }
    return nil
  }
}
