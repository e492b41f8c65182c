public import Records

/// A request with its envelope: container, environment, database, account and ID.
public struct CloudCall: Hashable, Sendable, Codable {
  /// The container, such as `iCloud.com.example.app`.
  public var container: String

  /// The environment of the container.
  public var environment: CloudEnvironment

  /// The database of the container.
  public var database: DatabaseScope

  /// The account that the client expects to be signed in.
  ///
  /// The server rejects the request with `notAuthenticated` if another account is signed in, so
  /// that no data of one account is written to another's database during a switch. `nil` if the
  /// client does not know the account.
  public var expectedUser: UserID?

  /// The ID of the request.
  ///
  /// A repeated request with the same ID changes nothing and receives the reply of the first one.
  ///
  /// Unique per device.
  public var requestID: String

  /// What the server is asked to read or to change.
  public var request: CloudRequest

  /// Creates a call.
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

/// The two environments of a container, which share no data.
public enum CloudEnvironment: String, Hashable, Sendable, Codable, CaseIterable {
  /// The development environment: the schema grows by use.
  case development
  /// The production environment.
  case production
}

/// A request to the server.
public enum CloudRequest: Hashable, Sendable, Codable {
  /// Fetches the current user.
  case fetchCurrentUser
  /// Fetches the zones that changed since a token.
  case fetchDatabaseChanges(FetchDatabaseChanges)
  /// Fetches the records of a zone that changed since a token.
  case fetchZoneChanges(FetchZoneChanges)
  /// Fetches the zones with these IDs, or all zones for `nil`.
  case fetchZones([ZoneID]?)
  /// Creates and deletes zones.
  case modifyZones(ModifyZones)
  /// Fetches the records with these IDs.
  case fetchRecords(FetchRecords)
  /// Saves and deletes records.
  case modifyRecords(ModifyRecords)
  /// Fetches the subscriptions with these IDs, or all subscriptions for `nil`.
  case fetchSubscriptions([SubscriptionID]?)
  /// Creates and deletes subscriptions.
  case modifySubscriptions(ModifySubscriptions)
  /// Fetches the records that match a query.
  case queryRecords(QueryRecords)
  /// Fetches the metadata of shares by URL.
  case resolveShares(ResolveShares)
  /// Accepts the shares with these URLs.
  case acceptShares([String])
  /// Looks up users.
  case findUsers([UserLookup])
  /// Uploads the content of an asset, before the save of its record.
  case uploadAsset(UploadAsset)
  /// Downloads the content of an asset.
  case downloadAsset(DownloadAsset)

  /// Whether the request can change data on the server.
  public var isMutation: Bool {
    switch self {
    case .modifyZones, .modifyRecords, .modifySubscriptions, .acceptShares, .uploadAsset: true
    case .fetchCurrentUser, .fetchDatabaseChanges, .fetchZoneChanges, .fetchZones, .fetchRecords,
      .fetchSubscriptions, .queryRecords, .resolveShares, .findUsers, .downloadAsset:
      false
    }
  }

  /// The name of the case.
  package var name: String {
    Mirror(reflecting: self).children.first?.label ?? String(describing: self)
  }
}

/// The fields in a reply.
public enum FieldSelection: Hashable, Sendable, Codable {
  /// All fields.
  case all
  /// No fields, only system fields.
  case none
  /// The fields with these names.
  case keys([String])

  /// The selected ones of `fields`.
  public func applied(to fields: Fields) -> Fields {
    SelectedFields(self).applied(to: fields)
  }

  /// The maximum number of names of fields, or of record types, that a request may ask for.
  package static let maximumNames = 400
}

/// A selection that is applied to many records.
package struct SelectedFields: Sendable {
  /// The names; `nil` for all.
  private let names: Set<String>?

  /// Makes the set of names once.
  package init(_ selection: FieldSelection) {
    switch selection {
    case .all: names = nil
    case .none: names = []
    case .keys(let keys): names = Set(keys)
    }
  }

  /// The selected ones of `fields`.
  package func applied(to fields: Fields) -> Fields {
    guard let names else { return fields }
    return fields.selecting(anyOf: names)
  }
}

/// Fetches zone changes.
public struct FetchDatabaseChanges: Hashable, Sendable, Codable {
  /// The token of the last page; `nil` fetches all zones.
  public var since: ChangeToken?
  /// The maximum number of zones in a page; the server may return fewer.
  public var limit: Int?

  /// Creates a request for the changes after `since`.
  public init(since: ChangeToken?, limit: Int? = nil) {
    self.since = since
    self.limit = limit
  }
}

/// Fetches the record changes of a zone.
public struct FetchZoneChanges: Hashable, Sendable, Codable {
  /// The zone whose record changes are fetched.
  public var zone: ZoneID
  /// The token of the last page; `nil` fetches all records.
  public var since: ChangeToken?
  /// The maximum number of changes in a page; the server may return fewer.
  public var limit: Int?
  /// The fields to return.
  public var fields: FieldSelection
  /// The number of bytes of records after which a page ends; `nil` for the server's limit.
  ///
  /// At 0 a page has no record. Set by a server that puts several pages into one response; it is
  /// not sent.
  package var recordBytes: Int?

