import CloudProtocol
import Records

extension FuzzTarget {
  /// The binary form of the record model.
  static let records = FuzzTarget(name: "records") { input, planted in
    var input = input
    let kind = input.choice(9)
    let bytes = input.rest
    switch kind {
    case 0:
      let record = try binary(bytes, { (r) throws(ByteFormatError) in try r.record() }) {
        $0.write($1)
      }
      if let record { try plant(planted, record.id.name.utf8) }
    case 1:
      try binary(bytes, { (r) throws(ByteFormatError) in try r.fields() }) { $0.write($1) }
    case 2:
      try binary(bytes, { (r) throws(ByteFormatError) in try r.fieldValue() }) { $0.write($1) }
    case 3:
      try binary(bytes, { (r) throws(ByteFormatError) in try r.query() }) { $0.write($1) }
    case 4:
      try binary(bytes, { (r) throws(ByteFormatError) in try r.subscription() }) { $0.write($1) }
    case 5:
      try binary(bytes, { (r) throws(ByteFormatError) in try r.shareDetails() }) { $0.write($1) }
    case 6:
      try binary(bytes, { (r) throws(ByteFormatError) in try r.userLookup() }) { $0.write($1) }
    case 7:
      try binary(bytes, { (r) throws(ByteFormatError) in try r.shareMetadata() }) { $0.write($1) }
    default:
      try binary(bytes, { (r) throws(ByteFormatError) in try r.push() }) { $0.write($1) }
    }
  }

  /// Reads all of `bytes`, and sees to it that what was read stays what it is when written.
  ///
  /// Fields may come in any order, and are written in that of their names; then what is written
  /// must be no longer, and be read as the same. Values are compared by
  /// their bytes, since what is not a number equals nothing.
  @discardableResult
  static func binary<Value>(
    _ bytes: [UInt8], _ read: (inout ByteReader) throws(ByteFormatError) -> Value,
    _ write: (inout ByteWriter, Value) -> Void
  ) throws -> Value? {
    var reader = ByteReader(bytes)
    guard let value = try? read(&reader) else { return nil }
    try check(reader.offset + reader.remaining == bytes.count, "a reader that loses its place")
    var writer = ByteWriter()
    write(&writer, value)
    let length = reader.offset
    if !writer.bytes.elementsEqual(bytes.prefix(length)) {
      try check(writer.bytes.count <= length, "bytes that grow when written")
      var second = ByteReader(writer.bytes)
      let again = try read(&second)
      try check(second.isAtEnd, "bytes that are written and not read")
      var copy = ByteWriter()
      write(&copy, again)
      try check(copy.bytes == writer.bytes, "bytes that are another value when read again")
    }
    return value
  }
}
