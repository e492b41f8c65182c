import Foundation
import Synchronization

/// The engine's delegate: it hands everything to the store, which it does not retain.
final class EngineDelegate: CKSyncEngineDelegate {
  /// Set by the initializer alone; a weak reference has to be a variable for Swift 6.2.
  private nonisolated(unsafe) weak var store: SyncedStore?

  init(_ store: SyncedStore) {
    self.store = store
  }

  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    store?.handle(event, of: syncEngine)
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    await store?.nextBatch(context.options.scope, of: syncEngine)
  }

  func nextFetchChangesOptions(
    _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.FetchChangesOptions {
    var options = context.options
    if let scope = store?.state.withLock({ $0.table.fetchScope }) { options.scope = scope }
    return options
  }
}

extension SyncedStore {
  /// The number of state updates that may wait for the end of a long fetch or send.
  private static let mostPutOff = 16

  /// The number of pending changes that a batch looks at.
  private static let batchSize = 250

  /// Handles an event; those of an engine that is not the current one are ignored.
  func handle(_ event: CKSyncEngine.Event, of engine: CKSyncEngine) {
    state.withLock { state in
      guard state.run?.engine === engine else { return }
      take(event, &state)
    }
  }

  func take(_ event: CKSyncEngine.Event, _ state: inout State) {
    switch event {
    case .stateUpdate(let update):
      state.run?.engineState.unsaved = update.stateSerialization
      state.run?.engineState.updates += 1
      // A state lists the pending changes, and the items' file has those of the store itself. So a
      // state with only these waits for the next fetch or send, which stores it from time to time.
      guard let engineState = state.run?.engineState else { return }
      let isDue =
        state.isIdle ? !engineState.hasOwnChanges : engineState.updates >= Self.mostPutOff
      if isDue { storeOrNote(&state) }
    case .accountChange(let change):
      switch change.changeType {
      case .signIn(let user): state.table.takeSignIn(user)
      case .signOut: state.table.takeAccountChange(to: nil)
      case .switchAccounts(_, let user): state.table.takeAccountChange(to: user)
      @unknown default: break
      }
      settle(&state)
    case .fetchedDatabaseChanges(let changes):
      for deletion in changes.deletions {
        guard state.table.accepts(deletion.zoneID) else {
          state.table.updateZone(deletion.zoneID) { $0.exists = false }
          continue
        }
        state.table.takeZoneDeletion(deletion.zoneID, deletion.reason)
        state.run?.readZones[deletion.zoneID] = nil
      }
      for modification in changes.modifications {
        state.table.takeZone(modification.zoneID)
        state.run?.firstFetch?.found.insert(modification.zoneID)
      }
      settle(&state)
    case .fetchedRecordZoneChanges(let changes):
      take(changes, &state)
      settle(&state)
    case .sentDatabaseChanges(let sent):
      for zone in sent.savedZones { state.table.takeZone(zone.zoneID) }
      for failure in sent.failedZoneSaves {
        state.table.takeFailedZone(failure.zone.zoneID, failure.error)
      }
      settle(&state)
    case .sentRecordZoneChanges(let sent):
      for record in sent.savedRecords {
        state.run?.readZones[record.recordID.zoneID]?.records.insert(record.recordID)
      }
      state.table.take(sent)
      settle(&state)
    case .willFetchChanges, .willSendChanges: state.run?.operations += 1
    case .didFetchChanges, .didSendChanges: operationEnded(event, &state)
    case .willFetchRecordZoneChanges(let fetch):
      let isFirst = state.run?.firstFetch?.begun.insert(fetch.zoneID).inserted == true
      // An interrupted read continues with the next page.
      guard fetch.readsWholeZone || isFirst else { break }
      let hasRecords = state.table.hasRecords(in: fetch.zoneID)
      state.run?.readZones[fetch.zoneID] = hasRecords ? ZoneRead() : nil
    case .didFetchRecordZoneChanges(let fetch):
      if fetch.error == nil { state.run?.readZones[fetch.zoneID]?.hasEnded = true }
    @unknown default: break
    }
  }

  private func take(
    _ changes: CKSyncEngine.Event.FetchedRecordZoneChanges, _ state: inout State
  ) {
    for record in changes.modifications.map(\.record)
    where state.table.accepts(record.recordID.zoneID) {
      state.run?.readZones[record.recordID.zoneID]?.records.insert(record.recordID)
      state.table.takeZone(record.recordID.zoneID)
      state.table.take(record)
    }
    for id in changes.deletions.map(\.recordID) where state.table.accepts(id.zoneID) {
      state.run?.readZones[id.zoneID]?.records.remove(id)
      state.table.takeDeletion(id)
    }
  }

  private func operationEnded(_ event: CKSyncEngine.Event, _ state: inout State) {
    if !state.isIdle { state.run?.operations -= 1 }
    let ended = state.run?.readZones.filter(\.value.hasEnded) ?? [:]
    for (zone, read) in ended.sorted(by: { $0.key.zoneName < $1.key.zoneName }) {
      state.run?.readZones[zone] = nil
      state.table.takeZone(zone, has: read.records)
    }
    settle(&state)
    storeOrNote(&state)
    fetchForZones(&state)
  }

