/// The limits of the cloud; the defaults are CloudKit's published limits.
///
/// Rules: CS-125 to CS-139. Tests lower them to reach a limit with little data.
package struct CloudLimits: Hashable, Sendable {
  /// The maximum number of saves and deletions, or IDs to read, in a request; above it the call
  /// fails with `limitExceeded`.
  package var itemsPerRequest = 400
  /// The maximum size of a modify request in bytes; above it the call fails with `limitExceeded`.
  package var requestBytes = 2 * 1024 * 1024
  /// The maximum size of a stored record in bytes; above it the item fails with `limitExceeded`.
  package var recordBytes = 1024 * 1024
  /// The maximum number of records in a page of a zone's feed.
  package var zoneChangesPage = 200
  /// The maximum number of zones in a page of the database feed.
  package var databaseChangesPage = 200
  /// A page of a zone's feed ends after the record that reaches this many bytes.
  package var pageBytes = 4 * 1024 * 1024
  /// The default number of records in a page of query results.
  package var queryPage = 100
  /// The maximum number of records in a page of query results.
  package var queryPageMaximum = 200
  /// The maximum number of records that a query takes from an index at once; with more it reads the
  /// records of the type by name, or in the order of its sort.
  package var indexEntries = 10_000
  /// The maximum number of filters and sorts of a query, together; above it the query fails with
  /// `limitExceeded`.
  package var queryTerms = 100
  /// The maximum number of values in a filter's list, or words in a token filter; above it the
  /// query fails with `limitExceeded`.
  package var filterValues = 250
  /// The maximum size of a file in bytes; above it an upload fails with `limitExceeded`.
  package var assetBytes = 50 * 1024 * 1024
  /// How long the receipt of an upload can be used in saves, in seconds.
  package var uploadSeconds: Double = 24 * 60 * 60
  /// Whether a field keeps the type of its first save.
  package var fixesFieldKinds = true
  /// Whether saving a record also gives its parent a new change tag, unless the same request saves
  /// the parent; Docs/Decisions/0017.
  package var childSavesChangeParents = false
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
  /// The rate limit of a caller; `nil` for none.
  package var throttle: CloudThrottle.Rate?

  /// The published limits, without a rate limit.
  package init() {}
}
