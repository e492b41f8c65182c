import CloudMachine
import CloudProtocol
import Records

/// The form of a record or tombstone in the file.
///
/// Its name and sequence number are columns of their own and guarded by the seal too.
enum RecordBody {
  static func close(_ row: RecordRow) -> [UInt8] {
    Sealed.close(context: context(row.id, row.changedAt), capacity: 1024) { writer in
      writer.write(row.type)
      writer.write(optional: row.device) { $0.write($1) }
      writer.write(optional: row.record) { $0.write($1) }
    }
  }

  static func open(
    _ bytes: [UInt8], id: RecordID, changedAt: UInt64
  ) throws(ByteFormatError) -> RecordRow {
    try Sealed.open(bytes, context: context(id, changedAt)) { (reader) throws(ByteFormatError) in
      let type = try reader.string()
      let device = try reader.optional { (reader) throws(ByteFormatError) in try reader.string() }
      let record = try reader.optional { (reader) throws(ByteFormatError) in try reader.record() }
      return RecordRow(id: id, type: type, record: record, changedAt: changedAt, device: device)
    }
  }

  private static func context(_ id: RecordID, _ changedAt: UInt64) -> [UInt8] {
    Sealed.context(id.name, numbers: changedAt)
  }
}

/// The form of an account in the file; its names are columns of their own.
enum AccountBody {
  static func close(_ row: AccountRow) -> [UInt8] {
    Sealed.close(context: context(row.name, row.user), capacity: 16) { writer in
      writer.write(optional: row.quota) { $0.write(fixed: UInt64(bitPattern: Int64($1))) }
    }
  }

  static func open(
    _ bytes: [UInt8], name: String, user: UserID
  ) throws(ByteFormatError) -> AccountRow {
    try Sealed.open(bytes, context: context(name, user)) { (reader) throws(ByteFormatError) in
      let quota = try reader.optional { (reader) throws(ByteFormatError) in
        Int(truncatingIfNeeded: try reader.fixed64())
      }
      return AccountRow(name: name, user: user, quota: quota)
    }
  }

  private static func context(_ name: String, _ user: UserID) -> [UInt8] {
    Sealed.context(name, user.rawValue)
  }
}

/// The form of a database's row in the file; its name is in columns of their own.
enum DatabaseBody {
  static func close(_ row: DatabaseRow) -> [UInt8] {
    Sealed.close(context: context(row.id), capacity: 48) { writer in
      writer.write(fixed: row.incarnation)
      writer.write(variable: row.sequence)
      writer.write(row.latest.secondsSinceReferenceDate)
      writer.write(variable: row.trimmedThrough)
      writer.write(count: row.byteCount)
    }
  }

  static func open(_ bytes: [UInt8], id: DatabaseID) throws(ByteFormatError) -> DatabaseRow {
    try Sealed.open(bytes, context: context(id)) { (reader) throws(ByteFormatError) in
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
    Sealed.context(
      id.container, id.environment.rawValue, id.owner?.rawValue,
      numbers: UInt64(id.scope.rawValue))
  }
}

/// The form of a zone's row in the file; its name and sequence number are columns of their own.
enum ZoneBody {
  static func close(_ row: ZoneRow) -> [UInt8] {
    Sealed.close(context: context(row.id, row.changedAt), capacity: 48) { writer in
      writer.write(optional: row.deletion) { $0.write($1.rawValue) }
      writer.write(fixed: row.incarnation)
      writer.write(variable: row.trimmedThrough)
      writer.write(count: row.byteCount)
    }
  }

  static func open(
    _ bytes: [UInt8], id: ZoneID, changedAt: UInt64
  ) throws(ByteFormatError) -> ZoneRow {
    try Sealed.open(bytes, context: context(id, changedAt)) { (reader) throws(ByteFormatError) in
      let deletion = try reader.optional { (reader) throws(ByteFormatError) in
        guard let reason = ZoneDeletionReason(rawValue: try reader.byte()) else {
          throw reader.fault("a zone went for no known reason")
        }
        return reason
      }
      let incarnation = try reader.fixed64()
      let trimmedThrough = try reader.variable()
      return ZoneRow(
        id: id, deletion: deletion, incarnation: incarnation, changedAt: changedAt,
        trimmedThrough: trimmedThrough, byteCount: try reader.size())
    }
  }

  private static func context(_ id: ZoneID, _ changedAt: UInt64) -> [UInt8] {
    Sealed.context(id.name, id.owner, numbers: changedAt)
  }
}

extension ByteReader {
  /// A count of bytes that are not in the data.
  fileprivate mutating func size() throws(ByteFormatError) -> Int {
    guard let size = Int(exactly: try variable()) else { throw fault("a size is too large") }
    return size
  }
}
