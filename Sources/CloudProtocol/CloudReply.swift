public import Records

/// What the cloud answers to a request that it could take on; each item may still have failed.
public enum CloudReply: Hashable, Sendable, Codable {
  /// To `fetchCurrentUser`.
  case currentUser(UserID)
  /// To `fetchDatabaseChanges`.
  case databaseChanges(DatabaseChangesPage)
  /// To `fetchZoneChanges`.
  case zoneChanges(ZoneChangesPage)
  /// To `fetchZones`: one result for each zone asked for, in that order.
  case zones([ItemResult<ZoneID, Zone>])
  /// To `modifyZones`: saves then deletions, each in the order asked.
  case zonesModified(
    saved: [ItemResult<ZoneID, Zone>], deleted: [ItemResult<ZoneID, Done>])
  /// To `fetchRecords`: one result for each record asked for, in that order.
  case records([ItemResult<RecordID, Record>])
  /// To `modifyRecords`: saves then deletions, each in the order asked.
  case recordsModified(
    saved: [ItemResult<RecordID, Record>], deleted: [ItemResult<RecordID, Done>])
  /// To `fetchSubscriptions`: one result for each subscription asked for, in that order.
  case subscriptions([ItemResult<SubscriptionID, Subscription>])
  /// To `modifySubscriptions`: saves then deletions, each in the order asked.
  case subscriptionsModified(
    saved: [ItemResult<SubscriptionID, Subscription>],
    deleted: [ItemResult<SubscriptionID, Done>])
  /// To `queryRecords`.
  case queried(QueryPage)
  /// To `resolveShares`: one result for each URL asked for, in that order.
  case sharesResolved([ItemResult<String, ShareMetadata>])
  /// To `acceptShares`: the share records as the shared database shows them, in the order asked.
  case sharesAccepted([ItemResult<String, Record>])
  /// To `findUsers`: one result for each person asked for, in that order.
  case usersFound([ItemResult<UserLookup, UserIdentity>])
  /// To `uploadAsset`: the asset to save, with its receipt.
  case assetUploaded(Asset)
  /// To `downloadAsset`.
  case assetContent([UInt8])
}

/// The value of a success that has nothing to tell.
public struct Done: Hashable, Sendable, Codable {
  /// The one value.
  public init() {}
}

/// What became of one item of a request.
public struct ItemResult<ID: Hashable & Sendable & Codable, Value: Hashable & Sendable & Codable>:
  Hashable, Sendable, Codable
{
  /// How it went.
  public enum Outcome: Hashable, Sendable, Codable {
    /// It was done.
    case success(Value)
    /// It was not done.
    case failure(CloudError)
  }

  /// The item.
  public var id: ID

  /// How it went.
  public var outcome: Outcome

  /// Notes how it went with the item `id`.
  public init(id: ID, _ outcome: Outcome) {
    self.id = id
    self.outcome = outcome
  }

  /// The error of an item that failed.
  public var error: CloudError? {
    if case .failure(let error) = outcome { error } else { nil }
  }

  /// The value of an item that was done.
  public var value: Value? {
    if case .success(let value) = outcome { value } else { nil }
  }
}

/// One page of the database feed.
public struct DatabaseChangesPage: Hashable, Sendable, Codable {
  /// Zones that are new or hold changes.
  public var modified: [ZoneID]
  /// Zones that are gone.
  public var deleted: [ZoneDeletion]
  /// Where this page ends.
  public var token: ChangeToken
  /// Whether another page follows.
  public var moreComing: Bool

  /// Puts a page together.
  public init(
    modified: [ZoneID], deleted: [ZoneDeletion], token: ChangeToken, moreComing: Bool
  ) {
    self.modified = modified
    self.deleted = deleted
    self.token = token
    self.moreComing = moreComing
  }
}

/// One page of a zone's feed: each changed record once, as it is now.
public struct ZoneChangesPage: Hashable, Sendable, Codable {
  /// The zone.
  public var zone: ZoneID
  /// Records that are new or changed.
  public var modified: [Record]
  /// Records that are gone.
  public var deleted: [RecordDeletion]
  /// Where this page ends.
  public var token: ChangeToken
  /// Whether another page follows.
  public var moreComing: Bool

  /// Puts a page together.
  public init(
    zone: ZoneID, modified: [Record], deleted: [RecordDeletion], token: ChangeToken,
    moreComing: Bool
  ) {
    self.zone = zone
    self.modified = modified
    self.deleted = deleted
    self.token = token
    self.moreComing = moreComing
  }
}
