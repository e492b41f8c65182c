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

  /// The maximum number of saves and deletions, or IDs to read, in a request; above it the call
  /// fails with `limitExceeded`.
  public var itemsPerRequest = 400
  /// The maximum size of a modify request in bytes; above it the call fails with `limitExceeded`.
  public var requestBytes = 2 * 1024 * 1024
  /// The maximum size of a record in bytes; above it the item fails with `limitExceeded`.
  public var recordBytes = 1024 * 1024
  /// The maximum number of records in a page of a zone's changes.
  public var zoneChangesPage = 200
  /// The maximum number of zones in a page of a database's changes.
  public var databaseChangesPage = 200
  /// The maximum number of filters and sorts in a query, together; above it the query fails with
  /// `limitExceeded`.
  public var queryTerms = 100
  /// The maximum number of values in a filter's list, or words in a token filter; above it the
  /// query fails with `limitExceeded`.
  public var filterValues = 250
  /// The maximum size of a file in bytes; above it an upload fails with `limitExceeded`.
  public var assetBytes = 50 * 1024 * 1024
  /// Whether a field keeps the type of its first save, as in CloudKit's schemas.
  public var fixesFieldKinds = true
  /// Whether saving a record also gives its parent a new change tag, as observed on the live
  /// service, unless the same request saves the parent; saving the parent with its old change tag
  /// then fails with `serverRecordChanged`.
  ///
  /// Off by default.
  public var childSavesChangeParents = false
  /// The rate limit of each account; `nil` for none.
  public var throttle: Throttle?

  /// The published limits, without a rate limit.
  public init() {}
}
