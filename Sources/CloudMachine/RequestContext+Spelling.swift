import CloudProtocol
import Records

/// Resolves names that the requester may spell in several ways to one spelling.
///
/// The owner of the requester's zones can be spelled `ZoneID.currentOwner` or as the user record
/// name, and so can the requester's user record. A request is resolved to the spelling of rows
/// once, when it is admitted; all rules use this spelling. The reply uses the spelling of the
/// request; see `ReplySpelling`. Docs/Decisions/0016.
extension RequestContext {
  /// `request` in the spelling of rows.
  func resolved(_ request: CloudRequest) -> CloudRequest {
    guard account != nil else { return request }
    switch request {
    case .fetchZones(let zones): return .fetchZones(zones?.map { spelled($0) })
    case .modifyZones(var request):
      request.save = request.save.map { spelled($0) }
      request.delete = request.delete.map { spelled($0) }
      return .modifyZones(request)
    case .fetchZoneChanges(var request):
      request.zone = spelled(request.zone)
      return .fetchZoneChanges(request)
    case .fetchRecords(var request):
      request.ids = request.ids.map { spelled($0) }
      return .fetchRecords(request)
    case .modifyRecords(let request): return .modifyRecords(spelled(request))
    case .modifySubscriptions(var request):
      request.save = request.save.map { spelled($0) }
      return .modifySubscriptions(request)
    case .queryRecords(var request):
      request.zone = request.zone.map { spelled($0) }
      request.query = spelled(request.query)
      return .queryRecords(request)
    case .downloadAsset(var request):
      request.record = spelled(request.record)
      return .downloadAsset(request)
    case .fetchCurrentUser, .fetchDatabaseChanges, .fetchSubscriptions, .resolveShares,
      .acceptShares, .findUsers, .uploadAsset:
      return request
    }
  }

  /// `zone` in the spelling of rows: the requester's user record name becomes
  /// `ZoneID.currentOwner`.
  func spelled(_ zone: ZoneID) -> ZoneID {
    guard let user = account?.user, zone.owner == user.rawValue else { return zone }
    return ZoneID(name: zone.name)
  }

  /// `id` in the spelling of rows.
  func spelled(_ id: RecordID) -> RecordID {
    let zone = spelled(id.zone)
    guard id.name == ZoneID.currentOwner, zone == .default, let user = account?.user else {
      return RecordID(name: id.name, zone: zone)
    }
    return RecordID(name: user.rawValue, zone: zone)
  }

  /// `request` with every zone in the spelling of rows, including those in references.
  private func spelled(_ request: ModifyRecords) -> ModifyRecords {
    var request = request
    for index in request.save.indices where isSpelledOtherwise(request.save[index]) {
      request.save[index].respell { spelled($0) }
    }
    for index in request.delete.indices { request.delete[index] = spelled(request.delete[index]) }
    for (id, tag) in request.deleteTags where spelled(id) != id {
      request.deleteTags[id] = nil
      request.deleteTags[spelled(id)] = tag
    }
    return request
  }

  /// Whether resolving might change the save; most saves already use the spelling of rows, and
  /// writing to one copies all of them.
  private func isSpelledOtherwise(_ save: RecordSave) -> Bool {
    guard let user = account?.user.rawValue else { return false }
    if save.id.zone.owner == user || save.id.name == ZoneID.currentOwner || save.sharing != nil {
      return true
    }
    if case .set(_?) = save.parent { return true }
    return save.changes.contains { $0.field?.value.mayRefer ?? false }
  }

  /// `query` with the zones in its values in the spelling of rows.
  private func spelled(_ query: Query) -> Query {
    var query = query
    for index in query.filters.indices where query.filters[index].value.mayRefer {
      query.filters[index].value = query.filters[index].value.respelled { spelled($0) }
    }
    return query
  }

  /// `subscription` with its zone in the spelling of rows.
  private func spelled(_ subscription: Subscription) -> Subscription {
    var subscription = subscription
    switch subscription.kind {
    case .database: break
    case .zone(let zone, let recordType):
      subscription.kind = .zone(spelled(zone), recordType: recordType)
    case .query(var watched):
      watched.zone = watched.zone.map { spelled($0) }
      watched.query = spelled(watched.query)
      subscription.kind = .query(watched)
    }
    return subscription
  }
}

extension FieldValue {
  /// Whether the value may contain a reference.
  var mayRefer: Bool {
    switch self {
    case .reference: true
    case .list(let values): values.contains { $0.mayRefer }
    case .string, .int64, .double, .date, .bytes, .asset, .location: false
    }
  }
}
