public import Records

/// Everything a client can ask of the cloud, with its envelope.
public struct CloudCall: Hashable, Sendable, Codable {
  /// The container, such as `iCloud.com.example.app`.
  public var container: String

  /// Which of the container's two worlds.
  public var environment: CloudEnvironment

  /// Which of its databases.
  public var database: DatabaseScope

  /// The account the client believes is signed in.
  ///
  /// A server that sees another account refuses with `notAuthenticated`, so that nothing of one
  /// account can end in another's database during a switch. `nil` while the client does not know.
  public var expectedUser: UserID?

  /// Names this request: a second arrival with the same ID changes nothing and is answered as the
  /// first one was.
  ///
  /// Unique per device.
  public var requestID: String

  /// What is asked.
  public var request: CloudRequest

  /// Puts a request in its envelope.
  public init(
    container: String, environment: CloudEnvironment = .development, database: DatabaseScope,
    expectedUser: UserID? = nil, requestID: String, request: CloudRequest
  ) {
    self.container = container
    self.environment = environment
    self.database = database
    self.expectedUser = expectedUser
    self.requestID = requestID
    self.request = request
  }
}

/// The two worlds of a container, which share nothing.
public enum CloudEnvironment: String, Hashable, Sendable, Codable, CaseIterable {
  /// For building the app: the schema grows by use.
  case development
  /// For its users.
  case production
}

/// One thing asked of the cloud.
public enum CloudRequest: Hashable, Sendable, Codable {
  /// Who is signed in?
  case fetchCurrentUser
  /// Which zones changed since a token?
  case fetchDatabaseChanges(FetchDatabaseChanges)
  /// Which records of a zone changed since a token?
  case fetchZoneChanges(FetchZoneChanges)
  /// The zones with these names, or all when `nil`.
  case fetchZones([ZoneID]?)
  /// Create and delete zones.
  case modifyZones(ModifyZones)
  /// The records with these IDs.
  case fetchRecords(FetchRecords)
  /// Save and delete records.
  case modifyRecords(ModifyRecords)
  /// The subscriptions with these names, or all when `nil`.
  case fetchSubscriptions([SubscriptionID]?)
  /// Create and delete subscriptions.
  case modifySubscriptions(ModifySubscriptions)
  /// The records that match a query.
  case queryRecords(QueryRecords)
  /// What is behind the URLs of shares.
  case resolveShares(ResolveShares)
  /// Join the shares behind these URLs.
  case acceptShares([String])
  /// Who these people are.
  case findUsers([UserLookup])
  /// Keep a file's content until a record is saved that holds it.
  case uploadAsset(UploadAsset)
  /// A file's content.
  case downloadAsset(DownloadAsset)

  /// Whether doing it can change something on the server.
  public var isMutation: Bool {
    switch self {
    case .modifyZones, .modifyRecords, .modifySubscriptions, .acceptShares, .uploadAsset: true
    case .fetchCurrentUser, .fetchDatabaseChanges, .fetchZoneChanges, .fetchZones, .fetchRecords,
      .fetchSubscriptions, .queryRecords, .resolveShares, .findUsers, .downloadAsset:
      false
    }
  }
}

/// Which fields a reply carries.
public enum FieldSelection: Hashable, Sendable, Codable {
  /// All fields.
  case all
  /// No fields: only what the system knows of the record.
  case none
  /// The fields with these names.
  case keys([String])

  /// What is left of `fields`.
  public func applied(to fields: Fields) -> Fields {
    switch self {
    case .all: fields
    case .none: Fields()
    case .keys(let keys): fields.selecting(keys)
    }
  }
}

/// Asks which zones changed.
public struct FetchDatabaseChanges: Hashable, Sendable, Codable {
  /// Where the last answer ended; `nil` asks for every zone there is.
  public var since: ChangeToken?
  /// The most zones wanted in one page; the server may give fewer.
  public var limit: Int?

  /// Asks for changes after `since`.
  public init(since: ChangeToken?, limit: Int? = nil) {
    self.since = since
    self.limit = limit
  }
}

