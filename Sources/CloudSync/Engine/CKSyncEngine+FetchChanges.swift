extension CKSyncEngine {
  /// What a fetch is to bring.
  public struct FetchChangesOptions: Sendable {
    /// Which zones are fetched.
    public enum Scope: Sendable, Equatable {
      /// All of them.
      case all
      /// All but these.
      case allExcluding([CKRecordZone.ID])
      /// Only these.
      case zoneIDs([CKRecordZone.ID])

      /// Whether the zone `zoneID` is fetched.
      public func contains(_ zoneID: CKRecordZone.ID) -> Bool {
        switch self {
        case .all: true
        case .allExcluding(let zoneIDs): !zoneIDs.contains(zoneID)
        case .zoneIDs(let zoneIDs): zoneIDs.contains(zoneID)
        }
      }
    }

    /// Which zones are fetched.
    public var scope: CKSyncEngine.FetchChangesOptions.Scope

    /// What the fetch's requests are grouped under.
    public var operationGroup: CKOperationGroup

    /// The zones that are fetched first, in this order.
    public var prioritizedZoneIDs: [CKRecordZone.ID]

    /// Asks for the zones in `scope`.
    public init(
      scope: CKSyncEngine.FetchChangesOptions.Scope = .all,
      operationGroup: CKOperationGroup? = nil
    ) {
      self.scope = scope
      self.operationGroup = operationGroup ?? CKOperationGroup()
      prioritizedZoneIDs = []
    }
  }

  /// Why and how a fetch runs.
  public struct FetchChangesContext: Sendable {
    /// Who wanted it.
    public let reason: CKSyncEngine.SyncReason

    /// What it is to bring.
    public let options: CKSyncEngine.FetchChangesOptions

    /// Describes a fetch; in CloudKit only the engine can.
    public init(
      reason: CKSyncEngine.SyncReason,
      options: CKSyncEngine.FetchChangesOptions = CKSyncEngine.FetchChangesOptions()
    ) {
      self.reason = reason
      self.options = options
    }
  }
}

extension CKSyncEngine.FetchChangesOptions.Scope: CustomStringConvertible {
  /// The kind and the zones.
  public var description: String {
    switch self {
    case .all: "all"
    case .allExcluding(let zoneIDs): "allExcluding(\(zoneIDs))"
    case .zoneIDs(let zoneIDs): "zoneIDs(\(zoneIDs))"
    }
  }
}

extension CKSyncEngine.FetchChangesOptions: CustomStringConvertible {
  /// The scope and the zones that go first.
  public var description: String {
    "FetchChangesOptions(scope: \(scope), prioritizedZoneIDs: \(prioritizedZoneIDs))"
  }
}

extension CKSyncEngine.FetchChangesContext: CustomStringConvertible {
  /// The reason and the options.
  public var description: String {
    "FetchChangesContext(reason: \(reason), options: \(options))"
  }
}