  /// Carries out what the table asks for after an event.
  func settle(_ state: inout State) {
    state.table.removeSurplus(shown: true)
    // At once: what was removed must not outlive a crash.
    if state.table.effects.isErased { state.mustRewrite = true }
    if state.table.effects.isWiped {
      state.run?.engineState = EngineState()
      state.run?.readZones = [:]
      state.recoveries = []
      // First: once the files are those of another account, nothing leads to the copies.
      note(&state) { state throws(FileError) in try state.journal.removeCopies() }
      note(&state) { state throws(FileError) in
        try state.flush()
        try stateFile.remove()
      }
    }
    if !state.table.missingZones.isEmpty { state.run?.needsFetch = true }
    state.act()
    if state.isIdle { storeOrNote(&state) }
    state.tellStatus()
  }

  /// Fetches to learn what became of a zone, unless a sync is about to do it.
  private func fetchForZones(_ state: inout State) {
    guard let run = state.run, run.connection?.isAutomatic == true, run.fetchTask == nil,
      state.syncs == 0
    else { return }
    let mayLackZones = run.firstFetch.map { first in
      first.mayLackZones && !state.table.knownZones.isSubset(of: first.found)
    }
    state.run?.firstFetch?.mayLackZones = mayLackZones == true
    guard run.needsFetch || mayLackZones == true else { return }
    let engine = run.engine
    // Detached: a task made in a callback of the engine counts as a part of the callback, which may
    // not fetch.
    state.run?.fetchTask = Task.detached { [weak self] in
      // After an error the end of the engine's next operation comes here again.
      let hasFetched = (try? await self?.fetchChanges()) != nil
      guard let self else { return }
      self.state.withLock { state in
        guard state.run?.engine === engine else { return }
        state.run?.fetchTask = nil
        // A send may have found another zone missing meanwhile.
        if hasFetched { self.fetchForZones(&state) }
      }
    }
  }

  /// Stores the items, then the engine's state: the state must not know of what a crash could still
  /// take from the items.
  ///
  /// The state is not stored during the read of a whole zone: records that the read does not show
  /// were deleted, and a run that began in its middle could not find them.
  func store(_ state: inout State) throws {
    state.run?.engineState.updates = 0
    state.run?.engineState.hasOwnChanges = false
    guard let run = state.run, let serialization = run.engineState.unsaved, run.readZones.isEmpty
    else { return try state.flush() }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    let data = try encoder.encode(serialization)
    var stored = EngineState(saved: data, isNotedOnly: run.engineState.isNotedOnly)
    if data != run.engineState.saved {
      state.table.settings.noteState(
        AtomicFile.checksum(data), replacingLast: run.engineState.isNotedOnly)
      state.run?.engineState.isNotedOnly = true
      try state.flush()
      try stateFile.write(data)
      stored.isNotedOnly = false
    }
    state.run?.engineState = stored
    state.table.activity.solve(.file(stateFile.url.lastPathComponent))
  }

  private func storeOrNote(_ state: inout State) {
    note(&state) { try store(&$0) }
  }

  private func note(_ state: inout State, _ body: (inout State) throws -> Void) {
    do {
      try body(&state)
    } catch {
      state.table.activity.note(.file(stateFile.url.lastPathComponent), nil, "\(error)")
    }
  }

  // MARK: Batches

  /// The next batch; `nil` if nothing is left to send.
  func nextBatch(
    _ scope: CKSyncEngine.SendChangesOptions.Scope, of engine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    guard state.withLock({ $0.run?.engine === engine }) else { return nil }
    return await nextBatch(scope, engine.state)
  }

  func nextBatch(
    _ scope: CKSyncEngine.SendChangesOptions.Scope, _ pending: any PendingChanges
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    var seen: Set<CKSyncEngine.PendingRecordZoneChange> = []
    while true {
      let listed = pending.first(Self.batchSize, in: scope)
      // A change that was looked at before has no record.
      guard listed.contains(where: { !seen.contains($0) }) else { return nil }
      let changes = current(of: listed, pending)
      let batch = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { id in
        self.state.withLock { $0.table.recordToSend(id) }
      }
      if let batch {
        storeHandedOver()
        return batch
      }
      seen.formUnion(listed)
    }
  }

  /// The changes that the table has, too; the others are removed from the engine's list.
  ///
  /// An engine that starts with an older state lists what was settled or given up after it.
  private func current(
    of changes: [CKSyncEngine.PendingRecordZoneChange], _ pending: any PendingChanges
  ) -> [CKSyncEngine.PendingRecordZoneChange] {
    state.withLock { state in
      let settled = changes.filter { !state.table.isPending($0) }
      if !settled.isEmpty { pending.remove(pendingRecordZoneChanges: settled) }
      return changes.filter { state.table.isPending($0) }
    }
  }

  /// Stores that the server may have what is sent now: if the answer is lost in a crash, a deletion
  /// by another device must still be followed.
  private func storeHandedOver() {
    state.withLock { state in
      let ids = state.table.takeHandedOver()
      guard !ids.isEmpty else { return }
      note(&state) { state throws(FileError) in
        do throws(FileError) {
          try state.journal.append([StoredChange(handedOver: ids.map { state.table.key($0) })])
        } catch {
          state.table.noteUnstored(ids)
          throw error
        }
      }
    }
  }
}

extension SyncedStore.State {
  /// Whether no fetch or send is under way.
  var isIdle: Bool { run?.operations ?? 0 == 0 }
}
