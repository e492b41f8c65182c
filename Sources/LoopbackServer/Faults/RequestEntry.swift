public import CloudProtocol
public import Records

/// The kinds of request, for scopes and counts.
public enum RequestKind: String, Hashable, Sendable, CaseIterable {
  /// Fetch the current user.
  case fetchCurrentUser
  /// Fetch the changed zones of a database.
  case fetchDatabaseChanges
  /// Fetch the changed records of a zone.
  case fetchZoneChanges
  /// Fetch zones by name.
  case fetchZones
  /// Create and delete zones.
  case modifyZones
  /// Fetch records by ID.
  case fetchRecords
  /// Save and delete records.
  case modifyRecords
  /// Fetch subscriptions by name.
  case fetchSubscriptions
  /// Create and delete subscriptions.
  case modifySubscriptions
  /// Query records.
  case queryRecords
  /// Resolve share URLs.
  case resolveShares
  /// Accept shares.
  case acceptShares
  /// Find users.
  case findUsers
  /// Upload a file.
  case uploadAsset
  /// Download a file.
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
  /// The outcome of a request, as reported to the client.
  public enum Outcome: Hashable, Sendable {
    /// The request is still open.
    case pending
    /// The device got the response; see ``RequestEntry/refusedItems`` for errors of single items.
    case answered
    /// The device got an error for the request as a whole.
    case failed(CloudError.Code)
  }

  /// The number of the request, from 1, in the order of arrival.
  public var number: Int
  /// When it arrived, by the server's clock.
  public var time: Timestamp
  /// The device that sent it.
  public var device: String
  /// The account that was signed in on the device.
  public var account: String?
  /// The container of the request.
  public var container: String
  /// The container's environment.
  public var environment: CloudEnvironment
  /// The database of the request.
  public var database: DatabaseScope
  /// The kind of request.
  public var kind: RequestKind
  /// The number of items: saves and deletions, or IDs; 1 for a change feed.
  public var itemCount: Int
  /// The ID that the device gave the request.
  public var requestID: String
  /// The outcome of the request.
  public var outcome: Outcome
  /// The codes of the items that were refused in the response, in the order of the response.
  public var refusedItems: [CloudError.Code] = []
  /// The seconds from its arrival to its outcome, by the server's clock; `nil` while pending.
  package var seconds: Double?
}

/// The requests that a fault or a count applies to; `nil` matches any.
public struct RequestScope: Hashable, Sendable {
  /// The sending device.
  public var device: String?
  /// The kind of the requests within the scope; `nil` for all kinds.
  public var kind: RequestKind?

  /// Every request.
  public static let all = RequestScope()

  /// Creates a scope of the requests of `kind` from `device`; `nil` places no limit.
  public init(kind: RequestKind? = nil, device: String? = nil) {
    self.kind = kind
    self.device = device
  }

  /// Whether the scope contains a request.
  public func contains(_ entry: RequestEntry) -> Bool {
    (device ?? entry.device) == entry.device && (kind ?? entry.kind) == entry.kind
  }
}

extension CloudReply {
  /// The codes of the items that were refused, in the order of the reply.
  var refusedItems: [CloudError.Code] {
    func codes<ID, Value>(_ results: [ItemResult<ID, Value>]) -> [CloudError.Code] {
      results.compactMap { $0.error?.code }
    }
    return switch self {
    case .currentUser, .databaseChanges, .zoneChanges, .queried, .assetUploaded, .assetContent: []
    // That a person is not found is the answer to the question, and no refusal.
    case .usersFound: []
    case .zones(let results): codes(results)
    case .zonesModified(let saved, let deleted): codes(saved) + codes(deleted)
    case .records(let results): codes(results)
    case .recordsModified(let saved, let deleted): codes(saved) + codes(deleted)
    case .subscriptions(let results): codes(results)
    case .subscriptionsModified(let saved, let deleted): codes(saved) + codes(deleted)
    case .sharesResolved(let results): codes(results)
    case .sharesAccepted(let results): codes(results)
    }
  }
}

extension CloudRequest {
  /// The number of items.
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
