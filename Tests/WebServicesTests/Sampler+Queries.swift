import CloudProtocol
import Records
import VerificationSupport

/// Queries, subscriptions and pushes; plain ones also keep these rules:
///
/// - a subscription to a zone or a database is not for one type of record, and says how its
///   pushes look, with nothing but settings that have a name;
/// - a push by a zone names it, one by a query brings no fields.
extension Sampler {
  mutating func query() -> Query {
    var query = Query(recordType: text())
    for _ in 0..<random.below(4) {
      let comparator = random.one(of: Query.Filter.Comparator.allCases)
      var filter = Query.Filter(
        key: key(), comparator: comparator,
        value: comparator == .isIn || comparator == .isNotIn ? value(.list) : value())
      if random.once(in: 3) { filter.distance = number() }
      query.filters.append(filter)
    }
    for _ in 0..<random.below(3) {
      query.sorts.append(
        Query.Sort(
          key: key(), ascending: random.once(in: 2), relativeTo: random.once(in: 2) ? place() : nil)
      )
    }
    return query
  }

  /// The name of a field: a system field's half of the time, and names that look like one.
  private mutating func key() -> String {
    let names = [
      "recordName", "share", "parent", "createdTimestamp", "___other", "recordID",
      "systemFieldName",
    ]
    switch random.below(4) {
    case 0: return text()
    case 1: return random.one(of: names)
    default: return random.one(of: SystemField.allCases).rawValue
    }
  }

  mutating func notificationInfo() -> Subscription.NotificationInfo {
    var info = Subscription.NotificationInfo(
      alertBody: maybeText(), shouldSendContentAvailable: random.once(in: 2),
      shouldSendMutableContent: random.once(in: 2), shouldBadge: random.once(in: 2))
    for _ in 0..<random.below(3) { info.desiredKeys.append(text()) }
    if random.once(in: 2) { info.others["soundName"] = Field(.string(text())) }
    if random.once(in: 2) { info.others["alertLocalizationKey"] = Field(.string(text())) }
    if random.once(in: 3) {
      info.others["alertLocalizationArgs"] = Field(.list([.string(text()), .string(text())]))
    }
    if !isPlain, random.once(in: 2) { info.others = fields() }
    return info
  }

  mutating func subscription() -> Subscription {
    let type = isPlain || random.once(in: 2) ? nil : text()
    let kind: Subscription.Kind
    switch random.below(3) {
    case 0: kind = .database(recordType: type)
    case 1: kind = .zone(zone(), recordType: type)
    default:
      kind = .query(
        QuerySubscription(
          query: query(), zone: random.once(in: 2) ? nil : zone(),
          options: QuerySubscription.Options(rawValue: UInt(random.below(isPlain ? 16 : 99)))))
    }
    return Subscription(
      id: SubscriptionID(text()), kind: kind,
      notificationInfo: !isPlain && random.once(in: 3) ? nil : notificationInfo())
  }

  mutating func push() -> CloudPush {
    var push = CloudPush(
      container: random.one(of: ["iCloud.test", "c"]), database: database,
      subscription: SubscriptionID(text()))
    switch random.below(3) {
    case 0: break
    case 1: push.zone = zone()
    default:
      let id = recordID()
      push.zone = isPlain ? id.zone : random.once(in: 2) ? nil : zone()
      push.query = QueryPush(
        record: id, reason: random.one(of: QueryPush.Reason.allCases),
        fields: isPlain ? Fields() : fields(3))
    }
    return push
  }
}
