package import Records

/// The binary encoding of one change in a state log. The log adds length and checksum.
extension StateChange {
  /// Appends the change to `writer`.
  package func write(to writer: inout ByteWriter) {
    switch self {
    case .reset:
      writer.write(UInt8(0))
    case .setUser(let user):
      writer.write(UInt8(1))
      writer.write(optional: user) { $0.write($1.rawValue) }
    case .setDatabaseToken(let token):
      writer.write(UInt8(2))
      writer.write(optional: token) { $0.write($1.bytes) }
    case .setZoneToken(let zone, let token):
      writer.write(UInt8(3))
      writer.write(zone)
      writer.write(optional: token) { $0.write($1.bytes) }
    case .setZoneChanged(let zone, let isChanged):
      writer.write(UInt8(4))
      writer.write(zone)
      writer.write(isChanged)
    case .setZoneExpired(let zone, let isExpired):
      writer.write(UInt8(5))
      writer.write(zone)
      writer.write(isExpired)
    case .setNeedsFetch(let value):
      writer.write(UInt8(6))
      writer.write(value)
    case .setHasUntrackedChanges(let value):
      writer.write(UInt8(7))
      writer.write(value)
    case .setSubscription(let id):
      writer.write(UInt8(8))
      writer.write(optional: id) { $0.write($1.rawValue) }
    case .addRecord(let change):
      writer.write(UInt8(9))
      writer.write(change.kind.rawValue)
      writer.write(change.id)
    case .removeRecord(let id):
      writer.write(UInt8(10))
      writer.write(id)
    case .addZone(let change):
      writer.write(UInt8(11))
      writer.write(change.kind.rawValue)
      writer.write(change.id)
    case .removeZone(let id):
      writer.write(UInt8(12))
      writer.write(id)
    case .announceUser(let user, let previous):
      writer.write(UInt8(13))
      writer.write(optional: user) { $0.write($1.rawValue) }
      writer.write(optional: previous) { $0.write($1.rawValue) }
    case .setDatabase(let database):
      writer.write(UInt8(14))
      database.write(to: &writer)
    }
  }

  /// Encodes several changes as one log entry.
  package static func encoded(_ changes: [StateChange]) -> [UInt8] {
    var writer = ByteWriter(capacity: 64 * changes.count)
    writer.write(list: changes) { $1.write(to: &$0) }
    return writer.bytes
  }

  /// Decodes the changes of one log entry.
  package static func decoded(_ bytes: [UInt8]) throws(ByteFormatError) -> [StateChange] {
    var reader = ByteReader(bytes)
    let changes = try reader.list { (reader) throws(ByteFormatError) in
      try StateChange(from: &reader)
    }
    try reader.finish()
    return changes
  }

  /// Decodes one change.
  package init(from reader: inout ByteReader) throws(ByteFormatError) {
    switch try reader.byte() {
    case 0: self = .reset
    case 1: self = .setUser(try reader.userID())
    case 2: self = .setDatabaseToken(try reader.changeToken())
    case 3:
      let zone = try reader.zoneID()
      self = .setZoneToken(zone, try reader.changeToken())
    case 4:
      let zone = try reader.zoneID()
      self = .setZoneChanged(zone, try reader.bool())
    case 5:
      let zone = try reader.zoneID()
      self = .setZoneExpired(zone, try reader.bool())
    case 6: self = .setNeedsFetch(try reader.bool())
    case 7: self = .setHasUntrackedChanges(try reader.bool())
    case 8: self = .setSubscription(try reader.subscriptionID())
    case 9:
      let kind = try reader.changeKind()
      self = .addRecord(PendingChange(kind, try reader.recordID()))
    case 10: self = .removeRecord(try reader.recordID())
    case 11:
      let kind = try reader.changeKind()
      self = .addZone(PendingChange(kind, try reader.zoneID()))
    case 12: self = .removeZone(try reader.zoneID())
    case 13:
      let user = try reader.userID()
      self = .announceUser(user, previous: try reader.userID())
    case 14: self = .setDatabase(try SyncedDatabase(from: &reader))
    default: throw reader.fault("the kind of a step is unknown")
    }
  }
}

extension ByteReader {
  /// The ID of a user, if there is one.
  mutating func userID() throws(ByteFormatError) -> UserID? {
    try optional { (reader) throws(ByteFormatError) in UserID(try reader.string()) }
  }

  /// The ID of a subscription, if there is one.
  mutating func subscriptionID() throws(ByteFormatError) -> SubscriptionID? {
    try optional { (reader) throws(ByteFormatError) in SubscriptionID(try reader.string()) }
  }

  /// A token, if there is one.
  mutating func changeToken() throws(ByteFormatError) -> ChangeToken? {
    try optional { (reader) throws(ByteFormatError) in
      ChangeToken(bytes: try reader.byteArray())
    }
  }
}
