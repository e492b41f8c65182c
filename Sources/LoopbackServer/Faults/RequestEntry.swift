public import CloudProtocol
public import Records

/// The kinds of request, for scopes and counts.
public enum RequestKind: String, Hashable, Sendable, CaseIterable {
  /// Who is signed in?
  case fetchCurrentUser
  /// Which zones changed?
  case fetchDatabaseChanges
  /// Which records of a zone changed?
  case fetchZoneChanges
  /// Zones by name.
  case fetchZones
  /// Create and delete zones.
  case modifyZones
  /// Records by ID.
  case fetchRecords
  /// Save and delete records.
  case modifyRecords
  /// Subscriptions by name.
  case fetchSubscriptions
  /// Create and delete subscriptions.
  case modifySubscriptions
  /// Records by query.
  case queryRecords
  /// What is behind the URLs of shares.
  case resolveShares
  /// Join shares.
  case acceptShares
  /// Who people are.
  case findUsers
  /// A file's content on its way to the server.
  case uploadAsset
  /// A file's content on its way from the server.
  case downloadAsset

  /// The kind of `request`.
  public init(_ request: CloudRequest) {
    self =
      switch request {
      case .fetchCurrentUser: .fetchCurrentUser
      case .fetchDatabaseChanges: .fetchDatabaseChanges
      case .fetchZoneChanges: .fetchZoneChanges
      case .fetchZones: .fetchZones
      case .modifyZones: .modifyZones
      case .fetchRecords: .fetchRecords
      case .modifyRecords: .modifyRecords
      case .fetchSubscriptions: .fetchSubscriptions
      case .modifySubscriptions: .modifySubscriptions
      case .queryRecords: .queryRecords
      case .resolveShares: .resolveShares
      case .acceptShares: .acceptShares
      case .findUsers: .findUsers
      case .uploadAsset: .uploadAsset
      case .downloadAsset: .downloadAsset
      }
  }
}

/// One request that reached the server.
public struct RequestEntry: Hashable, Sendable {
  /// How far a request came.
  public enum Outcome: Hashable, Sendable {
    /// It is still under way.
    case pending
    /// The device got the answer.
    case answered
    /// The device got an error for the request as a whole.
    case failed(CloudError.Code)
  }

  /// Its number, from 1, in the order of arrival.
  public var number: Int
  /// When it arrived, by the server's clock.
  public var time: Timestamp
  /// The device that sent it.
  public var device: String
  /// The account that was signed in on the device.
  public var account: String?
  /// The container it is about.
  public var container: String
  /// The container's world.
  public var environment: CloudEnvironment
  /// The database it is about.
  public var database: DatabaseScope
  /// What it asks.
  public var kind: RequestKind
  /// How many items it names: saves and deletions, or IDs; 1 for a feed.
  public var itemCount: Int
  /// The name the device gave it.
  public var requestID: String
  /// How far it came.
  public var outcome: Outcome
}

/// Which requests a fault or a count is about; `nil` stands for any.
public struct RequestScope: Hashable, Sendable {
  /// The device that sends.
  public var device: String?
  /// What is asked.
  public var kind: RequestKind?

  /// Every request.
  public static let all = RequestScope()

  /// The requests of `kind` from `device`.
  public init(kind: RequestKind? = nil, device: String? = nil) {
    self.kind = kind
    self.device = device
  }

  /// Whether a request is meant.
  public func contains(_ entry: RequestEntry) -> Bool {
    (device ?? entry.device) == entry.device && (kind ?? entry.kind) == entry.kind
  }
}

extension CloudRequest {
  /// How many items it names.
  var itemCount: Int {
    switch self {
    case .fetchCurrentUser, .fetchDatabaseChanges, .fetchZoneChanges, .queryRecords, .uploadAsset,
      .downloadAsset:
      1
    case .resolveShares(let request): request.urls.count
    case .acceptShares(let urls): urls.count
    case .findUsers(let lookups): lookups.count
    case .fetchZones(let zones): zones?.count ?? 1
    case .modifyZones(let request): request.save.count + request.delete.count
    case .fetchRecords(let request): request.ids.count
    case .modifyRecords(let request): request.save.count + request.delete.count
    case .fetchSubscriptions(let ids): ids?.count ?? 1
    case .modifySubscriptions(let request): request.save.count + request.delete.count
    }
  }
}
