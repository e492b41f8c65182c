extension CKSyncEngine {
  /// The zones that a fetch covers, and those that it reads first.
  public struct FetchChangesOptions: Sendable, CustomStringConvertible {
    /// The zones to fetch.
    public enum Scope: Sendable, Equatable, CustomStringConvertible {
      /// All zones.
      case all
      /// All zones except these.
      case allExcluding([CKRecordZone.ID])
      /// Only these zones.
      case zoneIDs([CKRecordZone.ID])

      /// Whether the scope contains the zone `zoneID`.
      public func contains(_ zoneID: CKRecordZone.ID) -> Bool {
        switch self {
        case .all: true
        case .allExcluding(let zoneIDs): !zoneIDs.contains(zoneID)
        case .zoneIDs(let zoneIDs): zoneIDs.contains(zoneID)
        }
      }

      /// The kind and the zones.
      public var description: String {
        switch self {
        case .all: "all"
        case .allExcluding(let zoneIDs): "allExcluding(\(zoneIDs))"
        case .zoneIDs(let zoneIDs): "zoneIDs(\(zoneIDs))"
        }
      }
    }

    /// The zones to fetch.
    public var scope: CKSyncEngine.FetchChangesOptions.Scope

    /// The operation group of the requests.
    public var operationGroup: CKOperationGroup

    /// The zones to fetch first, in this order.
    public var prioritizedZoneIDs: [CKRecordZone.ID]

    /// Creates options for the zones in `scope`.
    public init(
      scope: CKSyncEngine.FetchChangesOptions.Scope = .all,
      operationGroup: CKOperationGroup? = nil
    ) {
      self.scope = scope
      self.operationGroup = operationGroup ?? CKOperationGroup()
      prioritizedZoneIDs = []
    }

    /// The scope and the zones that go first.
    public var description: String {
      "FetchChangesOptions(scope: \(scope), prioritizedZoneIDs: \(prioritizedZoneIDs))"
    }
  }

  /// The reason and the options of a fetch, passed to the delegate.
  public struct FetchChangesContext: Sendable, CustomStringConvertible {
    /// Whether the engine scheduled the fetch or the app requested it.
    public let reason: CKSyncEngine.SyncReason

    /// The options that the app passed; the default options if the engine scheduled the fetch.
    public let options: CKSyncEngine.FetchChangesOptions

    /// Creates a context.
    ///
    /// In CloudKit only the engine can create one.
    public init(
      reason: CKSyncEngine.SyncReason,
      options: CKSyncEngine.FetchChangesOptions = CKSyncEngine.FetchChangesOptions()
    ) {
      self.reason = reason
      self.options = options
    }

    /// The reason and the options.
    public var description: String {
      "FetchChangesContext(reason: \(reason), options: \(options))"
    }
  }
}
