import Records
import WebServices

extension JSON {
  /// The content of a subscription, without its name.
  static func content(of subscription: Subscription) -> JSON {
    let watched: JSON
    switch subscription.kind {
    case .database(let type):
      watched = .members(["watches": .string("database"), "recordType": type.map { .string($0) }])
    case .zone(let zone, let type):
      watched = .members([
        "watches": .string("zone"), "of": name(zone), "recordType": type.map { .string($0) },
      ])
    case .query(let query):
      watched = .members([
        "watches": .string("query"), "of": query.zone.map { name($0) },
        "query": JSON.query(query.query), "options": .integer(query.options.rawValue),
      ])
    }
    return watched.adding(
      .members(["notification": subscription.notificationInfo.map { notification($0) }]))
  }

  private static func notification(_ info: Subscription.NotificationInfo) -> JSON {
    .members([
      "alertBody": info.alertBody.map { .string($0) },
      "contentAvailable": .bool(info.shouldSendContentAvailable),
      "mutableContent": .bool(info.shouldSendMutableContent), "badge": .bool(info.shouldBadge),
      "desiredKeys": info.desiredKeys.isEmpty ? nil : .texts(info.desiredKeys),
      "others": fields(info.others),
    ])
  }

  private static func query(_ query: Query) -> JSON {
    .members([
      "recordType": .string(query.recordType),
      "filters": .array(
        query.filters.map { filter in
          .members([
            "key": .string(filter.key), "comparator": .string(filter.comparator.rawValue),
            "value": value(filter.value), "distance": filter.distance.map { .double($0) },
          ])
        }),
      "sorts": .array(
        query.sorts.map { sort in
          .members([
            "key": .string(sort.key), "ascending": .bool(sort.ascending),
            "relativeTo": sort.relativeTo.map { place($0) },
          ])
        }),
    ])
  }
}

extension ArchiveObject {
  mutating func content(of id: SubscriptionID) throws -> Subscription {
    let kind: Subscription.Kind
    switch try text("watches") {
    case "database": kind = .database(recordType: try optionalText("recordType"))
    case "zone":
      kind = .zone(try object("of") { try $0.zoneID() }, recordType: try optionalText("recordType"))
    case "query":
      let zone = try optionalObject("of") { try $0.zoneID() }
      let query = try object("query") { try $0.query() }
      let options = QuerySubscription.Options(
        rawValue: try need(json("options"), "options").integer("options"))
      kind = .query(QuerySubscription(query: query, zone: zone, options: options))
    default: throw ArchiveError("'watches' has an unknown value")
    }
    return Subscription(
      id: id, kind: kind,
      notificationInfo: try optionalObject("notification") { try $0.notification() })
  }

  private mutating func notification() throws -> Subscription.NotificationInfo {
    Subscription.NotificationInfo(
      alertBody: try optionalText("alertBody"),
      shouldSendContentAvailable: try flag("contentAvailable"),
      shouldSendMutableContent: try flag("mutableContent"), shouldBadge: try flag("badge"),
      desiredKeys: try texts("desiredKeys"), others: try fields("others"))
  }

  private mutating func query() throws -> Query {
    Query(
      recordType: try text("recordType"),
      filters: try list("filters") { json in
        try ArchiveObject.read(json, "a filter") { try $0.filter() }
      },
      sorts: try list("sorts") { json in
        try ArchiveObject.read(json, "a sort") { sort in
          Query.Sort(
            key: try sort.text("key"), ascending: try sort.flag("ascending"),
            relativeTo: try sort.optionalObject("relativeTo") { try $0.place() })
        }
      })
  }

  private mutating func filter() throws -> Query.Filter {
    guard let comparator = Query.Filter.Comparator(rawValue: try text("comparator")) else {
      throw ArchiveError("'comparator' has an unknown value")
    }
    let distance = try json("distance").map { try $0.double("distance") }
    let value = try object("value") { try $0.value() }
    return Query.Filter(
      key: try text("key"), comparator: comparator, value: value, distance: distance)
  }
}
