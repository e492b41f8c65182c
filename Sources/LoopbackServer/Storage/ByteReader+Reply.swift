import CloudProtocol
import Records

/// Reads what `ByteWriter+Reply` wrote; anything else is an error, never a trap.
extension ByteReader {
  mutating func reply() throws(ByteFormatError) -> CloudReply {
    switch try byte() {
    case 0: return .currentUser(UserID(try string()))
    case 1: return .databaseChanges(try databaseChangesPage())
    case 2: return .zoneChanges(try zoneChangesPage())
    case 3: return .zones(try zoneResults())
    case 4: return .zonesModified(saved: try zoneResults(), deleted: try zoneDeletions())
    case 5: return .records(try recordResults())
    case 6: return .recordsModified(saved: try recordResults(), deleted: try recordDeletions())
    case 7: return .subscriptions(try subscriptionResults())
    case 8:
      return .subscriptionsModified(
        saved: try subscriptionResults(), deleted: try subscriptionDeletions())
    case 9:
      let records = try list { (reader) throws(ByteFormatError) in try reader.record() }
      let cursor = try optional { (reader) throws(ByteFormatError) in try reader.byteArray() }
      return .queried(QueryPage(records: records, cursor: cursor.map { QueryCursor(bytes: $0) }))
    case 10:
      return .sharesResolved(
        try results(
          id: { (reader) throws(ByteFormatError) in try reader.string() },
          value: { (reader) throws(ByteFormatError) in try reader.shareMetadata() }))
    case 11:
      return .sharesAccepted(
        try results(
          id: { (reader) throws(ByteFormatError) in try reader.string() },
          value: { (reader) throws(ByteFormatError) in try reader.record() }))
    case 12:
      return .usersFound(
        try results(
          id: { (reader) throws(ByteFormatError) in try reader.userLookup() },
          value: { (reader) throws(ByteFormatError) in try reader.userIdentity() }))
    case 13:
      guard case .asset(let asset) = try fieldValue() else { throw fault("an asset is missing") }
      return .assetUploaded(asset)
    case 14: return .assetContent(AssetContent(try byteArray()))
    default: throw fault("the kind of a reply is unknown")
    }
  }

  mutating func cloudError() throws(ByteFormatError) -> CloudError {
    guard let number = Int(exactly: try variable()), let code = CloudError.Code(rawValue: number)
    else { throw fault("the code of an error is unknown") }
    let message = try string()
    let retryAfter = try optional { (reader) throws(ByteFormatError) in try reader.double() }
    let record = try optional { (reader) throws(ByteFormatError) in try reader.record() }
    let flags = try byte()
    let obstacle: CloudError.AccountObstacle? =
      switch flags & ~1 {
      case 0: nil
      case 2: .restricted
      case 4: .undetermined
      default: throw fault("the flags of an error are unknown")
      }
    return CloudError(
      code, message, retryAfter: retryAfter, serverRecord: record,
      userDidResetEncryptedData: flags & 1 == 1, accountObstacle: obstacle)
  }

  private mutating func databaseChangesPage() throws(ByteFormatError) -> DatabaseChangesPage {
    let modified = try list { (reader) throws(ByteFormatError) in try reader.zoneID() }
    let deleted = try list { (reader) throws(ByteFormatError) in
      let zone = try reader.zoneID()
      guard let reason = ZoneDeletionReason(rawValue: try reader.byte()) else {
        throw reader.fault("the reason of a zone deletion is unknown")
      }
      return ZoneDeletion(zone: zone, reason: reason)
    }
    let token = ChangeToken(bytes: try byteArray())
    return DatabaseChangesPage(
      modified: modified, deleted: deleted, token: token, moreComing: try bool())
  }

  private mutating func zoneChangesPage() throws(ByteFormatError) -> ZoneChangesPage {
    let zone = try zoneID()
    let modified = try list { (reader) throws(ByteFormatError) in try reader.record() }
    let deleted = try list { (reader) throws(ByteFormatError) in
      let id = try reader.recordID()
      return RecordDeletion(id: id, type: try reader.string())
    }
    let token = ChangeToken(bytes: try byteArray())
    return ZoneChangesPage(
      zone: zone, modified: modified, deleted: deleted, token: token, moreComing: try bool())
  }

  private mutating func zone() throws(ByteFormatError) -> Zone {
    let id = try zoneID()
    guard let bits = UInt(exactly: try variable()) else { throw fault("a number is too large") }
    return Zone(
      id: id, capabilities: Zone.Capabilities(rawValue: bits),
      share: try optional { (reader) throws(ByteFormatError) in try reader.recordID() })
  }

  private mutating func zoneResults() throws(ByteFormatError) -> [ItemResult<ZoneID, Zone>] {
    try results(
      id: { (reader) throws(ByteFormatError) in try reader.zoneID() },
      value: { (reader) throws(ByteFormatError) in try reader.zone() })
  }

  private mutating func zoneDeletions() throws(ByteFormatError) -> [ItemResult<ZoneID, Done>] {
    try results(
      id: { (reader) throws(ByteFormatError) in try reader.zoneID() },
      value: { (_) throws(ByteFormatError) in Done() })
  }

  private mutating func recordResults() throws(ByteFormatError) -> [ItemResult<RecordID, Record>] {
    try results(
      id: { (reader) throws(ByteFormatError) in try reader.recordID() },
      value: { (reader) throws(ByteFormatError) in try reader.record() })
  }

  private mutating func recordDeletions() throws(ByteFormatError) -> [ItemResult<RecordID, Done>] {
    try results(
      id: { (reader) throws(ByteFormatError) in try reader.recordID() },
      value: { (_) throws(ByteFormatError) in Done() })
  }

  private mutating func subscriptionResults() throws(ByteFormatError)
    -> [ItemResult<SubscriptionID, Subscription>]
  {
    try results(
      id: { (reader) throws(ByteFormatError) in SubscriptionID(try reader.string()) },
      value: { (reader) throws(ByteFormatError) in try reader.subscription() })
  }

  private mutating func subscriptionDeletions() throws(ByteFormatError)
    -> [ItemResult<SubscriptionID, Done>]
  {
    try results(
      id: { (reader) throws(ByteFormatError) in SubscriptionID(try reader.string()) },
      value: { (_) throws(ByteFormatError) in Done() })
  }

  private mutating func results<ID, Value>(
    id: (inout ByteReader) throws(ByteFormatError) -> ID,
    value: (inout ByteReader) throws(ByteFormatError) -> Value
  ) throws(ByteFormatError) -> [ItemResult<ID, Value>] {
    let total = try count()
    var results: [ItemResult<ID, Value>] = []
    results.reserveCapacity(total)
    for _ in 0..<total {
      let id = try id(&self)
      results.append(
        try bool()
          ? ItemResult(id: id, .success(try value(&self)))
          : ItemResult(id: id, .failure(try cloudError())))
    }
    return results
  }
}
