import CloudProtocol
import Records
import SyncMachine

/// What an engine needs before it can begin, or why it can't.
///
/// A state of another database is refused: nothing of it is used, changed or told to the app.
/// Source: Docs/Decisions/0012.
struct EngineParts {
  var state: SyncState
  var journal: StateJournal?
  var transport: any CloudTransport
  var error: (any Error)?

  /// Looks at the database, opens the state store, and finds the way to the server.
  init(_ configuration: CKSyncEngine.Configuration) {
    let given = configuration.stateSerialization?.value ?? SyncState()
    state = SyncState()
    transport = NoTransport()
    do {
      guard configuration.database.databaseScope != .public else {
        throw CKError(
          .badDatabase,
          "A public database keeps no change feed, so CKSyncEngine cannot sync it. Use the "
            + "private or the shared database.")
      }
      transport = try configuration.database.connection.transport()
      let database = SyncedDatabase(configuration.database)
      if let store = configuration.stateStore {
        let (journal, stored) = try StateJournal.open(store, otherwise: given.bound(to: database))
        state = try stored.bound(to: database)
        self.journal = journal
        if state != stored { self.journal?.append([.setDatabase(database)], of: state) }
      } else {
        state = try given.bound(to: database)
      }
    } catch {
      self.error = error
    }
  }
}

extension SyncedDatabase {
  /// The name of `database`.
  fileprivate init(_ database: CKDatabase) {
    self.init(
      container: database.connection.container, environment: database.connection.environment,
      scope: database.databaseScope.value)
  }
}

extension SyncState {
  /// The state as one of `database`, which a state of an earlier version becomes at its first use.
  ///
  /// - Throws: `SerializationError` when it belongs to another database.
  fileprivate func bound(to database: SyncedDatabase) throws -> SyncState {
    if let known = self.database, known != database {
      throw CKSyncEngine.State.SerializationError(of: known, usedFor: database)
    }
    var state = self
    state.database = database
    return state
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
