import CloudProtocol
import Records
import SyncMachine

/// The app's handling of fetched changes and of accounts.
extension AppModel {
  /// Handles one event; the device carries out `calls` afterwards.
  mutating func handle(_ event: SyncEvent) {
    switch event {
    case .stateUpdate, .willFetchChanges, .willSendChanges, .didSendChanges: break
    case .accountChange(let change): handle(change)
    case .fetchedDatabaseChanges(let modified, let deleted):
      for zone in modified { if let zone = layout.number(of: zone) { knownZones[zone] = true } }
      for deletion in deleted { handle(deletion) }
    case .willFetchZoneChanges(let zone, let startsOver):
      sweep = startsOver ? layout.number(of: zone).map { Sweep(zone: $0) } : nil
    case .fetchedZoneChanges(let modified, let deleted):
      for record in modified { accept(record) }
      for deletion in deleted { accept(deletion) }
    case .didFetchZoneChanges(_, let error):
      if error == nil { finishSweep() }
      sweep = nil
    case .didFetchChanges: sweep = nil
    case .sentDatabaseChanges(let sent): handle(sent)
    case .sentRecordChanges(let sent): handle(sent)
    }
  }

  /// Data of another account goes before anything else happens; unconfirmed data of the new owner,
  /// or of nobody, is added again, for the engine forgot what was pending.
  private mutating func handle(_ change: AccountChange) {
    let current = change.current
    if let owner, owner != current {
      for zone in layout.zones.indices { drop(zone) }
    }
    owner = current
    forgetConfirmed()
    readdDirty()
  }

  private mutating func handle(_ deletion: ZoneDeletion) {
    guard let zone = layout.number(of: deletion.zone) else { return }
    switch deletion.reason {
    case .deleted, .purged: drop(zone)
    case .encryptedDataReset:
      knownZones[zone] = false
      for place in layout.places(of: zone) {
        entries[place].tag = nil
        if entries[place].value != nil {
          entries[place].isDirty = true
          wantSent(place)
        } else {
          confirm(place)
        }
      }
    }
  }

  /// Takes a record of the server, unless an edit here is to win.
  mutating func accept(_ record: Record) {
    guard let place = layout.place(of: record.id), let value = SimulatedValue(record, at: place)
    else { return }
    sweep?.given.insert(place)
    entries[place].tag = record.changeTag
    entries[place].confirmed = value
    if !entries[place].isDirty {
      entries[place].value = value
    } else if let own = entries[place].value {
      if own == value {
        confirm(place)  // Our own edit, whose confirmation was lost.
      } else if policy.serverWins || value.sequence > own.sequence {
        entries[place].value = value
        confirm(place)
      }
    }
    // A deletion here stays one: it goes out whatever the server holds.
  }

  private mutating func accept(_ deletion: RecordDeletion) {
    guard let place = layout.place(of: deletion.id) else { return }
    sweep?.given.insert(place)
    isGone(place)
  }

  /// The server has no record at `place`.
  mutating func isGone(_ place: Int) {
    entries[place].tag = nil
    if entries[place].isDirty, entries[place].value != nil, !policy.deletionWins { return }
    entries[place].value = nil
    confirm(place)
  }

  /// Removes the records that the server once held and did not return.
  private mutating func finishSweep() {
    guard let sweep else { return }
    for place in layout.places(of: sweep.zone)
    where !sweep.given.contains(place) && entries[place].tag != nil {
      isGone(place)
    }
  }
}

extension AccountChange {
  /// The current user.
  var current: UserID? {
    switch self {
    case .signIn(let user): user
    case .signOut: nil
    case .switchAccounts(_, let user): user
    }
  }
}
