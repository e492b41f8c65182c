public import CloudProtocol
public import Records

/// The storage of a server: narrow, synchronous and transactional.
///
/// The server contains all rules; a storage stores rows and finds them again. Pass a storage of
/// your own to `LoopbackServer.init(storage:)`, which owns it from then on.
///
/// - One request is one ``transaction(_:)``. The server first reads, and then calls ``commit(_:)``
///   with all changes of the request, and again with its receipt; administrative actions may read
///   again after a commit, and must see its changes.
/// - The server makes one call at a time, so a storage need not be thread-safe.
/// - No method of a request returns all records at once, so data need not fit in memory. Only
///   archives use ``ArchiveStorage``.
/// - Zones are identified with `ZoneID.currentOwner` as their owner, except in the shared databases
///   of participants. Names are compared by their bytes.
/// - If a method throws, the request fails and its transaction is rolled back. A `CloudError` is
///   passed to the client; any other error becomes `internalError`.
/// - A storage that shares its data with other processes returns a number from ``dataVersion()``,
///   and throws ``TransactionConflict`` when a transaction was rolled back and may succeed when it
///   is run again. One whose data are far away reads at ``foresee(_:)`` what a request needs.
///   ``SharedStateStorage`` is for what such servers share besides the data.
///
/// ``MemoryStorage`` is the simplest complete storage. A storage can forward to one, for example to
/// count calls or to let commits fail. `StorageConformance` of the product `CloudSyncTesting`
/// checks these rules with any storage.
public protocol CloudStorage: SchemaStorage, AssetStorage, ArchiveStorage, SharedStateStorage {
  /// Runs `body` so that no other process can change anything between its first read and its
  /// commit; if it throws, its commits are rolled back.
  ///
  /// A transaction inside another one is part of the outer one: if it throws, the outer one is
  /// rolled back too, and throws even if its body does not.
  func transaction<Value>(_ body: () throws -> Value) throws -> Value

  /// Tells what the running transaction is about to read; the default does nothing.
  ///
  /// - Parameter plan: called only by a storage that can make use of it.
  func foresee(_ plan: () -> ReadPlan) throws

  /// A number that changes when another process changes the stored data; `nil` if only this server
  /// can change it, which is the default.
  ///
  /// With a number the server looks for changes by other processes, and sends pushes for them.
  func dataVersion() throws -> Int64?

  /// Releases the files and connections of the storage; the server makes no call after this one.
  ///
  /// The default does nothing.
  func close() throws

  /// A random number chosen when the storage was created; it binds tokens to the storage.
  func identity() throws -> UInt64

  /// A random key chosen when the storage was created. It is never disclosed; share URLs are
  /// derived from it.
  func secret() throws -> StorageSecret

  /// The account called `name`.
  func account(named name: String) throws -> AccountRow?

  /// The account with the user name `user`.
  func account(_ user: UserID) throws -> AccountRow?

  /// All accounts, by name.
  func accounts() throws -> [AccountRow]

  /// The rows of all databases in which data was ever stored, in the order of `DatabaseID`.
  ///
  /// They include the databases for a user's subscriptions to a public or shared database.
  func databases() throws -> [DatabaseRow]

  /// The rows of the public databases, and of the databases that belong to certain accounts.
  ///
  /// A server with a ``dataVersion()`` looks at them for changes by other processes. The default
  /// looks at every database.
  /// - Parameter names: the names of the accounts; those that do not exist are ignored.
  func databases(ofAccounts names: [String]) throws -> [DatabaseRow]

  /// The database `id`; `nil` if data was never stored in it.
  func database(_ id: DatabaseID) throws -> DatabaseRow?

  /// The zone called `zone`, including a deleted zone whose deletion is remembered.
  func zone(_ zone: ZoneID, in database: DatabaseID) throws -> ZoneRow?

  /// All zones, including deleted ones, by name.
  func zones(in database: DatabaseID) throws -> [ZoneRow]

  /// The zones with `changedAt` above `sequence`, oldest first, at most `limit`.
  func zoneChanges(
    in database: DatabaseID, after sequence: UInt64, limit: Int
  ) throws -> [ZoneRow]

  /// The record `id`, or its tombstone.
  func record(_ id: RecordID, in database: DatabaseID) throws -> RecordRow?

  /// The zone's records with `changedAt` above `sequence`, oldest first, at most `limit`.
  func recordChanges(
    of zone: ZoneID, in database: DatabaseID, after sequence: UInt64, limit: Int
  ) throws -> [RecordRow]

  /// The live records that refer to `target`, by name.
  func links(to target: RecordID, in database: DatabaseID) throws -> [RecordLink]

  /// The subscription called `id`.
  func subscription(_ id: SubscriptionID, in database: DatabaseID) throws -> Subscription?

