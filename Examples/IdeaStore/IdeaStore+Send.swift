public import CloudSync
import Foundation
import Synchronization

/// Sending what changed here: the engine carries it, the store says what goes together.
extension IdeaStore: CKSyncEngineDelegate {
  /// The most changes of one request.
  public static let batchLimit = 100
  /// How many bytes of text a request holds, well under what the server takes.
  private static let batchBytes = 1_500_000
  /// How many rounds of one pass may settle nothing before it ends.
  private static let mostIdleRounds = 3

  /// Sends what waits until nothing does that can go.
  func send(_ engine: CKSyncEngine, _ epoch: UInt64) async throws {
    var idleRounds = 0
    while idleRounds < Self.mostIdleRounds {
      try await checkDeletions(epoch)
      let changes = try core.state.withLock { state in
        guard state.epoch == epoch else { throw CKError(.operationCancelled) }
        return prepareRound(&state)
      }
      guard !changes.isEmpty else { return try checkSpace() }
      engine.state.add(pendingRecordZoneChanges: changes)
      var thrown: CKError?
      do {
        try await engine.sendChanges()
      } catch {
        thrown = (error as? CKError) ?? CKError(.internalError)
      }
      // What is still to be sent is in the store's own rows; the engine keeps nothing.
      engine.state.remove(pendingRecordZoneChanges: engine.state.pendingRecordZoneChanges)
      let report = core.state.withLock { $0.report }
      if let passing = report.passing { throw passing }
      switch thrown?.code {
      case nil, .partialFailure, .quotaExceeded: break
      default: if let thrown { throw thrown }
      }
      idleRounds = report.settled > 0 ? 0 : idleRounds + 1
    }
    throw CKError(.partialFailure)
  }

  private func checkSpace() throws {
    let waits = core.state.withLock { state in
      state.isStorageFull && state.shelf.toBeSent.contains { $0.deletedAt == nil }
    }
    if waits { throw CKError(.quotaExceeded) }
  }

  /// Looks at records before they are deleted.
  ///
  /// CloudKit deletes whatever is there, so a later change of another device would be lost unseen.
  /// What is gone already needs no request.
  private func checkDeletions(_ epoch: UInt64) async throws {
    let names = core.state.withLock { state in
      state.shelf.toBeSent.filter { $0.deletedAt != nil && state.mayGo($0) }.map(\.name)
    }
    for start in stride(from: 0, to: names.count, by: Self.idsPerRequest) {
      let chunk = names[start..<min(start + Self.idsPerRequest, names.count)]
      let (records, gone) = try await records(named: Array(chunk))
      try core.state.withLock { state in
        guard state.epoch == epoch else { throw CKError(.operationCancelled) }
        for record in records { core.take(record, &state) }
        for name in gone { core.takeDeletion(of: name, &state) }
        core.flush(&state)
      }
    }
  }

  /// Puts what may go into groups of at most 100; answers all of it.
  private func prepareRound(
    _ state: inout IdeaCore.State
  ) -> [CKSyncEngine.PendingRecordZoneChange] {
    state.report = IdeaSendReport()
    state.groups = []
    var bytes = 0
    var changes: [CKSyncEngine.PendingRecordZoneChange] = []
    for row in state.shelf.toBeSent where state.mayGo(row) {
      let size = 500 + (row.idea.map { $0.title.utf8.count + $0.description.utf8.count } ?? 0)
      if let last = state.groups.last, last.count < Self.batchLimit, bytes + size <= Self.batchBytes
      {
        state.groups[state.groups.count - 1].append(row.name)
        bytes += size
      } else {
        state.groups.append([row.name])
        bytes = size
      }
      let id = CKRecord.ID(recordName: row.name, zoneID: IdeaRecord.zoneID)
      changes.append(row.deletedAt == nil ? .saveRecord(id) : .deleteRecord(id))
    }
    return changes
  }

  // MARK: The engine's delegate

  /// Gives out the next group, as records of the ideas as they are now.
  public func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    core.state.withLock { state in
      guard state.engine === syncEngine else { return nil }
      while !state.groups.isEmpty {
        let batch = core.batch(state.groups.removeFirst(), &state)
        if !batch.recordsToSave.isEmpty || !batch.recordIDsToDelete.isEmpty { return batch }
      }
      return nil
    }
  }

  /// Takes one event; events of an engine that was let go are ignored.
  public func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    if case .accountChange(let change) = event { return await follow(change, syncEngine) }
    core.state.withLock { state in
      guard state.engine === syncEngine else { return }
      switch event {
      case .sentRecordZoneChanges(let sent):
        core.take(sent, &state)
        core.flush(&state)
        state.tell()
      case .accountChange, .stateUpdate, .fetchedDatabaseChanges, .fetchedRecordZoneChanges,
        .sentDatabaseChanges, .willFetchChanges, .willFetchRecordZoneChanges,
        .didFetchRecordZoneChanges, .didFetchChanges, .willSendChanges, .didSendChanges:
        break
      }
    }
  }
}
