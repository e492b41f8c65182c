import CloudMachine

/// The server's limits; the defaults are CloudKit's published limits.
///
/// Lower a limit in a test to reach it with little data. Rules: CS-125 to CS-139.
public struct ServerLimits: Hashable, Sendable {
  /// The rate limit of an account.
  public struct Throttle: Hashable, Sendable {
    /// The number of requests per window, at least 1.
    public var requests: Int
    /// The length of a window in seconds.
    public var seconds: Double

    /// Allows `requests` in `seconds`.
    public init(requests: Int, seconds: Double) {
      self.requests = requests
      self.seconds = seconds
    }
  }

  /// The maximum number of saves and deletions, or IDs to read, in a request.
  public var itemsPerRequest: Int
  /// The maximum size of a modify request in bytes.
  public var requestBytes: Int
  /// The maximum size of a record in bytes.
  public var recordBytes: Int
  /// The maximum number of records in a page of a zone's changes.
  public var zoneChangesPage: Int
  /// The maximum number of zones in a page of a database's changes.
  public var databaseChangesPage: Int
  /// The maximum number of filters and sorts in a query, together.
  public var queryTerms: Int
  /// The maximum number of values in a filter's list, or words in a token filter.
  public var filterValues: Int
  /// The maximum size of a file in bytes.
  public var assetBytes: Int
  /// Whether a field keeps the type of its first save, as in CloudKit's schemas.
  public var fixesFieldKinds: Bool
  /// Whether saving a record also gives its parent a new change tag, as observed on the live
  /// service; saving the parent with its old change tag then fails with `serverRecordChanged`.
  ///
  /// Off by default.
  public var childSavesChangeParents: Bool
  /// The rate limit of each account; `nil` for none.
  public var throttle: Throttle?

  /// The published limits, without a rate limit.
  public init() { self.init(CloudLimits()) }

  init(_ limits: CloudLimits) {
    itemsPerRequest = limits.itemsPerRequest
    requestBytes = limits.requestBytes
    recordBytes = limits.recordBytes
    zoneChangesPage = limits.zoneChangesPage
    databaseChangesPage = limits.databaseChangesPage
    queryTerms = limits.queryTerms
    filterValues = limits.filterValues
    assetBytes = limits.assetBytes
    fixesFieldKinds = limits.fixesFieldKinds
    childSavesChangeParents = limits.childSavesChangeParents
    throttle = limits.throttle.map { Throttle(requests: $0.requests, seconds: $0.window) }
  }

  var cloudLimits: CloudLimits {
    var limits = CloudLimits()
    limits.itemsPerRequest = itemsPerRequest
    limits.requestBytes = requestBytes
    limits.recordBytes = recordBytes
    limits.zoneChangesPage = zoneChangesPage
    limits.databaseChangesPage = databaseChangesPage
    limits.queryTerms = queryTerms
    limits.filterValues = filterValues
    limits.assetBytes = assetBytes
    limits.fixesFieldKinds = fixesFieldKinds
    limits.childSavesChangeParents = childSavesChangeParents
    limits.throttle = throttle.map { .init(requests: $0.requests, window: $0.seconds) }
    return limits
  }
}
