import CloudProtocol
import Records
import VerificationSupport

/// Requests and what may be answered to them, as they come out of a trip over CloudKit Web
/// Services:
///
/// - every save says its own policy, and saving all keys is saving the changed ones;
/// - a save of a record that must not be there clears nothing;
/// - nothing is said of what applies to nothing;
/// - plain ones call a share by its short name alone, and look for people who are found.
extension Sampler {
  mutating func many<Value>(_ most: Int, _ make: (inout Sampler) -> Value) -> [Value] {
    var values: [Value] = []
    for _ in 0..<random.below(most + 1) { values.append(make(&self)) }
    return values
  }

  private mutating func selection() -> FieldSelection {
    switch random.below(3) {
    case 0: .all
    case 1: .none
    default: .keys([text(), text()])
    }
  }

  private mutating func limit() -> Int? { random.maybe { $0.one(of: [1, 200, -1, 0, .max]) } }

  private mutating func token() -> ChangeToken? {
    random.once(in: 3) ? nil : ChangeToken(bytes: bytes())
  }

  private mutating func url() -> String {
    let names = ["0aBc", "x_y-9"] + (isPlain ? [] : ["a#b", "a?b=c", "\u{E9}", "", "a/b", "/"])
    return ShareMetadata.urlPrefix + random.one(of: names)
  }

  private mutating func operation() -> RecordSave {
    var save = save()
    save.policy = random.one(of: [.ifServerRecordUnchanged, .changedKeys])
    let mayReplace = save.policy == .changedKeys || save.changeTag != nil
    save.clearsOtherFields = mayReplace && random.once(in: 2)
    return save
  }

  private mutating func modifyRecords() -> ModifyRecords {
    var request = ModifyRecords(
      save: many(3) { $0.operation() }, delete: many(3) { $0.recordID() },
      isAtomic: random.once(in: 2), fields: selection())
    // One alone: two would look different in different orders.
    if random.once(in: 2), let id = request.delete.last { request.deleteTags[id] = ChangeTag("7") }
    return request
  }

  /// One request of each kind that is made with JSON, in turn.
  mutating func request(_ number: Int) -> CloudRequest {
    switch number % 14 {
    case 0: return .fetchCurrentUser
    case 1: return .fetchDatabaseChanges(FetchDatabaseChanges(since: token(), limit: limit()))
    case 2:
      return .fetchZoneChanges(
        FetchZoneChanges(zone: zone(), since: token(), limit: limit(), fields: selection()))
    case 3: return .fetchZones(nil)
    case 4: return .fetchZones(many(3) { $0.zone() })
    case 5:
      return .modifyZones(ModifyZones(save: many(3) { $0.zone() }, delete: many(3) { $0.zone() }))
    case 6:
      let ids = many(3) { $0.recordID() }
      return .fetchRecords(FetchRecords(ids: ids, fields: ids.isEmpty ? .all : selection()))
    case 7: return .modifyRecords(modifyRecords())
    case 8: return .fetchSubscriptions(random.once(in: 2) ? nil : many(3) { $0.subscription().id })
    case 9:
      return .modifySubscriptions(
        ModifySubscriptions(
          save: many(3) { $0.subscription() }, delete: many(3) { $0.subscription().id }))
    case 10:
      return .queryRecords(
        QueryRecords(
          query: query(), zone: random.once(in: 3) ? nil : zone(),
          cursor: token().map { QueryCursor(bytes: $0.bytes) },
          limit: limit() ?? (isPlain ? 200 : nil), fields: selection()))
    case 11:
      let urls = many(3) { $0.url() }
      return .resolveShares(ResolveShares(urls: urls, rootFields: urls.isEmpty ? nil : selection()))
    case 12: return .acceptShares(many(3) { $0.url() })
    default: return .findUsers(many(3) { $0.lookup() })
    }
  }

  /// The outcome of one item: `value`, or once in three times a failure.
  private mutating func result<
    ID: Codable & Hashable & Sendable, Value: Codable & Hashable & Sendable
  >(
    _ id: ID, _ value: (inout Sampler) -> Value
  ) -> ItemResult<ID, Value> {
    random.once(in: 3)
      ? ItemResult(id: id, .failure(error())) : ItemResult(id: id, .success(value(&self)))
  }

