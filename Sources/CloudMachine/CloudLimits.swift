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

/// The limits of the cloud: those that a server can set, and fixed ones that tests can lower.
///
/// Rules: CS-125 to CS-139.
@dynamicMemberLookup
package struct CloudLimits: Hashable, Sendable {
  private var server: ServerLimits
  /// A page of a zone's feed ends after the record that reaches this many bytes.
  package var pageBytes = 4 * 1024 * 1024
  /// The default number of records in a page of query results.
  package var queryPage = 100
  /// The maximum number of records in a page of query results.
  package var queryPageMaximum = 200
  /// The maximum number of records that a query takes from an index at once; with more it reads the
  /// records of the type by name, or in the order of its sort.
  package var indexEntries = 10_000
  /// How long the receipt of an upload can be used in saves, in seconds.
  package var uploadSeconds: Double = 24 * 60 * 60
  /// The maximum size of the fields in a query subscription's push, in bytes.
  package var pushFieldBytes = 1024
  /// The maximum length of a record name, zone name, record type or subscription ID, in characters.
  package var nameLength = 255
  /// The maximum length of a field name, in characters.
  package var keyLength = 255
  /// The maximum number of records that can be deleted with one target.
  package var owningReferences = 750
  /// The maximum number of participants of a share, excluding the owner.
  package var shareParticipants = 100
  /// The maximum number of fields in a push.
  package var subscriptionKeys = 3
  /// The number of receipts kept for each user and device to detect repeated requests.
  package var receiptsKept = 256

  /// The published limits, or those of a server.
  package init(_ server: ServerLimits = ServerLimits()) { self.server = server }

  /// A limit that a server can set.
  package subscript<Value>(dynamicMember limit: WritableKeyPath<ServerLimits, Value>) -> Value {
    get { server[keyPath: limit] }
    set { server[keyPath: limit] = newValue }
  }
}