  private enum CodingKeys: CodingKey { case zone, since, limit, fields }

  /// Creates a request for the changes of `zone` after `since`.
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
  /// Zones to create.
  ///
  /// An existing zone is unchanged and counts as a success.
  public var save: [ZoneID]
  /// Zones to delete with their records.
  public var delete: [ZoneID]

  /// Creates a request.
  public init(save: [ZoneID] = [], delete: [ZoneID] = []) {
    self.save = save
    self.delete = delete
  }
}

/// Fetches records by ID.
public struct FetchRecords: Hashable, Sendable, Codable {
  /// The records to return, in the order of the results.
  public var ids: [RecordID]
  /// The fields to return.
  public var fields: FieldSelection

  /// Creates a request for the records `ids`.
  public init(ids: [RecordID], fields: FieldSelection = .all) {
    self.ids = ids
    self.fields = fields
  }
}

/// The treatment of a record that already exists on the server.
public enum SavePolicy: UInt8, Hashable, Sendable, Codable, CaseIterable {
  /// Saves only if the change tag matches; otherwise `serverRecordChanged`.
  case ifServerRecordUnchanged = 0
  /// Overwrites the fields that were sent, whatever the tag; others are unchanged.
  case changedKeys = 1
  /// Like `changedKeys`; the client sends all its fields.
  case allKeys = 2
}

/// The changes to save to one record.
public struct RecordSave: Hashable, Sendable, Codable {
  /// A field to set or to clear.
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

  /// The change of the parent reference.
  public enum ParentChange: Hashable, Sendable, Codable {
    /// Keeps it unchanged.
    case keep
    /// Sets it, or clears it with `nil`.
    case set(RecordID?)
  }

  /// The record.
  public var id: RecordID
  /// The record type, which must be that of the existing record.
  ///
  /// Empty for any type; such a save can't create a record.
  public var type: String
  /// The change tag of the version that the client changed; `nil` for a new record.
  public var changeTag: ChangeTag?
  /// The fields to set or clear, ordered by name.
  public var changes: [Change]
  /// The change of the parent reference.
  public var parent: ParentChange
  /// The details of a share record.
  ///
  /// The server determines its URL and the acceptance of participants.
  public var sharing: ShareDetails? {
    get { boxedSharing.value }
    set { boxedSharing = Boxed(newValue) }
  }
  /// Boxed, since few saved records are shares.
  private var boxedSharing: Boxed<ShareDetails>
  /// The policy of this save, if it differs from that of the request.
  public var policy: SavePolicy?
  /// Whether all other fields are cleared.
  public var clearsOtherFields = false
  /// The error for a save with a value that no server can store.
  ///
  /// The client fails such a save without sending it.
  public var deviceFault: CloudError? {
    get { boxedFault.value }
    set { boxedFault = Boxed(newValue) }
  }
  /// Boxed, since few saves have one.
  private var boxedFault = Boxed<CloudError>.nothing

  /// The encoding does not depend on the storage of the members.
  private enum CodingKeys: String, CodingKey {
    case id, type, changeTag, changes, parent, policy, clearsOtherFields
    case boxedSharing = "sharing"
    case boxedFault = "deviceFault"
  }

  /// Creates a save of `changes` to the record `id`.
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

  /// Creates a save that sets every field of `record`.
  public init(_ record: Record) {
    self.init(
      id: record.id, type: record.type, changeTag: record.changeTag,
      changes: record.fields.map { Change(key: $0.key, field: $0.field) },
      parent: record.parent.map { .set($0) } ?? .keep, sharing: record.sharing)
  }

  /// The size of the save in bytes, for the request limits.
  public var byteCount: Int {
    changes.reduce(id.name.utf8.count + type.utf8.count) {
      $0 + $1.key.utf8.count + ($1.field?.value.byteCount ?? 0)
    }
  }
}

/// Saves and deletes records.
public struct ModifyRecords: Hashable, Sendable, Codable {
  /// The records to create or change, each under its own save policy or that of the request.
  public var save: [RecordSave]
  /// The records to delete, whatever their version unless `deleteTags` names one.
  public var delete: [RecordID]
  /// The change tags that records to delete must have; other deletions are not checked.
  public var deleteTags: [RecordID: ChangeTag] = [:]
  /// The policy for existing records.
  public var policy: SavePolicy
  /// Whether the changes of a custom zone succeed or fail together.
  public var isAtomic: Bool
  /// The fields to return in the reply.
  public var fields: FieldSelection

  /// Creates a request.
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
  /// Subscriptions to create; one with the same ID is replaced.
  public var save: [Subscription]
  /// Subscriptions to delete.
  public var delete: [SubscriptionID]

  /// Creates a request.
  public init(save: [Subscription] = [], delete: [SubscriptionID] = []) {
    self.save = save
    self.delete = delete
  }
}
