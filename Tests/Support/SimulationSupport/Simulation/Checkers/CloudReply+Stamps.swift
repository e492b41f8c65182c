import CloudProtocol
import Records

extension CloudReply {
  /// The answer to `user` with the user's name in the stamps of records.
  ///
  /// A server names whoever asks `ZoneID.currentOwner`; what accounts see of one record can be
  /// compared only with names in it. Source: Docs/Decisions/0016.
  func naming(_ user: UserID) -> CloudReply {
    func named(_ results: [ItemResult<RecordID, Record>]) -> [ItemResult<RecordID, Record>] {
      results.map { $0.converted($0.id, { $0.naming(user) }) { $0.naming(user) } }
    }
    switch self {
    case .zoneChanges(var page):
      page.modified = page.modified.map { $0.naming(user) }
      return .zoneChanges(page)
    case .records(let results): return .records(named(results))
    case .recordsModified(let saved, let deleted):
      return .recordsModified(saved: named(saved), deleted: deleted)
    case .currentUser, .databaseChanges, .zones, .zonesModified, .subscriptions,
      .subscriptionsModified, .queried, .sharesResolved, .sharesAccepted, .usersFound,
      .assetUploaded, .assetContent:
      return self
    }
  }
}

extension Record {
  fileprivate func naming(_ user: UserID) -> Record {
    var record = self
    if created?.user.rawValue == ZoneID.currentOwner { record.created?.user = user }
    if modified?.user.rawValue == ZoneID.currentOwner { record.modified?.user = user }
    return record
  }
}
