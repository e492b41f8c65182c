import CloudProtocol
import SyncMachine

/// What an engine needs before it can begin, or why it can't.
struct EngineParts {
  var state: SyncState
  var journal: StateJournal?
  var transport: any CloudTransport
  var error: (any Error)?

  /// Looks at the database, opens the state store, and finds the way to the server.
  init(_ configuration: CKSyncEngine.Configuration) {
    state = configuration.stateSerialization?.value ?? SyncState()
    transport = NoTransport()
    do {
      guard configuration.database.databaseScope != .public else {
        throw CKError(
          .badDatabase,
          "A public database keeps no change feed, so CKSyncEngine cannot sync it. Use the "
            + "private or the shared database.")
      }
      transport = try configuration.database.connection.transport()
      if let store = configuration.stateStore {
        (journal, state) = try StateJournal.open(store, otherwise: state)
      }
    } catch {
      self.error = error
    }
  }
}

/// Stands where an engine that could not begin would have its transport.
private struct NoTransport: CloudTransport {
  private struct Observation: SignalObservation {
    func stop() {}
  }

  func send(_ call: CloudCall) async throws(CloudError) -> CloudReply {
    throw CloudError(.badContainer, "The sync engine could not begin; see its stateStoreError.")
  }

  func observeSignals(
    _ listener: @escaping @Sendable (CloudSignal) -> Void
  ) -> any SignalObservation { Observation() }
}
