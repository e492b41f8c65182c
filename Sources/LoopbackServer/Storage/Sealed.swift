import CloudMachine
import Records

/// Bytes with a checksum behind them, so that a damaged page is never read as a valid row.
enum Sealed {
  /// The bytes that `body` writes, sealed together with `context`, which is not stored.
  static func close(
    context: [UInt8] = [], capacity: Int = 256, _ body: (inout ByteWriter) -> Void
  ) -> [UInt8] {
    var writer = ByteWriter(capacity: capacity)
    body(&writer)
    writer.write(fixed: checksum(writer.bytes[...], context))
    return writer.bytes
  }

  /// What `body` reads from bytes that were sealed with the same `context`.
  static func open<Value>(
    _ bytes: [UInt8], context: [UInt8] = [],
    _ body: (inout ByteReader) throws(ByteFormatError) -> Value
  ) throws(ByteFormatError) -> Value {
    guard bytes.count >= 4 else {
      throw ByteFormatError(offset: 0, reason: "a row is too short")
    }
    let end = bytes.count - 4
    var seal = ByteReader(bytes[end...])
    guard try seal.fixed32() == checksum(bytes[..<end], context) else {
      throw ByteFormatError(offset: end, reason: "a row does not match its checksum")
    }
    var reader = ByteReader(bytes[..<end])
    let value = try body(&reader)
    try reader.finish()
    return value
  }

  private static func checksum(_ bytes: ArraySlice<UInt8>, _ context: [UInt8]) -> UInt32 {
    var checksum = Checksum()
    checksum.update(context)
    checksum.update(bytes)
    return checksum.value
  }
}

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
    var writer = ByteWriter(capacity: 64)
    writer.write(id.name)
    writer.write(variable: changedAt)
    return writer.bytes
  }
}
