import CloudMachine
import CloudProtocol
import Records

/// The form of a record or tombstone in the file.
///
/// The name and sequence number are separate columns, also covered by the checksum.
enum RecordBody {
  static func close(_ row: RecordRow) -> [UInt8] {
    ChecksummedBytes.encode(context: context(row.id, row.changedAt), capacity: 1024) { writer in
      writer.write(row.type)
      writer.write(optional: row.device) { $0.write($1) }
      writer.write(optional: row.record) { $0.write($1) }
      if !row.memberships.isEmpty { writer.write(list: row.memberships) { $0.write($1) } }
    }
  }

  static func open(
    _ bytes: [UInt8], id: RecordID, changedAt: UInt64
  ) throws(ByteFormatError) -> RecordRow {
    try ChecksummedBytes.decode(bytes, context: context(id, changedAt)) {
      (reader) throws(ByteFormatError) in
      let type = try reader.string()
      let device = try reader.optional { (reader) throws(ByteFormatError) in try reader.string() }
      let record = try reader.optional { (reader) throws(ByteFormatError) in try reader.record() }
      return RecordRow(
        id: id, type: type, record: record, changedAt: changedAt, device: device,
        memberships: try reader.memberships())
    }
  }

  private static func context(_ id: RecordID, _ changedAt: UInt64) -> [UInt8] {
    ChecksummedBytes.context(id.name, numbers: changedAt)
  }
}

/// The form of an account in the file; its names are separate columns.
enum AccountBody {
  static func close(_ row: AccountRow) -> [UInt8] {
    ChecksummedBytes.encode(context: context(row.name, row.user), capacity: 16) { writer in
      writer.write(optional: row.quota) { $0.write(fixed: UInt64(bitPattern: Int64($1))) }
      guard row.person != AccountRow.Person() else { return }
      for text in [
        row.person.email, row.person.phone, row.person.givenName, row.person.familyName,
      ] { writer.write(optional: text) { $0.write($1) } }
    }
  }

  static func open(
    _ bytes: [UInt8], name: String, user: UserID
  ) throws(ByteFormatError) -> AccountRow {
    try ChecksummedBytes.decode(bytes, context: context(name, user)) {
      (reader) throws(ByteFormatError) in
      let quota = try reader.optional { (reader) throws(ByteFormatError) in
        Int(truncatingIfNeeded: try reader.fixed64())
      }
      var row = AccountRow(name: name, user: user, quota: quota)
      if !reader.isAtEnd {
        row.person.email = try reader.text()
        row.person.phone = try reader.text()
        row.person.givenName = try reader.text()
        row.person.familyName = try reader.text()
      }
      return row
    }
  }

  private static func context(_ name: String, _ user: UserID) -> [UInt8] {
    ChecksummedBytes.context(name, user.rawValue)
  }
}

/// The form of a database's row in the file; its name is in separate columns.
enum DatabaseBody {
  static func close(_ row: DatabaseRow) -> [UInt8] {
    ChecksummedBytes.encode(context: context(row.id), capacity: 48) { writer in
      writer.write(fixed: row.incarnation)
      writer.write(variable: row.sequence)
      writer.write(row.latest.secondsSinceReferenceDate)
      writer.write(variable: row.trimmedThrough)
      writer.write(count: row.byteCount)
    }
  }

  static func open(_ bytes: [UInt8], id: DatabaseID) throws(ByteFormatError) -> DatabaseRow {
    try ChecksummedBytes.decode(bytes, context: context(id)) { (reader) throws(ByteFormatError) in
      let incarnation = try reader.fixed64()
      let sequence = try reader.variable()
      let latest = Timestamp(secondsSinceReferenceDate: try reader.double())
      let trimmedThrough = try reader.variable()
      return DatabaseRow(
        id: id, incarnation: incarnation, sequence: sequence, latest: latest,
        trimmedThrough: trimmedThrough, byteCount: try reader.size())
    }
  }

  private static func context(_ id: DatabaseID) -> [UInt8] {
    ChecksummedBytes.context(
      id.container, id.environment.rawValue, id.owner?.rawValue,
      numbers: UInt64(id.scope.rawValue))
  }
}