  private mutating func record(_ id: RecordID) -> Record {
    var record = record()
    record.id = id
    return record
  }

  private mutating func described(_ id: ZoneID) -> Zone {
    var zone = zoneDescribed()
    zone.id = id
    if isPlain { zone.capabilities = id.name == ZoneID.defaultName ? [] : .custom }
    return zone
  }

  private mutating func subscription(_ id: SubscriptionID) -> Subscription {
    var subscription = subscription()
    subscription.id = id
    return subscription
  }

  /// The records of a page: none of them is a share without details.
  private mutating func page(_ zone: ZoneID) -> ZoneChangesPage {
    ZoneChangesPage(
      zone: zone, modified: many(3) { $0.record() },
      deleted: many(3) { RecordDeletion(id: $0.recordID(), type: $0.isPlain ? "" : $0.text()) },
      token: ChangeToken(bytes: bytes()), moreComing: random.once(in: 2))
  }

  private mutating func accepted(_ url: String) -> ItemResult<String, Record> {
    result(url) { sampler in
      var sampler = sampler
      sampler.database = sampler.random.once(in: 2) ? .shared : .private
      return sampler.metadata().share
    }
  }

  private mutating func found(_ lookup: UserLookup) -> ItemResult<UserLookup, UserIdentity> {
    guard isPlain else { return result(lookup) { $0.identity() } }
    var identity = identity()
    identity.lookup = lookup
    if case .user(let user) = lookup { identity.user = user }
    identity.hasAccount = identity.user != nil
    return ItemResult(id: lookup, .success(identity))
  }

  /// What may be answered to `request`.
  mutating func reply(to request: CloudRequest) -> CloudReply {
    switch request {
    case .fetchCurrentUser: return .currentUser(UserID(text()))
    case .fetchDatabaseChanges:
      let reasons = isPlain ? [.deleted] : ZoneDeletionReason.allCases
      return .databaseChanges(
        DatabaseChangesPage(
          modified: many(3) { $0.zone() },
          deleted: many(3) { ZoneDeletion(zone: $0.zone(), reason: $0.random.one(of: reasons)) },
          token: ChangeToken(bytes: bytes()), moreComing: random.once(in: 2)))
    case .fetchZoneChanges(let request): return .zoneChanges(page(request.zone))
    case .fetchZones(let zones):
      let zones = zones ?? many(3) { $0.zone() }
      return .zones(zones.map { id in result(id) { $0.described(id) } })
    case .modifyZones(let request):
      return .zonesModified(
        saved: request.save.map { id in result(id) { $0.described(id) } },
        deleted: request.delete.map { id in result(id) { _ in Done() } })
    case .fetchRecords(let request):
      return .records(request.ids.map { id in result(id) { $0.record(id) } })
    case .modifyRecords(let request):
      return .recordsModified(
        saved: request.save.map { save in result(save.id) { $0.record(save.id) } },
        deleted: request.delete.map { id in result(id) { _ in Done() } })
    case .fetchSubscriptions(let ids):
      let ids = ids ?? many(3) { $0.subscription().id }
      return .subscriptions(ids.map { id in result(id) { $0.subscription(id) } })
    case .modifySubscriptions(let request):
      return .subscriptionsModified(
        saved: request.save.map { save in result(save.id) { $0.subscription(save.id) } },
        deleted: request.delete.map { id in result(id) { _ in Done() } })
    case .queryRecords:
      return .queried(
        QueryPage(
          records: many(3) { $0.record() }, cursor: token().map { QueryCursor(bytes: $0.bytes) }))
    case .resolveShares(let request):
      return .sharesResolved(request.urls.map { url in result(url) { $0.metadata() } })
    case .acceptShares(let urls): return .sharesAccepted(urls.map { accepted($0) })
    case .findUsers(let lookups): return .usersFound(lookups.map { found($0) })
    case .uploadAsset, .downloadAsset: return .assetContent([])
    }
  }
}
