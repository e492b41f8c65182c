import CloudMachine
import Records

/// Bytes with a trailing checksum, so that a damaged page is never read as a valid row.
enum ChecksummedBytes {
  /// The bytes that `body` writes, with a checksum over them and `context`, which is not stored.
  static func encode(
    context: [UInt8] = [], capacity: Int = 256, _ body: (inout ByteWriter) -> Void
  ) -> [UInt8] {
    var writer = ByteWriter(capacity: capacity)
    body(&writer)
    writer.write(fixed: checksum(writer.bytes[...], context))
    return writer.bytes
  }

  /// Verifies the checksum with the same `context`, and decodes the bytes with `body`.
  static func decode<Value>(
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

  /// The bytes of names and numbers in separate columns that the checksum covers too.
  static func context(_ texts: String?..., numbers: UInt64...) -> [UInt8] {
    var writer = ByteWriter(capacity: 64)
    for text in texts { writer.write(optional: text) { $0.write($1) } }
    for number in numbers { writer.write(variable: number) }
    return writer.bytes
  }

  private static func checksum(_ bytes: ArraySlice<UInt8>, _ context: [UInt8]) -> UInt32 {
    var checksum = Checksum()
    checksum.update(context)
    checksum.update(bytes)
    return checksum.value
  }
}