/// The form of a zone's row in the file; its name and sequence number are separate columns.
enum ZoneBody {
  static func close(_ row: ZoneRow) -> [UInt8] {
    ChecksummedBytes.encode(context: context(row.id, row.changedAt), capacity: 48) { writer in
      writer.write(optional: row.deletion) { $0.write($1.rawValue) }
      writer.write(fixed: row.incarnation)
      writer.write(variable: row.trimmedThrough)
      writer.write(count: row.byteCount)
      guard row.sharing != ZoneSharing() else { return }
      writer.write(count: row.sharing.hierarchies)
      writer.write(row.sharing.isZoneWide)
      writer.write(list: row.sharing.viewers) { $0.write($1.rawValue) }
      writer.write(list: row.sharing.memberships) { $0.write($1) }
    }
  }

  static func open(
    _ bytes: [UInt8], id: ZoneID, changedAt: UInt64
  ) throws(ByteFormatError) -> ZoneRow {
    try ChecksummedBytes.decode(bytes, context: context(id, changedAt)) {
      (reader) throws(ByteFormatError) in
      let deletion = try reader.optional { (reader) throws(ByteFormatError) in
        guard let reason = ZoneDeletionReason(rawValue: try reader.byte()) else {
          throw reader.fault("the reason of a zone deletion is unknown")
        }
        return reason
      }
      let incarnation = try reader.fixed64()
      let trimmedThrough = try reader.variable()
      var row = ZoneRow(
        id: id, deletion: deletion, incarnation: incarnation, changedAt: changedAt,
        trimmedThrough: trimmedThrough, byteCount: try reader.size())
      if !reader.isAtEnd {
        row.sharing.hierarchies = try reader.size()
        row.sharing.isZoneWide = try reader.bool()
        row.sharing.viewers = try reader.list { (reader) throws(ByteFormatError) in
          UserID(try reader.string())
        }
        row.sharing.memberships = try reader.memberships()
      }
      return row
    }
  }

  private static func context(_ id: ZoneID, _ changedAt: UInt64) -> [UInt8] {
    ChecksummedBytes.context(id.name, id.owner, numbers: changedAt)
  }
}

/// The forms of a storage's identity and secret.
enum SettingsBody {
  static func close(_ identity: UInt64) -> [UInt8] {
    ChecksummedBytes.encode { $0.write(fixed: identity) }
  }

  static func close(_ secret: StorageSecret) -> [UInt8] {
    ChecksummedBytes.encode {
      $0.write(fixed: secret.first)
      $0.write(fixed: secret.second)
    }
  }

  static func identity(_ bytes: [UInt8]) throws(ByteFormatError) -> UInt64 {
    try ChecksummedBytes.decode(bytes) { (reader) throws(ByteFormatError) in
      try reader.fixed64()
    }
  }

  static func secret(_ bytes: [UInt8]) throws(ByteFormatError) -> StorageSecret {
    try ChecksummedBytes.decode(bytes) { (reader) throws(ByteFormatError) in
      StorageSecret(first: try reader.fixed64(), second: try reader.fixed64())
    }
  }
}

/// The form of a subscription; its name is a separate column, which `context` holds.
enum SubscriptionBody {
  static func close(_ subscription: Subscription, context: [UInt8]) -> [UInt8] {
    ChecksummedBytes.encode(context: context) { $0.write(subscription) }
  }

  static func open(
    _ bytes: [UInt8], context: [UInt8]
  ) throws(ByteFormatError) -> Subscription {
    try ChecksummedBytes.decode(bytes, context: context) { (reader) throws(ByteFormatError) in
      try reader.subscription()
    }
  }
}

/// The form of a receipt; its key is in separate columns.
enum ReceiptBody {
  static func close(_ receipt: Receipt) -> [UInt8] {
    ChecksummedBytes.encode { writer in
      writer.write(receipt.reply)
      if let digest = receipt.digest { writer.write(digest) }
    }
  }

