extension CKSyncEngine {
  /// An event that a sync engine delivers to its delegate.
  ///
  /// All payloads have public initializers, so that a delegate can be tested without an engine; in
  /// CloudKit only the engine can create them. See CE-2.
  public enum Event: Sendable, CustomStringConvertible {
    /// The engine's state changed; the app stores it.
    case stateUpdate(CKSyncEngine.Event.StateUpdate)
    /// Another account, or none, is signed in; pending changes were dropped.
    case accountChange(CKSyncEngine.Event.AccountChange)
    /// A fetch delivered a page of zone changes.
    case fetchedDatabaseChanges(CKSyncEngine.Event.FetchedDatabaseChanges)
    /// A fetch delivered a page of record changes.
    case fetchedRecordZoneChanges(CKSyncEngine.Event.FetchedRecordZoneChanges)
    /// The results of a request for zone changes.
    case sentDatabaseChanges(CKSyncEngine.Event.SentDatabaseChanges)
    /// The results of a request for record changes.
    case sentRecordZoneChanges(CKSyncEngine.Event.SentRecordZoneChanges)
    /// A fetch begins.
    case willFetchChanges(CKSyncEngine.Event.WillFetchChanges)
    /// The fetch of one zone begins.
    case willFetchRecordZoneChanges(CKSyncEngine.Event.WillFetchRecordZoneChanges)
    /// The fetch of one zone ended.
    case didFetchRecordZoneChanges(CKSyncEngine.Event.DidFetchRecordZoneChanges)
    /// A fetch ended; it carries no error.
    case didFetchChanges(CKSyncEngine.Event.DidFetchChanges)
    /// A send begins.
    case willSendChanges(CKSyncEngine.Event.WillSendChanges)
    /// A send ended; it carries no error.
    case didSendChanges(CKSyncEngine.Event.DidSendChanges)

    /// The payload's description.
    public var description: String {
      switch self {
      case .stateUpdate(let payload): payload.description
      case .accountChange(let payload): payload.description
      case .fetchedDatabaseChanges(let payload): payload.description
      case .fetchedRecordZoneChanges(let payload): payload.description
      case .sentDatabaseChanges(let payload): payload.description
      case .sentRecordZoneChanges(let payload): payload.description
      case .willFetchChanges(let payload): payload.description
      case .willFetchRecordZoneChanges(let payload): payload.description
      case .didFetchRecordZoneChanges(let payload): payload.description
      case .didFetchChanges(let payload): payload.description
      case .willSendChanges(let payload): payload.description
      case .didSendChanges(let payload): payload.description
      }
    }
  }
}