/// Asks which records of one zone changed.
public struct FetchZoneChanges: Hashable, Sendable, Codable {
  /// The zone.
  public var zone: ZoneID
  /// Where the last answer ended; `nil` asks for every record there is.
  public var since: ChangeToken?
  /// The most changes wanted in one page; the server may give fewer.
  public var limit: Int?
  /// Which fields are wanted.
  public var fields: FieldSelection

  /// Asks for changes of `zone` after `since`.
  public init(
    zone: ZoneID, since: ChangeToken?, limit: Int? = nil, fields: FieldSelection = .all
  ) {
    self.zone = zone
    self.since = since
    self.limit = limit
    self.fields = fields
  }
}

/// Creates and deletes zones.
public struct ModifyZones: Hashable, Sendable, Codable {
  /// Zones to create; one that exists is left as it is, and that is a success.
  public var save: [ZoneID]
  /// Zones to delete with all they hold.
  public var delete: [ZoneID]

  /// Asks for zones to be there, or gone.
  public init(save: [ZoneID] = [], delete: [ZoneID] = []) {
    self.save = save
    self.delete = delete
  }
}

/// Asks for records by ID.
public struct FetchRecords: Hashable, Sendable, Codable {
  /// The records.
  public var ids: [RecordID]
  /// Which fields are wanted.
  public var fields: FieldSelection

  /// Asks for the records `ids`.
  public init(ids: [RecordID], fields: FieldSelection = .all) {
    self.ids = ids
    self.fields = fields
  }
}

/// How a save treats a record that is on the server already.
public enum SavePolicy: UInt8, Hashable, Sendable, Codable, CaseIterable {
  /// Only when the tag matches; see `serverRecordChanged`.
  case ifServerRecordUnchanged = 0
  /// Whatever the tag, the fields sent overwrite, others stay.
  case changedKeys = 1
  /// Like `changedKeys`; the client sends all the fields it has.
  case allKeys = 2
}

/// One record to save: not the record, but what is to be changed in it.
public struct RecordSave: Hashable, Sendable, Codable {
  /// A field to set, or to clear when it holds nothing.
  public struct Change: Hashable, Sendable, Codable {
    /// The field's name.
    public var key: String
    /// The new field; `nil` clears it.
    public var field: Field?

    /// Sets or clears the field `key`.
    public init(key: String, field: Field?) {
      self.key = key
      self.field = field
    }
  }

  /// What is to happen to the parent reference.
  public enum ParentChange: Hashable, Sendable, Codable {
    /// Leave it as it is on the server.
    case keep
    /// Set it, or clear it with `nil`.
    case set(RecordID?)
  }

  /// The record.
  public var id: RecordID
  /// Its type; must be the one it was created with.
  ///
  /// Empty for "whatever it is", which can't create a record.
  public var type: String
  /// The version the client changed, `nil` for a new record.
  public var changeTag: ChangeTag?
  /// The fields to set or clear, in the order of their names.
  public var changes: [Change]
  /// What is to happen to the parent reference.
  public var parent: ParentChange
  /// For a record that is a share: what it is to be.
  ///
  /// Its URL and the acceptance of participants are the server's to decide.
  public var sharing: ShareDetails? {
    get { boxedSharing.value }
    set { boxedSharing = Boxed(newValue) }
  }
  /// Boxed, since few saves are of shares.
  private var boxedSharing: Boxed<ShareDetails>
  /// How this save treats a record that is there, where that differs from the request's policy.
  public var policy: SavePolicy?
  /// Whether fields that the save does not name are cleared.
  public var clearsOtherFields = false
  /// Why the device can't send this save, where a field holds what no server can store.
  ///
  /// The client answers such a save by itself; no server gets it.
  public var deviceFault: CloudError? {
    get { boxedFault.value }
    set { boxedFault = Boxed(newValue) }
  }
  /// Boxed, since hardly any save has one.
  private var boxedFault = Boxed<CloudError>.nothing

