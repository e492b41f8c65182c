package import CloudProtocol
package import Records

/// Where the cloud keeps what it knows: a narrow, synchronous, transactional port.
///
/// No rule lives in an implementation; it stores rows and finds them again. No implementation is
/// asked for everything at once, so none has to hold all data in memory. One request is one
/// `transaction`; inside it the machine reads what it needs and hands over all changes in one
/// `commit`. Implementations need not be thread-safe: the server that drives them holds a lock.
package protocol CloudStorage: SchemaStorage, AssetStorage, ArchiveStorage {
  /// Runs `body` so that no other process can change anything between its first read and its
  /// commit; when it throws, nothing it committed is kept.
  func transaction<Value>(_ body: () throws -> Value) throws -> Value

  /// A number chosen at random when this storage was made; it binds tokens to the storage.
  func identity() throws -> UInt64

  /// A key chosen at random when this storage was made, which no answer ever shows; the addresses
  /// of shares come from it.
  func secret() throws -> StorageSecret

  /// The account called `name`.
  func account(named name: String) throws -> AccountRow?

  /// The account with the user name `user`.
  func account(_ user: UserID) throws -> AccountRow?

  /// All accounts, by name.
  func accounts() throws -> [AccountRow]

  /// The rows of all databases that anything was ever stored in, ordered as `DatabaseID` is.
  ///
  /// Databases that hold one user's subscriptions to a public or shared database are among them.
  func databases() throws -> [DatabaseRow]

  /// The database `id`, if anything was ever stored in it.
  func database(_ id: DatabaseID) throws -> DatabaseRow?

  /// The zone called `zone`, also when it was deleted and the deletion is remembered.
  func zone(_ zone: ZoneID, in database: DatabaseID) throws -> ZoneRow?

  /// All zones, deleted ones too, by name.
  func zones(in database: DatabaseID) throws -> [ZoneRow]

  /// The zones with `changedAt` above `sequence`, oldest first, at most `limit`.
  func zoneChanges(
    in database: DatabaseID, after sequence: UInt64, limit: Int
  ) throws -> [ZoneRow]

  /// The record `id`, also when it was deleted and the deletion is remembered.
  func record(_ id: RecordID, in database: DatabaseID) throws -> RecordRow?

  /// The zone's records with `changedAt` above `sequence`, oldest first, at most `limit`.
  func recordChanges(
    of zone: ZoneID, in database: DatabaseID, after sequence: UInt64, limit: Int
  ) throws -> [RecordRow]

  /// The live records that point at `target`, by name.
  func links(to target: RecordID, in database: DatabaseID) throws -> [RecordLink]

  /// The subscription called `id`.
  func subscription(_ id: SubscriptionID, in database: DatabaseID) throws -> Subscription?

  /// All subscriptions, by name.
  func subscriptions(in database: DatabaseID) throws -> [Subscription]

  /// The databases of the same container, world and scope as `database` that hold subscriptions,
  /// by owner.
  func subscriptionHomes(of database: DatabaseID) throws -> [DatabaseID]

  /// What was answered to a request, if it is remembered.
  func receipt(_ key: ReceiptKey) throws -> Receipt?

  /// Applies all of `changes`, in order, or none.
  func commit(_ changes: [StorageChange]) throws
}

/// A key of 128 bits.
package struct StorageSecret: Hashable, Sendable {
  /// One half.
  package var first: UInt64
  /// The other half.
  package var second: UInt64

  /// Puts a key together.
  package init(first: UInt64, second: UInt64) {
    self.first = first
    self.second = second
  }

  /// A key that follows from a storage's identity, for tests and simulations: whoever sees a
  /// token could work it out.
  package init(guessableFrom identity: UInt64) {
    self.init(first: identity ^ 0x736f_6d65_7073_6575, second: ~identity)
  }
}

