/// The delegate of a sync engine, which receives events and supplies records.
///
/// ```swift
/// final class NotesSync: CKSyncEngineDelegate {
///   let storage: NotesStorage  // of the app; each call returns after the data is on the disk
///
///   init(_ storage: NotesStorage) { self.storage = storage }
///
///   func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
///     switch event {
///     case .stateUpdate(let update):
///       storage.save(update.stateSerialization)
///     case .fetchedRecordZoneChanges(let changes):
///       for change in changes.modifications { storage.save(change.record) }
///       for change in changes.deletions { storage.remove(change.recordID) }
///     case .sentRecordZoneChanges(let changes):
///       for record in changes.savedRecords { storage.save(record) }
///       for failure in changes.failedRecordSaves {
///         storage.keepUnsent(failure.record, because: failure.error)
///       }
///     default:
///       break  // also handle accountChange and fetchedDatabaseChanges
///     }
///   }
///
///   func nextRecordZoneChangeBatch(
///     _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
///   ) async -> CKSyncEngine.RecordZoneChangeBatch? {
///     let pending = syncEngine.state.pendingRecordZoneChanges
///     return await CKSyncEngine.RecordZoneChangeBatch(
///       pendingChanges: pending.filter { context.options.scope.contains($0) }
///     ) { id in storage.record(id) }
///   }
/// }
/// ```
///
/// The engine calls one method at a time and waits for it. Do not await `fetchChanges`,
/// `sendChanges` or `cancelOperations` in them. The engine holds its delegate weakly. See CE-12 to
/// CE-17 in Docs/Evidence/Engine.md.
public protocol CKSyncEngineDelegate: AnyObject, Sendable {
  /// Handles an event; the next event is delivered after this method has returned.
  ///
  /// Store the content of the event before you return: fetched and deleted records, the system
  /// fields of saved records, failed changes, and the serialization of `stateUpdate`, in the order
  /// of the events. Each state includes the results of the events before it: if one is stored and
  /// such a result is not, the result is lost, because the engine does not deliver it again.
  /// Pending changes may be added and removed.
  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async

  /// Returns the next batch of records to send, or `nil` if there is none.
  ///
  /// The engine sends each batch as one request, delivers its results, and calls this method again.
  /// `nil` ends the send without an error; changes that are still pending stay pending and are
  /// part of the next send. Supply records with the system fields that were stored last, so that
  /// the server can detect conflicts.
  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch?

  /// Returns the options of the fetch. Called before every request of a fetch.
  func nextFetchChangesOptions(
    _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.FetchChangesOptions
}

extension CKSyncEngineDelegate {
  /// Returns `context.options` unchanged.
  public func nextFetchChangesOptions(
    _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.FetchChangesOptions {
    context.options
  }
}
