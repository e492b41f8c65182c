import CloudProtocol

/// The limits of the cloud: those that a server can set, and fixed ones that tests can lower.
///
/// Rules: CS-125 to CS-139.
@dynamicMemberLookup
package struct CloudLimits: Hashable, Sendable {
  private var server: ServerLimits
  /// A page of a zone's feed ends after the record that reaches this many bytes, including the
  /// fields that the request leaves out.
  package var pageBytes = 4 * 1024 * 1024
  /// The bytes of stored records, including fields that the request leaves out, after which a fetch
  /// of records or shares fails further items, and a change reports further conflicts without the
  /// server's record.
  package var replyBytes = 16 * 1024 * 1024
  /// The maximum number of names of desired fields; above it the call fails with `limitExceeded`.
  package var desiredKeys = FieldSelection.maximumNames
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
  /// The maximum number of subscriptions of a user in a database.
  package var subscriptions = 1_000
  /// The maximum size of a subscription, in bytes; a save in the public database reads the
  /// subscriptions of all users.
  package var subscriptionBytes = 64 * 1024
  /// The maximum number of fields in a push.
  package var subscriptionKeys = 3
  /// The number of receipts kept for each user and device to detect repeated requests; for all
  /// devices of a user together, 16 times as many.
  package var receiptsKept = 256

  /// The published limits, or those of a server.
  ///
  /// Pages of feeds are limited to `largestPage`, so that computations with them do not overflow.
  package init(_ server: ServerLimits = ServerLimits()) {
    self.server = server
    self.server.zoneChangesPage = min(server.zoneChangesPage, CloudLimits.largestPage)
    self.server.databaseChangesPage = min(server.databaseChangesPage, CloudLimits.largestPage)
  }

  /// The largest page of a feed that a server can set.
  package static let largestPage = 1_000_000

  /// A limit that a server can set.
  package subscript<Value>(dynamicMember limit: WritableKeyPath<ServerLimits, Value>) -> Value {
    get { server[keyPath: limit] }
    set { server[keyPath: limit] = newValue }
  }
}