/// One change of the stored rows.
package enum StorageChange: Hashable, Sendable {
  /// Adds or replaces an account.
  case putAccount(AccountRow)
  /// Adds or replaces the row of a database.
  case putDatabase(DatabaseRow)
  /// Adds or replaces the row of a zone.
  case putZone(ZoneRow, in: DatabaseID)
  /// Forgets a deleted zone.
  case removeZone(ZoneID, in: DatabaseID)
  /// Adds or replaces a record, or puts a tombstone in its place.
  ///
  /// In a box, since a change is handed on several times and a row is many values.
  indirect case putRecord(RecordRow, in: DatabaseID)
  /// Forgets all records and tombstones of a zone.
  case removeRecords(of: ZoneID, in: DatabaseID)
  /// Forgets the tombstones of a zone up to a sequence number, that one included.
  case removeTombstones(of: ZoneID, in: DatabaseID, through: UInt64)
  /// Adds or replaces a subscription.
  case putSubscription(Subscription, in: DatabaseID)
  /// Removes a subscription.
  case removeSubscription(SubscriptionID, in: DatabaseID)
  /// Remembers an answer and forgets all but the latest `keeping` of the same user and device.
  case putReceipt(Receipt, keeping: Int)
  /// Adds or replaces what is known of a record type.
  case putRecordType(RecordTypeRow)
  /// Adds or replaces what holds for all record types of a container's world.
  case putSchema(SchemaRow)
  /// Keeps the content of a file together with the receipt of its upload.
  case putUpload(UploadRow, content: [UInt8])
  /// Forgets the receipt of an upload.
  case removeUpload(String)
  /// Forgets every row and makes the storage another one, with an identity and a key of its own.
  case removeEverything(identity: UInt64, secret: StorageSecret)
}

/// Names one database: a public one has no owner.
///
/// Subscriptions belong to one user everywhere: those to a public or shared database are kept
/// under an ID with that scope and the user as owner.
package struct DatabaseID: Hashable, Sendable, Codable {
  /// The container.
  package var container: String
  /// The container's world.
  package var environment: CloudEnvironment
  /// Which kind; a shared database is a view and stores no records, but a row for each zone it
  /// shows.
  package var scope: DatabaseScope
  /// Whose private database it is; `nil` for a public one.
  package var owner: UserID?

  /// Names a database.
  package init(
    container: String, environment: CloudEnvironment, scope: DatabaseScope, owner: UserID?
  ) {
    self.container = container
    self.environment = environment
    self.scope = scope
    self.owner = owner
  }
}

