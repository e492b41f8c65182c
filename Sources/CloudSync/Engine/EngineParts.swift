import CloudProtocol
import Records
import SyncMachine

/// The parts that an engine needs to start, or the error that prevents it.
///
/// A state of another database is refused: it is neither used nor changed nor reported to the app.
/// See Docs/Decisions/0012.
struct EngineParts {
  var state: SyncState
  var journal: StateJournal?
  var transport: any CloudTransport
  var error: (any Error)?

  /// Checks the database, opens the state store and obtains the transport.
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
        if state.database != stored.database {
          self.journal?.bind(to: database)
        }
      } else {
        state = try given.bound(to: database)
      }
    } catch {
      self.error = error
    }
  }
}

extension SyncedDatabase {
  /// The identifier of `database`.
  fileprivate init(_ database: CKDatabase) {
    self.init(
      container: database.connection.container, environment: database.connection.environment,
      scope: database.databaseScope.value)
  }
}

extension SyncState {
  /// The state bound to `database`; a state of an earlier version is bound at its first use.
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

/// The transport of an engine that could not start.
private struct NoTransport: CloudTransport {
  private let listeners = SignalListeners()

  func send(_ call: CloudCall) async throws(CloudError) -> CloudReply {
    throw CloudError(.badContainer, "The sync engine could not start; see its stateStoreError.")
  }

  func observeSignals(
    _ listener: @escaping @Sendable (CloudSignal) -> Void
  ) -> any SignalObservation { listeners.add(listener) }
}