  /// All subscriptions, by name.
  func subscriptions(in database: DatabaseID) throws -> [Subscription]

  /// The databases of the same container, environment and scope as `database` that hold
  /// subscriptions, by owner.
  func subscriptionHomes(of database: DatabaseID) throws -> [DatabaseID]

  /// The receipt of a request; `nil` if there is none.
  func receipt(_ key: ReceiptKey) throws -> Receipt?

  /// Applies all of `changes`, in order, or none.
  func commit(_ changes: [StorageChange]) throws
}

extension CloudStorage {
  /// Does nothing.
  public func foresee(_ plan: () -> ReadPlan) throws {}

  /// Only this server can change the data.
  public func dataVersion() throws -> Int64? { nil }

  /// Looks at every database.
  public func databases(ofAccounts names: [String]) throws -> [DatabaseRow] {
    let users = Set(try names.compactMap { try account(named: $0)?.user })
    return try databases().filter { row in row.id.owner.map(users.contains) ?? true }
  }

  /// Does nothing.
  public func close() throws {}
}

/// Thrown by a storage when a transaction was rolled back because of a conflict with another one or
/// a lost connection, and may succeed when it is run again.
///
/// The server runs a request again a few times, and then fails with ``error``.
public struct TransactionConflict: Error {
  /// The error for the client.
  public var error: CloudError
  /// Details for the operator of the server, such as the database's host; `nil` if there are none.
  public var reason: String?

  /// Creates a conflict.
  public init(error: CloudError, reason: String? = nil) {
    self.error = error
    self.reason = reason
  }
}

/// A key of 128 bits.
public struct StorageSecret: Hashable, Sendable {
  /// The first half.
  public var first: UInt64
  /// The second half.
  public var second: UInt64

  /// Creates a key from its halves.
  public init(first: UInt64, second: UInt64) {
    self.first = first
    self.second = second
  }

  /// A key derived from a storage's identity, for tests and simulations only: it can be computed
  /// from any token.
  public init(guessableFrom identity: UInt64) {
    self.init(first: identity ^ 0x736f_6d65_7073_6575, second: ~identity)
  }
}

/// One change of the stored rows.
public enum StorageChange: Hashable, Sendable {
  /// Adds or replaces an account.
  case putAccount(AccountRow)
  /// Adds or replaces the row of a database.
  case putDatabase(DatabaseRow)
  /// Adds or replaces the row of a zone.
  case putZone(ZoneRow, in: DatabaseID)
  /// Removes the row of a deleted zone.
  case removeZone(ZoneID, in: DatabaseID)
  /// Adds or replaces a record, or puts a tombstone in its place.
  ///
  /// Indirect, because a change is passed on several times and a row is large.
  indirect case putRecord(RecordRow, in: DatabaseID)
  /// Removes all records and tombstones of a zone.
  case removeRecords(of: ZoneID, in: DatabaseID)
  /// Removes the tombstones of a zone up to and including a sequence number.
  case removeTombstones(of: ZoneID, in: DatabaseID, through: UInt64)
  /// Adds or replaces a subscription.
  case putSubscription(Subscription, in: DatabaseID)
  /// Removes a subscription.
  case removeSubscription(SubscriptionID, in: DatabaseID)
  /// Adds a receipt and removes all but the latest `keeping` receipts of the same user and device.
  case putReceipt(Receipt, keeping: Int)
  /// Removes all receipts of a user.
  case removeReceipts(of: UserID)
  /// Adds or replaces a record type.
  case putRecordType(RecordTypeRow)
  /// Adds or replaces the schema of a container's environment.
  case putSchema(SchemaRow)
  /// Stores the content of a file together with the receipt of its upload.
  case putUpload(UploadRow, content: AssetContent)
  /// Removes the receipt of an upload.
  case removeUpload(String)
  /// Removes every row and gives the storage a new identity and key.
  case removeEverything(identity: UInt64, secret: StorageSecret)
}

/// The ID of a database; a public database has no owner.
///
/// A subscription always belongs to one user: one to a public or shared database is stored under an
/// ID with that scope and the user as owner.
public struct DatabaseID: Hashable, Sendable, Codable {
  /// The identifier of the container that the database belongs to.
  public var container: String
  /// The container's environment.
  public var environment: CloudEnvironment
  /// The scope; a shared database is a view that stores no records, only a row for each visible
  /// zone.
  public var scope: DatabaseScope
  /// The owner; `nil` for a public database.
  public var owner: UserID?

  /// Creates the ID of a database.
  public init(
    container: String, environment: CloudEnvironment, scope: DatabaseScope, owner: UserID?
  ) {
    self.container = container
    self.environment = environment
    self.scope = scope
    self.owner = owner
  }
}