  static func open(_ bytes: [UInt8], key: ReceiptKey) throws(ByteFormatError) -> Receipt {
    try ChecksummedBytes.decode(bytes) { (reader) throws(ByteFormatError) in
      let reply = try reader.reply()
      // Rows of the SQLite layout 4 and before end here.
      return Receipt(
        key: key, reply: reply, digest: reader.isAtEnd ? nil : try reader.byteArray())
    }
  }
}

/// The form of a part of a file's content; its checksum and number are separate columns.
enum ChunkBody {
  static func close(_ part: [UInt8], _ number: Int64, of checksum: String) -> [UInt8] {
    ChecksummedBytes.encode(context: context(checksum, number), capacity: part.count + 4) {
      $0.write(raw: part)
    }
  }

  static func open(
    _ bytes: [UInt8], _ number: Int64, of checksum: String
  ) throws(ByteFormatError) -> [UInt8] {
    try ChecksummedBytes.decode(bytes, context: context(checksum, number)) {
      (reader) throws(ByteFormatError) in Array(try reader.raw(reader.remaining))
    }
  }

  private static func context(_ checksum: String, _ number: Int64) -> [UInt8] {
    ChecksummedBytes.context(checksum, numbers: UInt64(bitPattern: number))
  }
}

/// The form of the settings for all record types, which are stored under the empty name.
enum SchemaBody {
  static func close(_ row: SchemaRow) -> [UInt8] {
    ChecksummedBytes.encode(context: context(row.container, row.environment)) {
      $0.write(row.isClosed)
    }
  }

  static func open(
    _ bytes: [UInt8], _ container: String, _ environment: CloudEnvironment
  ) throws(ByteFormatError) -> SchemaRow {
    SchemaRow(
      container: container, environment: environment,
      isClosed: try ChecksummedBytes.decode(bytes, context: context(container, environment)) {
        (reader) throws(ByteFormatError) in try reader.bool()
      })
  }

  private static func context(_ container: String, _ environment: CloudEnvironment) -> [UInt8] {
    ChecksummedBytes.context(container, environment.rawValue, "")
  }
}

extension DatabaseID {
  /// The database with these columns; the owner is empty if there is none.
  init(
    container: String, environment: String, scope: Int64, owner: String
  ) throws(ByteFormatError) {
    guard let scope = UInt8(exactly: scope).flatMap(DatabaseScope.init(rawValue:)) else {
      throw ByteFormatError(offset: 0, reason: "the kind of a database is unknown")
    }
    let type = try RecordTypeID(container: container, environment: environment, name: "")
    self.init(
      container: container, environment: type.environment, scope: scope,
      owner: owner.isEmpty ? nil : UserID(owner))
  }
}

extension RecordTypeID {
  /// The record type with these columns.
  init(container: String, environment: String, name: String) throws(ByteFormatError) {
    guard let environment = CloudEnvironment(rawValue: environment) else {
      throw ByteFormatError(offset: 0, reason: "the kind of a database is unknown")
    }
    self.init(container: container, environment: environment, name: name)
  }
}

extension ByteReader {
  /// A count of bytes that are not in the data.
  fileprivate mutating func size() throws(ByteFormatError) -> Int {
    guard let size = Int(exactly: try variable()) else { throw fault("a size is too large") }
    return size
  }

  /// A text that may be missing.
  fileprivate mutating func text() throws(ByteFormatError) -> String? {
    try optional { (reader) throws(ByteFormatError) in try reader.string() }
  }

  /// The share memberships at the end of a row, which are omitted when there are none.
  fileprivate mutating func memberships() throws(ByteFormatError) -> [ShareMembership] {
    if isAtEnd { return [] }
    return try list { (reader) throws(ByteFormatError) in
      let share = try reader.string()
      let since = try reader.variable()
      return ShareMembership(
        share: share, since: since,
        until: try reader.optional { (reader) throws(ByteFormatError) in try reader.variable() })
    }
  }
}

extension ByteWriter {
  /// Appends a share membership.
  fileprivate mutating func write(_ membership: ShareMembership) {
    write(membership.share)
    write(variable: membership.since)
    write(optional: membership.until) { $0.write(variable: $1) }
  }
}
