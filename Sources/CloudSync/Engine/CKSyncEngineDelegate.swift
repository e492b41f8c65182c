/// What an app does for its engine: take events in, and give records out.
///
/// The engine calls one of these at a time and waits for it. Never await `fetchChanges`,
/// `sendChanges` or `cancelOperations` in them. Source: cksyncengine 1 and 2.1.
public protocol CKSyncEngineDelegate: AnyObject, Sendable {
  /// Something happened; what it means is in the event's payload.
  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async

  /// Which records shall be sent next? `nil` when there are none for now.
  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch?

  /// How shall the fetch go on? Asked before every request of a fetch.
  func nextFetchChangesOptions(
    _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.FetchChangesOptions
}

extension CKSyncEngineDelegate {
  /// Leaves the fetch as it is: answers `context.options`.
  public func nextFetchChangesOptions(
    _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.FetchChangesOptions {
    context.options
  }
}
