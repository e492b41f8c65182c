/// The binary form of a subscription.
extension ByteWriter {
  /// Appends a subscription.
  public mutating func write(_ subscription: Subscription) {
    write(subscription.id.rawValue)
    switch subscription.kind {
    case .database(let type):
      write(UInt8(0))
      write(optional: type) { $0.write($1) }
    case .zone(let zone, let type):
      write(UInt8(1))
      write(zone)
      write(optional: type) { $0.write($1) }
    case .query(let watched):
      write(UInt8(2))
      write(watched.query)
      write(optional: watched.zone) { $0.write($1) }
      write(variable: UInt64(watched.options.rawValue))
    }
    write(optional: subscription.notificationInfo) { $0.write($1) }
  }

  /// Appends how a push looks.
  public mutating func write(_ info: Subscription.NotificationInfo) {
    write(optional: info.alertBody) { $0.write($1) }
    write(info.shouldSendContentAvailable)
    write(info.shouldSendMutableContent)
    write(info.shouldBadge)
    write(list: info.desiredKeys) { $0.write($1) }
    write(info.others)
  }
}

/// Reads what was written above; anything else is an error, never a trap.
extension ByteReader {
  /// Reads a subscription.
  public mutating func subscription() throws(ByteFormatError) -> Subscription {
    let id = SubscriptionID(try string())
    let kind: Subscription.Kind
    switch try byte() {
    case 0: kind = .database(recordType: try optionalString())
    case 1:
      let zone = try zoneID()
      kind = .zone(zone, recordType: try optionalString())
    case 2:
      let query = try query()
      let zone = try optional { (reader) throws(ByteFormatError) in try reader.zoneID() }
      guard let bits = UInt(exactly: try variable()) else { throw fault("a number is too large") }
      kind = .query(
        QuerySubscription(
          query: query, zone: zone, options: QuerySubscription.Options(rawValue: bits)))
    default: throw fault("the kind of a subscription is unknown")
    }
    return Subscription(
      id: id, kind: kind,
      notificationInfo: try optional { (reader) throws(ByteFormatError) in
        try reader.notificationInfo()
      })
  }

  /// How a push looks.
  public mutating func notificationInfo() throws(ByteFormatError) -> Subscription.NotificationInfo {
    var info = Subscription.NotificationInfo(alertBody: try optionalString())
    info.shouldSendContentAvailable = try bool()
    info.shouldSendMutableContent = try bool()
    info.shouldBadge = try bool()
    info.desiredKeys = try list { (reader) throws(ByteFormatError) in try reader.string() }
    info.others = try fields()
    return info
  }
}