/// The key of what has a name that is unique in a database.
package struct InDatabase<Name: Hashable & Sendable>: Hashable, Sendable {
  private let name: Name
  private let database: DatabaseID

  /// The key of `name` in `database`.
  package init(_ name: Name, _ database: DatabaseID) {
    self.name = name
    self.database = database
  }
}

extension DatabaseID: Comparable {
  /// Orders by container, environment, scope and owner, with names in byte order, so that the order
  /// is the same in every storage.
  public static func < (first: DatabaseID, second: DatabaseID) -> Bool {
    if first.container != second.container {
      return first.container.utf8.lexicographicallyPrecedes(second.container.utf8)
    }
    if first.environment != second.environment {
      return first.environment.rawValue < second.environment.rawValue
    }
    if first.scope != second.scope { return first.scope.rawValue < second.scope.rawValue }
    return (first.owner?.rawValue ?? "").utf8
      .lexicographicallyPrecedes((second.owner?.rawValue ?? "").utf8)
  }
}

/// An account.
public struct AccountRow: Hashable, Sendable, Codable {
  /// The account name, such as `alice`.
  public var name: String
  /// The user record name.
  public var user: UserID
  /// The quota of its private databases in bytes; `nil` for no quota.
  public var quota: Int?
  /// The contact data of the user.
  public var person: Person

  /// The contact data of a user, by which others find and see the user.
  public struct Person: Hashable, Sendable, Codable {
    /// An email address, besides those derived from the account's name.
    public var email: String?
    /// The telephone number.
    public var phone: String?
    /// The given name.
    public var givenName: String?
    /// The family name.
    public var familyName: String?

    /// Creates contact data, empty by default.
    public init(
      email: String? = nil, phone: String? = nil, givenName: String? = nil,
      familyName: String? = nil
    ) {
      self.email = email
      self.phone = phone
      self.givenName = givenName
      self.familyName = familyName
    }
  }

  /// Creates the row of an account.
  public init(name: String, user: UserID, quota: Int? = nil, person: Person = Person()) {
    self.name = name
    self.user = user
    self.quota = quota
    self.person = person
  }
}

/// The row of a database.
public struct DatabaseRow: Hashable, Sendable, Codable {
  /// The database.
  public var id: DatabaseID
  /// Distinguishes the database from an earlier one with the same name.
  public var incarnation: UInt64
  /// The latest sequence number of a change; never decreases.
  public var sequence: UInt64
  /// The latest time of a change; the next one is later.
  public var latest: Timestamp
  /// Zone deletions up to here are forgotten.
  public var trimmedThrough: UInt64
  /// The total byte count of its records.
  public var byteCount: Int

  /// Creates the row of a database.
  public init(
    id: DatabaseID, incarnation: UInt64, sequence: UInt64 = 0,
    latest: Timestamp = Timestamp(secondsSinceReferenceDate: 0), trimmedThrough: UInt64 = 0,
    byteCount: Int = 0
  ) {
    self.id = id
    self.incarnation = incarnation
    self.sequence = sequence
    self.latest = latest
    self.trimmedThrough = trimmedThrough
    self.byteCount = byteCount
  }
}

/// The row of a zone, or of a deleted zone.
public struct ZoneRow: Hashable, Sendable, Codable {
  /// The zone, spelt with `ZoneID.currentOwner`.
  public var id: ZoneID
  /// The reason of the deletion; `nil` for a live zone.
  public var deletion: ZoneDeletionReason?
  /// Distinguishes the zone from an earlier one with the same name.
  public var incarnation: UInt64
  /// The sequence number of the latest change of the zone or its records.
  public var changedAt: UInt64
  /// Tombstones up to here are forgotten.
  public var trimmedThrough: UInt64
  /// The total byte count of its records.
  public var byteCount: Int
  /// The sharing state of the zone or mount.
  public var sharing: ZoneSharing

  /// Creates the row of a zone.
  public init(
    id: ZoneID, deletion: ZoneDeletionReason? = nil, incarnation: UInt64, changedAt: UInt64,
    trimmedThrough: UInt64 = 0, byteCount: Int = 0, sharing: ZoneSharing = ZoneSharing()
  ) {
    self.id = id
    self.deletion = deletion
    self.incarnation = incarnation
    self.changedAt = changedAt
    self.trimmedThrough = trimmedThrough
    self.byteCount = byteCount
    self.sharing = sharing
  }
}

/// The sharing state of a zone.
///
/// The owner's zone counts its shares and lists its viewers. Each viewer has a row for the zone
/// too, in the viewer's shared database, which contains no records but lists the shares through
/// which the zone is visible; such a row is called a mount.
public struct ZoneSharing: Hashable, Sendable, Codable {
  /// The number of shared hierarchies in the zone.
  public var hierarchies: Int
  /// Whether the zone as a whole is shared.
  public var isZoneWide: Bool
  /// The users who see at least part of the zone in their shared databases, in order.
  public var viewers: [UserID]
  /// For a mount: the user's current and past share memberships, in the owner's sequence numbers.
  public var memberships: [ShareMembership]

