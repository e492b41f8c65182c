extension CKSyncEngine {
  /// The pending changes that a send covers.
  public struct SendChangesOptions: Sendable, CustomStringConvertible {
    /// A set of pending changes, by zone or by record.
    public enum Scope: Sendable, Equatable, CustomStringConvertible {
      /// All changes.
      case all
      /// The changes of all zones except these.
      case allExcluding([CKRecordZone.ID])
      /// Only the changes of these zones.
      case zoneIDs([CKRecordZone.ID])
      /// Only the changes of these records.
      case recordIDs([CKRecord.ID])

      /// Whether the scope contains changes of the record `recordID`.
      public func contains(_ recordID: CKRecord.ID) -> Bool {
        switch self {
        case .all: true
        case .allExcluding(let zoneIDs): !zoneIDs.contains(recordID.zoneID)
        case .zoneIDs(let zoneIDs): zoneIDs.contains(recordID.zoneID)
        case .recordIDs(let recordIDs): recordIDs.contains(recordID)
        }
      }

      /// Whether the scope contains the change `pendingChange`.
      public func contains(_ pendingChange: CKSyncEngine.PendingRecordZoneChange) -> Bool {
        switch pendingChange {
        case .saveRecord(let id), .deleteRecord(let id): contains(id)
        }
      }

      /// The kind and the zones or records.
      public var description: String {
        switch self {
        case .all: "all"
        case .allExcluding(let zoneIDs): "allExcluding(\(zoneIDs))"
        case .zoneIDs(let zoneIDs): "zoneIDs(\(zoneIDs))"
        case .recordIDs(let recordIDs): "recordIDs(\(recordIDs))"
        }
      }
    }

    /// The pending changes that are sent; the others stay pending.
    public var scope: CKSyncEngine.SendChangesOptions.Scope

    /// The operation group of the requests.
    public var operationGroup: CKOperationGroup

    /// Creates options for the changes in `scope`.
    public init(
      scope: CKSyncEngine.SendChangesOptions.Scope = .all,
      operationGroup: CKOperationGroup? = nil
    ) {
      self.scope = scope
      self.operationGroup = operationGroup ?? CKOperationGroup()
    }

    /// The scope.
    public var description: String { "SendChangesOptions(scope: \(scope))" }
  }

  /// The reason and the options of a send, passed to the delegate.
  public struct SendChangesContext: Sendable, CustomStringConvertible {
    /// Whether the engine scheduled the send or the app requested it.
    public let reason: CKSyncEngine.SyncReason

    /// The options of the send; the delegate must supply only changes in the scope.
    public let options: CKSyncEngine.SendChangesOptions

    /// Creates a context.
    ///
    /// In CloudKit only the engine can create one.
    public init(
      reason: CKSyncEngine.SyncReason,
      options: CKSyncEngine.SendChangesOptions = CKSyncEngine.SendChangesOptions()
    ) {
      self.reason = reason
      self.options = options
    }

    /// The reason and the options.
    public var description: String {
      "SendChangesContext(reason: \(reason), options: \(options))"
    }
  }

  /// The reason for an operation.
  public enum SyncReason: Sendable, Hashable, CustomStringConvertible {
    /// The engine's schedule.
    case scheduled
    /// A call by the app.
    case manual

    /// The case's name.
    public var description: String {
      switch self {
      case .scheduled: "scheduled"
      case .manual: "manual"
      }
    }
  }
}
