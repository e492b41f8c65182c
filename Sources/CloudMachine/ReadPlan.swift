public import Records

/// The rows that a transaction is about to read, so that a remote storage can read all at once.
///
/// A plan is a hint: rows that it does not name may be read as well, and rows that it names may not
/// be needed.
public struct ReadPlan: Hashable, Sendable {
  /// Records of one zone, to be read together.
  public struct ZoneRecords: Hashable, Sendable {
    /// The zone that contains the records.
    public var zone: ZoneID
    /// The zone's database.
    public var database: DatabaseID
    /// The names of the records.
    public var names: [String]

    /// Names records of a zone.
    public init(zone: ZoneID, database: DatabaseID, names: [String]) {
      self.zone = zone
      self.database = database
      self.names = names
    }
  }

  /// A page of a feed: what changed after a sequence number, at most so many rows.
  public struct Page: Hashable, Sendable {
    /// The zone of a zone's feed; `nil` for the feed of a database.
    public var zone: ZoneID?
    /// The database of the feed.
    public var database: DatabaseID
    /// The sequence number after which the page begins.
    public var sequence: UInt64
    /// The maximum number of rows.
    public var limit: Int

    /// Names a page.
    public init(zone: ZoneID?, database: DatabaseID, after sequence: UInt64, limit: Int) {
      self.zone = zone
      self.database = database
      self.sequence = sequence
      self.limit = limit
    }
  }

  /// A page of the live records of one type, by name.
  public struct TypePage: Hashable, Sendable {
    /// The record type.
    public var type: String
    /// The zone that contains the records.
    public var zone: ZoneID
    /// The database that contains the zone.
    public var database: DatabaseID
    /// The name after which the page begins; `nil` for the first page.
    public var name: String?
    /// The maximum number of rows.
    public var limit: Int

    /// Names a page.
    public init(type: String, zone: ZoneID, database: DatabaseID, after name: String?, limit: Int) {
      self.type = type
      self.zone = zone
      self.database = database
      self.name = name
      self.limit = limit
    }
  }

  /// The kind of access of a transaction to the stored data.
  public enum Access: Hashable, Sendable {
    /// It may change data; it locks the databases that it changes.
    case writing
    /// It changes nothing.
    case reading
    /// It changes nothing, and may pause for long, such as an export.
    case exporting
    /// It replaces everything, so that no other may write meanwhile, and may pause for long, such
    /// as an import.
    case replacing
  }

  /// The kind of access; the transaction may change data unless the plan says otherwise.
  public var access = Access.writing
  /// Whether the transaction, which changes nothing, reads nothing that the plan does not name.
  public var isComplete = false
  /// The identity and the secret of the storage.
  public var includesIdentity = false
  /// Accounts by name.
  public var accounts: [String] = []
  /// Accounts by user.
  public var users: [UserID] = []
  /// The rows of databases; a transaction that writes locks them in this order, before it reads
  /// anything else.
  public var databases: [DatabaseID] = []
  /// The rows of zones, by database.
  public var zones: [DatabaseID: [ZoneID]] = [:]
  /// The rows of records.
  public var records: [ZoneRecords] = []
  /// The rows of records that the transaction inserts if there are none.
  ///
  /// A storage may assume that they are absent. It must then throw ``TransactionConflict`` if the
  /// transaction inserts one that exists, or ends without inserting one that it has read, and read
  /// them when the transaction is run again.
  public var newRecords: [ZoneRecords] = []
  /// The references to records.
  public var links: [ZoneRecords] = []
  /// A page of a feed.
  public var page: Page?
  /// A page of the records of one type.
  public var typePage: TypePage?
  /// The rows of record types, and the schema of their container and environment.
  public var recordTypes: [RecordTypeID] = []
  /// The databases of which all subscriptions are read.
  public var subscriptions: [DatabaseID] = []
  /// A database whose `subscriptionHomes(of:)` are read.
  public var subscriptionHomes: DatabaseID?
  /// The receipt of a request.
  public var receipt: ReceiptKey?
  /// The receipts of uploads.
  public var uploads: [String] = []

  /// Creates an empty plan.
  public init() {}
}
