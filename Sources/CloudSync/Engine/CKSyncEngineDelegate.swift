/// The delegate of a sync engine, which receives events and supplies records.
///
/// The engine calls one method at a time and waits for it. Do not await `fetchChanges`,
/// `sendChanges` or `cancelOperations` in them. See CE-12 to CE-15.
public protocol CKSyncEngineDelegate: AnyObject, Sendable {
  /// Handles an event.
  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async

  /// Returns the next batch of records to send, or `nil` if there is none.
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
