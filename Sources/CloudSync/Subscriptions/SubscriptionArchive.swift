import Records

/// The binary form of subscriptions in archives.
extension ByteWriter {
  mutating func write(archive info: Subscription.NotificationInfo) {
    write(optional: info.alertBody) { $0.write($1) }
    write(info.shouldSendContentAvailable)
    write(info.shouldSendMutableContent)
    write(info.shouldBadge)
    write(list: info.desiredKeys) { $0.write($1) }
    write(info.others)
  }

  mutating func write(archive subscription: Subscription) {
    write(subscription.id.rawValue)
    write(optional: subscription.notificationInfo) { $0.write(archive: $1) }
    switch subscription.kind {
    case .database(let recordType):
      write(UInt8(3))
      write(optional: recordType) { $0.write($1) }
    case .zone(let zone, let recordType):
      write(UInt8(2))
      write(zone)
      write(optional: recordType) { $0.write($1) }
    case .query(let query):
      write(UInt8(1))
      write(query.query.recordType)
      write(list: query.query.filters) { writer, filter in
        writer.write(filter.key)
        writer.write(filter.comparator.rawValue)
        writer.write(filter.value)
        writer.write(optional: filter.distance) { $0.write($1) }
      }
      write(optional: query.zone) { $0.write($1) }
      write(variable: UInt64(query.options.rawValue))
    }
  }
}

extension ByteReader {
  mutating func archivedNotificationInfo() throws(ByteFormatError) -> Subscription.NotificationInfo
  {
    var info = Subscription.NotificationInfo()
    info.alertBody = try optionalString()
    info.shouldSendContentAvailable = try bool()
    info.shouldSendMutableContent = try bool()
    info.shouldBadge = try bool()
    info.desiredKeys = try list { (reader) throws(ByteFormatError) in try reader.string() }
    info.others = try fields()
    return info
  }

  mutating func archivedSubscription() throws(ByteFormatError) -> Subscription {
    let id = SubscriptionID(try string())
    let info = try optional { (reader) throws(ByteFormatError) in
      try reader.archivedNotificationInfo()
    }
    return Subscription(id: id, kind: try archivedKind(), notificationInfo: info)
  }

  private mutating func archivedKind() throws(ByteFormatError) -> Subscription.Kind {
    switch try byte() {
    case 3: return .database(recordType: try optionalString())
    case 2:
      let zone = try zoneID()
      return .zone(zone, recordType: try optionalString())
    case 1:
      let recordType = try string()
      let filters = try list { (reader) throws(ByteFormatError) in try reader.archivedFilter() }
      let zone = try optional { (reader) throws(ByteFormatError) in try reader.zoneID() }
      let bits = UInt(truncatingIfNeeded: try variable())
      return .query(
        QuerySubscription(
          query: Query(recordType: recordType, filters: filters), zone: zone,
          options: QuerySubscription.Options(rawValue: bits)))
    default: throw fault("a subscription is of no known kind")
    }
  }

  private mutating func archivedFilter() throws(ByteFormatError) -> Query.Filter {
    let key = try string()
    guard let comparator = Query.Filter.Comparator(rawValue: try string()) else {
      throw fault("a filter compares in no known way")
    }
    let value = try fieldValue()
    let distance = try optional { (reader) throws(ByteFormatError) in try reader.double() }
    return Query.Filter(key: key, comparator: comparator, value: value, distance: distance)
  }

  private mutating func optionalString() throws(ByteFormatError) -> String? {
    try optional { (reader) throws(ByteFormatError) in try reader.string() }
  }
}