  /// Creates a sharing state; by default nothing is shared.
  public init(
    hierarchies: Int = 0, isZoneWide: Bool = false, viewers: [UserID] = [],
    memberships: [ShareMembership] = []
  ) {
    self.hierarchies = hierarchies
    self.isZoneWide = isZoneWide
    self.viewers = viewers
    self.memberships = memberships
  }
}

/// The interval in which a record, or a user, was in a share.
public struct ShareMembership: Hashable, Sendable, Codable {
  /// The record name of the share.
  public var share: String
  /// The sequence number of the change that started the membership.
  public var since: UInt64
  /// The sequence number of the change that ended the membership; `nil` while it lasts.
  public var until: UInt64?

  /// Creates a membership.
  public init(share: String, since: UInt64, until: UInt64? = nil) {
    self.share = share
    self.since = since
    self.until = until
  }
}

/// The current state of a record, or the tombstone of a deleted one.
public struct RecordRow: Hashable, Sendable, Codable {
  /// The record's name and zone, spelt with `ZoneID.currentOwner`.
  public var id: RecordID
  /// The record type, kept for tombstones too.
  public var type: String
  /// The record; `nil` for a tombstone.
  public var record: Record?
  /// The sequence number of its latest change.
  public var changedAt: UInt64
  /// The device that made the latest change; for a tombstone the device that created the record,
  /// which gets the deletion in a first fetch.
  public var device: String?
  /// The current and past memberships in hierarchical shares, the latest last; at most one is open.
  public var memberships: [ShareMembership]

  /// Creates the row of a record or a tombstone.
  public init(
    id: RecordID, type: String, record: Record?, changedAt: UInt64, device: String?,
    memberships: [ShareMembership] = []
  ) {
    self.id = id
    self.type = type
    self.record = record
    self.changedAt = changedAt
    self.device = device
    self.memberships = memberships
  }
}

/// A reference from a live record to another record.
public struct RecordLink: Hashable, Sendable, Codable {
  /// The kind of a reference.
  public enum Kind: UInt8, Hashable, Sendable, Codable, CaseIterable {
    /// The target is the holder's parent in a share hierarchy.
    case parent = 0
    /// A reference field that deletes the holder with the target.
    case deleteSelf = 1
    /// The target cannot be deleted while the holder refers to it.
    case validating = 2
  }

  /// The referring record.
  public var holder: RecordID
  /// The kind of the reference.
  public var kind: Kind

  /// Creates a link.
  public init(holder: RecordID, kind: Kind) {
    self.holder = holder
    self.kind = kind
  }
}

/// The key of a receipt: one request of one device.
public struct ReceiptKey: Hashable, Sendable, Codable {
  /// The account of the request.
  public var user: UserID
  /// The device that sent the request.
  public var device: String
  /// The ID that the device gave the request.
  public var requestID: String

  /// Creates a key.
  public init(user: UserID, device: String, requestID: String) {
    self.user = user
    self.device = device
    self.requestID = requestID
  }
}

/// The stored reply to a mutation, used to answer a repeated request.
public struct Receipt: Hashable, Sendable, Codable {
  /// The request.
  public var key: ReceiptKey
  /// The answer, perhaps without fields of records that a repeated request contains again.
  public var reply: CloudReply
  /// Data that the server compares with a repeated request; a storage returns it unchanged.
  ///
  /// `nil` in a receipt of an earlier version, which did not store it.
  public var digest: [UInt8]?

  /// Creates a receipt.
  public init(key: ReceiptKey, reply: CloudReply, digest: [UInt8]? = nil) {
    self.key = key
    self.reply = reply
    self.digest = digest
  }
}

extension Record {
  /// The references whose integrity the server maintains; a share is deleted with its root.
  public var links: [(target: RecordID, kind: RecordLink.Kind)] {
    var links: [(target: RecordID, kind: RecordLink.Kind)] = []
    if let parent { links.append((parent, .parent)) }
    if let root = sharing?.root { links.append((root, .deleteSelf)) }
    for element in fields { element.field.value.collectLinks(into: &links) }
    return links
  }
}

extension FieldValue {
  /// Adds the references of the value whose integrity the server maintains.
  func collectLinks(into links: inout [(target: RecordID, kind: RecordLink.Kind)]) {
    switch self {
    case .reference(let reference):
      switch reference.action {
      case .none: break
      case .deleteSelf: links.append((reference.target, .deleteSelf))
      case .validate: links.append((reference.target, .validating))
      }
    case .list(let values): for value in values { value.collectLinks(into: &links) }
    case .string, .int64, .double, .date, .bytes, .asset, .location: break
    }
  }
}