extension DatabaseID: Comparable {
  /// Orders by container, environment, scope and owner, names by their bytes, so that databases
  /// have one order in every storage.
  package static func < (first: DatabaseID, second: DatabaseID) -> Bool {
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

/// One account.
package struct AccountRow: Hashable, Sendable, Codable {
  /// The name people use for it, such as `alice`.
  package var name: String
  /// Its user record name.
  package var user: UserID
  /// The most bytes its private databases may hold; `nil` for no bound.
  package var quota: Int?
  /// How others find and see the person.
  package var person: Person

  /// How others find and see the person behind an account.
  package struct Person: Hashable, Sendable, Codable {
    /// The address for mail, besides those that follow from the account's name.
    package var email: String?
    /// The telephone number.
    package var phone: String?
    /// The given name.
    package var givenName: String?
    /// The family name.
    package var familyName: String?

    /// Describes a person; nothing is known by default.
    package init(
      email: String? = nil, phone: String? = nil, givenName: String? = nil,
      familyName: String? = nil
    ) {
      self.email = email
      self.phone = phone
      self.givenName = givenName
      self.familyName = familyName
    }
  }

  /// Describes an account.
  package init(name: String, user: UserID, quota: Int? = nil, person: Person = Person()) {
    self.name = name
    self.user = user
    self.quota = quota
    self.person = person
  }
}

/// What is kept for a whole database.
package struct DatabaseRow: Hashable, Sendable, Codable {
  /// The database.
  package var id: DatabaseID
  /// Tells this life of the database from an earlier one of the same name.
  package var incarnation: UInt64
  /// The latest sequence number given to a change; never goes back.
  package var sequence: UInt64
  /// The latest time put on a change; the next one is later.
  package var latest: Timestamp
  /// Zone deletions up to here are forgotten.
  package var trimmedThrough: UInt64
  /// How many bytes its records count.
  package var byteCount: Int

  /// Describes a database.
  package init(
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

/// What is kept for a zone, or for one that is gone.
package struct ZoneRow: Hashable, Sendable, Codable {
  /// The zone, spelt with `ZoneID.currentOwner`.
  package var id: ZoneID
  /// Why it is gone; `nil` while it lives.
  package var deletion: ZoneDeletionReason?
  /// Tells this life of the zone from an earlier one of the same name.
  package var incarnation: UInt64
  /// The sequence number of the latest change in it or to it.
  package var changedAt: UInt64
  /// Tombstones up to here are forgotten.
  package var trimmedThrough: UInt64
  /// How many bytes its records count.
  package var byteCount: Int
  /// What is shared of it, or which shares it is seen through.
  package var sharing: ZoneSharing

  /// Describes a zone.
  package init(
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

/// What is kept with a zone about shares.
///
/// The owner's zone counts its shares and knows its visitors. A visitor has a row for it too, in
/// the shared database, which holds no records but says through which shares it is seen; such a
/// row is called a mount.
package struct ZoneSharing: Hashable, Sendable, Codable {
  /// How many hierarchies of the zone are shared.
  package var hierarchies: Int
  /// Whether the zone as a whole is shared.
  package var isZoneWide: Bool
  /// Who sees something of the zone in the shared database, in order.
  package var visitors: [UserID]
  /// For a mount: the shares its user is or was in, by the owner's sequence numbers.
  package var stays: [ShareStay]

  /// Nothing is shared by default.
  package init(
    hierarchies: Int = 0, isZoneWide: Bool = false, visitors: [UserID] = [],
    stays: [ShareStay] = []
  ) {
    self.hierarchies = hierarchies
    self.isZoneWide = isZoneWide
    self.visitors = visitors
    self.stays = stays
  }
}

/// From when to when a record, or a user, was in a share.
package struct ShareStay: Hashable, Sendable, Codable {
  /// The record name of the share.
  package var share: String
  /// The sequence number of the change that brought it in.
  package var since: UInt64
  /// The sequence number of the change that took it out; `nil` while it is in.
  package var until: UInt64?

  /// Notes a stay.
  package init(share: String, since: UInt64, until: UInt64? = nil) {
    self.share = share
    self.since = since
    self.until = until
  }
}

/// The latest state of a record, or the tombstone of one that is gone.
package struct RecordRow: Hashable, Sendable, Codable {
  /// The record's name and zone, spelt with `ZoneID.currentOwner`.
  package var id: RecordID
  /// Its type, kept for deletions too.
  package var type: String
  /// The record as it is; `nil` for a tombstone.
  package var record: Record?
  /// The sequence number of its latest change.
  package var changedAt: UInt64
  /// The device that made the latest change; for a tombstone the one that made the record, which
  /// decides who hears of the deletion at a first fetch.
  package var device: String?
  /// The hierarchical shares it is or was in, the latest last; at most one has no end.
  package var stays: [ShareStay]

  /// Describes a record or a tombstone.
  package init(
    id: RecordID, type: String, record: Record?, changedAt: UInt64, device: String?,
    stays: [ShareStay] = []
  ) {
    self.id = id
    self.type = type
    self.record = record
    self.changedAt = changedAt
    self.device = device
    self.stays = stays
  }
}

/// A live record that points at another one.
package struct RecordLink: Hashable, Sendable, Codable {
  /// How it points.
  package enum Kind: UInt8, Hashable, Sendable, Codable, CaseIterable {
    /// As its parent in a share hierarchy.
    case parent = 0
    /// By a field that deletes the holder with the target.
    case deleteSelf = 1
    /// The target can't go as long as the holder points at it.
    case validating = 2
  }

  /// The record that points.
  package var holder: RecordID
  /// How.
  package var kind: Kind

  /// Notes that `holder` points.
  package init(holder: RecordID, kind: Kind) {
    self.holder = holder
    self.kind = kind
  }
}

/// Names one request of one device.
package struct ReceiptKey: Hashable, Sendable, Codable {
  /// The account it was made for.
  package var user: UserID
  /// The device that made it.
  package var device: String
  /// Its name.
  package var requestID: String

  /// Names a request.
  package init(user: UserID, device: String, requestID: String) {
    self.user = user
    self.device = device
    self.requestID = requestID
  }
}

/// What was answered to a request that changed something.
package struct Receipt: Hashable, Sendable, Codable {
  /// The request.
  package var key: ReceiptKey
  /// The answer.
  package var reply: CloudReply
  /// What ``CloudCall/digest`` said of the request; `nil` in a receipt of an earlier version, which
  /// did not keep it.
  package var digest: [UInt8]?

  /// Notes an answer.
  package init(key: ReceiptKey, reply: CloudReply, digest: [UInt8]? = nil) {
    self.key = key
    self.reply = reply
    self.digest = digest
  }
}

extension Record {
  /// Whom the record points at in a way that the server looks after; a share goes with its root.
  package var links: [(target: RecordID, kind: RecordLink.Kind)] {
    var links: [(target: RecordID, kind: RecordLink.Kind)] = []
    if let parent { links.append((parent, .parent)) }
    if let root = sharing?.root { links.append((root, .deleteSelf)) }
    for element in fields { collect(element.field.value, into: &links) }
    return links
  }

  private func collect(
    _ value: FieldValue, into links: inout [(target: RecordID, kind: RecordLink.Kind)]
  ) {
    switch value {
    case .reference(let reference):
      switch reference.action {
      case .none: break
      case .deleteSelf: links.append((reference.target, .deleteSelf))
      case .validate: links.append((reference.target, .validating))
      }
    case .list(let values): for value in values { collect(value, into: &links) }
    case .string, .int64, .double, .date, .bytes, .asset, .location: break
    }
  }
}
