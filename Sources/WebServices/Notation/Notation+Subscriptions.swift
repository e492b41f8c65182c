package import CloudProtocol
package import Records

/// Subscriptions. Rules: WS-68 to WS-74.
extension Notation {
  /// A subscription.
  package func json(_ subscription: Subscription) -> JSON {
    var members = JSON.Members()
    members.add("subscriptionID", .string(subscription.id.rawValue))
    switch subscription.kind {
    case .database: members.add("subscriptionType", .string("database"))
    case .zone(let zone, _):
      members.add("subscriptionType", .string("zone"))
      members.add("zoneID", json(zone))
    case .query(let watched):
      members.add("subscriptionType", .string("query"))
      members.add("query", json(watched.query, zone: watched.zone ?? .default))
      members.add("zoneID", watched.zone.map(json))
      members.add("zoneWide", .bool(watched.zone == nil))
      let moments: [(QuerySubscription.Options, String)] = [
        (.firesOnRecordCreation, "create"), (.firesOnRecordUpdate, "update"),
        (.firesOnRecordDeletion, "delete"),
      ]
      members.add(
        "firesOn",
        .array(moments.filter { watched.options.contains($0.0) }.map { .string($0.1) }))
      members.add("firesOnce", .bool(watched.options.contains(.firesOnce)))
    }
    members.add("notificationInfo", subscription.notificationInfo.map(json))
    members.add(Notation.extra, exact { $0.write(subscription) })
    return .object(members)
  }

  /// The members of a notification info with a string value.
  private static let words = [
    "alertLocalizationKey", "alertActionLocalizationKey", "alertLaunchImage", "soundName",
  ]

  private func json(_ info: Subscription.NotificationInfo) -> JSON {
    var members = JSON.Members()
    members.add("alertBody", info.alertBody.map { .string($0) })
    for word in Notation.words {
      if case .string(let text) = info.others[word]?.value { members.add(word, .string(text)) }
    }
    members.add("alertLocalizationArgs", Notation.localizationArguments(info).map { .array($0) })
    members.add("shouldBadge", .bool(info.shouldBadge))
    members.add("shouldSendContentAvailable", .bool(info.shouldSendContentAvailable))
    members.add("shouldSendMutableContent", .bool(info.shouldSendMutableContent))
    members.add(
      "additionalFields",
      info.desiredKeys.isEmpty ? nil : .array(info.desiredKeys.map { .string($0) }))
    return .object(members)
  }

  /// The arguments of a localized alert; `nil` if there are none.
  static func localizationArguments(_ info: Subscription.NotificationInfo) -> [JSON]? {
    guard case .list(let values) = info.others["alertLocalizationArgs"]?.value else { return nil }
    return values.compactMap { value in
      if case .string(let text) = value { .string(text) } else { nil }
    }
  }

  /// Decodes a subscription; one without a name gets a name from `newName`.
  package func subscription(
    _ json: JSON, newName: () -> String = { "" }
  ) throws(CloudError) -> Subscription {
    if let subscription = try exact(
      in: json,
      { (reader) throws(ByteFormatError) in
        try reader.subscription()
      })
    {
      return subscription
    }
    let zone = try json["zoneID"].map { (value) throws(CloudError) in try self.zone(value) }
    let kind: Subscription.Kind
    let type = try json.text("subscriptionType")
    switch type.lowercased() {
    case "database": kind = .database(recordType: nil)
    case "zone":
      guard let zone else { throw .malformed("a subscription to a zone needs a 'zoneID'") }
      kind = .zone(zone, recordType: nil)
    case "query":
      // A zone overrides zone-wide, which is the default without one.
      let isWide = try json.flag("zoneWide") ?? true
      kind = .query(
        QuerySubscription(
          query: try query(try json.object("query"), zone: zone ?? .default),
          zone: zone ?? (isWide ? nil : .default), options: try options(json)))
    default: throw .unknown(type, "'subscriptionType'", ["query", "zone", "database"])
    }
    return Subscription(
      id: SubscriptionID(try json.optionalText("subscriptionID") ?? newName()), kind: kind,
      notificationInfo: try notificationInfo(json["notificationInfo"]))
  }

  private func options(_ json: JSON) throws(CloudError) -> QuerySubscription.Options {
    var options: QuerySubscription.Options = []
    for moment in try json.texts("firesOn") ?? [] {
      switch moment {
      case "create": options.insert(.firesOnRecordCreation)
      case "update": options.insert(.firesOnRecordUpdate)
      case "delete": options.insert(.firesOnRecordDeletion)
      default: throw .unknown(moment, "event in 'firesOn'", ["create", "update", "delete"])
      }
    }
    if try json.flag("firesOnce") == true { options.insert(.firesOnce) }
    return options
  }

  private func notificationInfo(
    _ json: JSON?
  ) throws(CloudError) -> Subscription.NotificationInfo {
    // Clients of this service may omit the notification info; the push is silent then.
    guard let json else { return Subscription.NotificationInfo() }
    guard json.members != nil else { throw .malformed("'notificationInfo' must be an object") }
    var others = Fields()
    for word in Notation.words {
      if let text = try json.optionalText(word) { others[word] = Field(.string(text)) }
    }
    if let texts = try json.texts("alertLocalizationArgs") {
      others["alertLocalizationArgs"] = Field(.list(texts.map { .string($0) }))
    }
    return Subscription.NotificationInfo(
      alertBody: try json.optionalText("alertBody"),
      shouldSendContentAvailable: try json.flag("shouldSendContentAvailable") ?? false,
      shouldSendMutableContent: try json.flag("shouldSendMutableContent") ?? false,
      shouldBadge: try json.flag("shouldBadge") ?? false,
      desiredKeys: try json.texts("additionalFields") ?? [], others: others)
  }
}