  /// Asks for `changes` to the record `id`.
  public init(
    id: RecordID, type: String, changeTag: ChangeTag? = nil, changes: [Change],
    parent: ParentChange = .keep, sharing: ShareDetails? = nil
  ) {
    self.id = id
    self.type = type
    self.changeTag = changeTag
    self.changes = changes
    self.parent = parent
    // Most have none, and what makes a box looks its type up first.
    if let sharing { boxedSharing = .something(sharing) } else { boxedSharing = .nothing }
  }

  /// A save that sets every field of `record`.
  public init(_ record: Record) {
    self.init(
      id: record.id, type: record.type, changeTag: record.changeTag,
      changes: record.fields.map { Change(key: $0.key, field: $0.field) },
      parent: record.parent.map { .set($0) } ?? .keep, sharing: record.sharing)
  }

  private enum CodingKeys: String, CodingKey {
    case id, type, changeTag, changes, parent, sharing, policy, clearsOtherFields, deviceFault
  }

  /// Reads a save; where it keeps its members does not show.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      id: try container.decode(RecordID.self, forKey: .id),
      type: try container.decode(String.self, forKey: .type),
      changeTag: try container.decodeIfPresent(ChangeTag.self, forKey: .changeTag),
      changes: try container.decode([Change].self, forKey: .changes),
      parent: try container.decode(ParentChange.self, forKey: .parent),
      sharing: try container.decodeIfPresent(ShareDetails.self, forKey: .sharing))
    policy = try container.decodeIfPresent(SavePolicy.self, forKey: .policy)
    clearsOtherFields = try container.decode(Bool.self, forKey: .clearsOtherFields)
    deviceFault = try container.decodeIfPresent(CloudError.self, forKey: .deviceFault)
  }

  /// Writes the save; what it has not is left out.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(type, forKey: .type)
    try container.encodeIfPresent(changeTag, forKey: .changeTag)
    try container.encode(changes, forKey: .changes)
    try container.encode(parent, forKey: .parent)
    try container.encodeIfPresent(sharing, forKey: .sharing)
    try container.encodeIfPresent(policy, forKey: .policy)
    try container.encode(clearsOtherFields, forKey: .clearsOtherFields)
    try container.encodeIfPresent(deviceFault, forKey: .deviceFault)
  }

  /// What the save counts toward the size limits, in bytes.
  public var byteCount: Int {
    changes.reduce(id.name.utf8.count + type.utf8.count) {
      $0 + $1.key.utf8.count + ($1.field?.value.byteCount ?? 0)
    }
  }
}

/// Saves and deletes records.
public struct ModifyRecords: Hashable, Sendable, Codable {
  /// Records to save.
  public var save: [RecordSave]
  /// Records to delete.
  public var delete: [RecordID]
  /// The versions that records to delete must still have; of others none is checked.
  public var deleteTags: [RecordID: ChangeTag] = [:]
  /// How saves treat records that exist.
  public var policy: SavePolicy
  /// Whether all changes of one custom zone land together or not at all.
  public var isAtomic: Bool
  /// Which fields the answer repeats.
  public var fields: FieldSelection

  /// Asks for saves and deletions.
  public init(
    save: [RecordSave] = [], delete: [RecordID] = [],
    policy: SavePolicy = .ifServerRecordUnchanged, isAtomic: Bool = true,
    fields: FieldSelection = .all
  ) {
    self.save = save
    self.delete = delete
    self.policy = policy
    self.isAtomic = isAtomic
    self.fields = fields
  }
}

/// Creates and deletes subscriptions.
public struct ModifySubscriptions: Hashable, Sendable, Codable {
  /// Subscriptions to create; one with the same name is replaced.
  public var save: [Subscription]
  /// Subscriptions to delete.
  public var delete: [SubscriptionID]

  /// Asks for subscriptions to be there, or gone.
  public init(save: [Subscription] = [], delete: [SubscriptionID] = []) {
    self.save = save
    self.delete = delete
  }
}
