public import Records

/// The reply to a request that succeeded as a whole; single items may have failed.
public enum CloudReply: Hashable, Sendable, Codable {
  /// The reply to `fetchCurrentUser`.
  case currentUser(UserID)
  /// The reply to `fetchDatabaseChanges`.
  case databaseChanges(DatabaseChangesPage)
  /// The reply to `fetchZoneChanges`.
  case zoneChanges(ZoneChangesPage)
  /// The reply to `fetchZones`: one result for each requested zone, in order.
  case zones([ItemResult<ZoneID, Zone>])
  /// The reply to `modifyZones`: saves, then deletions, each in the order of the request.
  case zonesModified(
    saved: [ItemResult<ZoneID, Zone>], deleted: [ItemResult<ZoneID, Done>])
  /// The reply to `fetchRecords`: one result for each requested record, in order.
  case records([ItemResult<RecordID, Record>])
  /// The reply to `modifyRecords`: saves, then deletions, each in the order of the request.
  case recordsModified(
    saved: [ItemResult<RecordID, Record>], deleted: [ItemResult<RecordID, Done>])
  /// The reply to `fetchSubscriptions`: one result for each requested subscription, in order.
  case subscriptions([ItemResult<SubscriptionID, Subscription>])
  /// The reply to `modifySubscriptions`: saves, then deletions, each in the order of the request.
  case subscriptionsModified(
    saved: [ItemResult<SubscriptionID, Subscription>],
    deleted: [ItemResult<SubscriptionID, Done>])
  /// The reply to `queryRecords`.
  case queried(QueryPage)
  /// The reply to `resolveShares`: one result for each requested URL, in order.
  case sharesResolved([ItemResult<String, ShareMetadata>])
  /// The reply to `acceptShares`: the share records in the shared database, in the order of the
  /// request.
  case sharesAccepted([ItemResult<String, Record>])
  /// The reply to `findUsers`: one result for each requested user, in order.
  case usersFound([ItemResult<UserLookup, UserIdentity>])
  /// The reply to `uploadAsset`: the asset to save, with its receipt.
  case assetUploaded(Asset)
  /// The reply to `downloadAsset`.
  case assetContent(AssetContent)
}

/// The value of a success without a result.
public struct Done: Hashable, Sendable, Codable {
  /// The only value.
  public init() {}
}

/// The result of one item of a request.
public struct ItemResult<ID: Hashable & Sendable & Codable, Value: Hashable & Sendable & Codable>:
  Hashable, Sendable, Codable
{
  /// What the server did with one item of a request.
  public enum Outcome: Hashable, Sendable, Codable {
    /// The item succeeded.
    case success(Value)
    /// The item failed.
    case failure(CloudError)
  }

  /// The item.
  public var id: ID

  /// The value of the item, or the error of the item alone.
  public var outcome: Outcome

  /// Creates a result for the item `id`.
  public init(id: ID, _ outcome: Outcome) {
    self.id = id
    self.outcome = outcome
  }

  /// The error of a failed item.
  public var error: CloudError? {
    if case .failure(let error) = outcome { error } else { nil }
  }

  /// The value of an item that succeeded.
  public var value: Value? {
    if case .success(let value) = outcome { value } else { nil }
  }
}

/// One page of the database feed.
public struct DatabaseChangesPage: Hashable, Sendable, Codable {
  /// New zones and zones with changes.
  public var modified: [ZoneID]
  /// Deleted zones.
  public var deleted: [ZoneDeletion]
  /// The token at the end of this page.
  public var token: ChangeToken
  /// Whether another page follows.
  public var moreComing: Bool

  /// Creates a page.
  public init(
    modified: [ZoneID], deleted: [ZoneDeletion], token: ChangeToken, moreComing: Bool
  ) {
    self.modified = modified
    self.deleted = deleted
    self.token = token
    self.moreComing = moreComing
  }
}

/// One page of a zone's feed, with the current version of each changed record.
public struct ZoneChangesPage: Hashable, Sendable, Codable {
  /// The zone whose changes the page contains.
  public var zone: ZoneID
  /// New and changed records.
  public var modified: [Record]
  /// The records deleted since the token of the request.
  public var deleted: [RecordDeletion]
  /// The token at the end of this page.
  public var token: ChangeToken
  /// Whether another page follows.
  public var moreComing: Bool

  /// Creates a page.
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
