extension CKSyncEngine {
  /// What a send is to take along.
  public struct SendChangesOptions: Sendable {
    /// Which changes are sent.
    public enum Scope: Sendable, Equatable {
      /// All of them.
      case all
      /// Those of all zones but these.
      case allExcluding([CKRecordZone.ID])
      /// Only those of these zones.
      case zoneIDs([CKRecordZone.ID])
      /// Only those of these records.
      case recordIDs([CKRecord.ID])

      /// Whether changes of the record `recordID` are sent.
      public func contains(_ recordID: CKRecord.ID) -> Bool {
        switch self {
        case .all: true
        case .allExcluding(let zoneIDs): !zoneIDs.contains(recordID.zoneID)
        case .zoneIDs(let zoneIDs): zoneIDs.contains(recordID.zoneID)
        case .recordIDs(let recordIDs): recordIDs.contains(recordID)
        }
      }

      /// Whether the change `pendingChange` is sent.
      public func contains(_ pendingChange: CKSyncEngine.PendingRecordZoneChange) -> Bool {
        switch pendingChange {
        case .saveRecord(let id), .deleteRecord(let id): contains(id)
        }
      }
    }

    /// Which changes are sent.
    public var scope: CKSyncEngine.SendChangesOptions.Scope

    /// What the send's requests are grouped under.
    public var operationGroup: CKOperationGroup

    /// Asks for the changes in `scope` to be sent.
    public init(
      scope: CKSyncEngine.SendChangesOptions.Scope = .all,
      operationGroup: CKOperationGroup? = nil
    ) {
      self.scope = scope
      self.operationGroup = operationGroup ?? CKOperationGroup()
    }
  }

  /// Why and how a send runs.
  public struct SendChangesContext: Sendable {
    /// Who wanted it.
    public let reason: CKSyncEngine.SyncReason

    /// What it is to take along; the delegate must give out nothing outside the scope.
    public let options: CKSyncEngine.SendChangesOptions

    /// Describes a send; in CloudKit only the engine can.
    public init(
      reason: CKSyncEngine.SyncReason,
      options: CKSyncEngine.SendChangesOptions = CKSyncEngine.SendChangesOptions()
    ) {
      self.reason = reason
      self.options = options
    }
  }

  /// Who wanted a sync.
  public enum SyncReason: Sendable, Hashable {
    /// The engine itself.
    case scheduled
    /// The app.
    case manual
  }
}

extension CKSyncEngine.SyncReason: CustomStringConvertible {
  /// The case's name.
  public var description: String {
    switch self {
    case .scheduled: "scheduled"
    case .manual: "manual"
    }
  }
}

extension CKSyncEngine.SendChangesOptions.Scope: CustomStringConvertible {
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

extension CKSyncEngine.SendChangesOptions: CustomStringConvertible {
  /// The scope.
  public var description: String { "SendChangesOptions(scope: \(scope))" }
}

extension CKSyncEngine.SendChangesContext: CustomStringConvertible {
  /// The reason and the options.
  public var description: String {
    "SendChangesContext(reason: \(reason), options: \(options))"
  }
}
