public import Records

/// The binary form of a push.
extension ByteWriter {
  /// Appends a push.
  public mutating func write(_ push: CloudPush) {
    write(push.container)
    write(push.database.rawValue)
    write(push.subscription.rawValue)
    write(optional: push.zone) { $0.write($1) }
    write(optional: push.query) { writer, query in
      writer.write(query.record)
      writer.write(query.reason.rawValue)
      writer.write(query.fields)
    }
  }
}

extension ByteReader {
  /// Reads a push.
  public mutating func push() throws(ByteFormatError) -> CloudPush {
    let container = try string()
    let database: DatabaseScope = try enumeration("the database of a push is unknown")
    let subscription = SubscriptionID(try string())
    let zone = try optional { (reader) throws(ByteFormatError) in try reader.zoneID() }
    let query = try optional { (reader) throws(ByteFormatError) in
      let record = try reader.recordID()
      let reason: QueryPush.Reason = try reader.enumeration("the reason of a push is unknown")
      return QueryPush(record: record, reason: reason, fields: try reader.fields())
    }
    return CloudPush(
      container: container, database: database, subscription: subscription, zone: zone,
      query: query)
  }
}
