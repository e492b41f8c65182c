package import Foundation
package import Records

/// The envelope in which the face puts its values into a coder: version, bytes, checksum.
///
/// One byte run for each object keeps archives small, and the checksum makes any damage to it
/// end in `nil` instead of a wrong value.
package enum ArchivedBytes {
  /// The layout below; a larger number is from a newer library and is refused.
  static let version: UInt8 = 1

  /// Writes what `body` writes under `key`.
  package static func encode(
    _ key: String, with coder: NSCoder, _ body: (inout ByteWriter) -> Void
  ) {
    var writer = ByteWriter(capacity: 128)
    writer.write(version)
    body(&writer)
    writer.write(fixed: Checksum.of(writer.bytes))
    let data = Data(writer.bytes)
    if coder.allowsKeyedCoding {
      coder.encode(data as NSData, forKey: key)
    } else {
      coder.encode(data)
    }
  }

  /// Whether something was written under `key`.
  package static func holds(_ key: String, in coder: NSCoder) -> Bool {
    coder.allowsKeyedCoding && coder.containsValue(forKey: key)
  }

  /// Reads what `encode` wrote; `nil` when it is missing, damaged or from a newer library.
  package static func decode<Value>(
    _ key: String, with coder: NSCoder,
    _ body: (inout ByteReader) throws(ByteFormatError) -> Value
  ) -> Value? {
    let data: Data?
    if coder.allowsKeyedCoding {
      data = coder.decodeObject(of: NSData.self, forKey: key).map { Data(referencing: $0) }
    } else {
      data = coder.decodeData()
    }
    guard let data, data.count > 5 else { return nil }
    let bytes = [UInt8](data)
    var end = ByteReader(bytes[(bytes.count - 4)...])
    let content = bytes[..<(bytes.count - 4)]
    do throws(ByteFormatError) {
      guard try end.fixed32() == Checksum.of(content) else { return nil }
      var reader = ByteReader(content)
      guard try reader.byte() == version else { return nil }
      let value = try body(&reader)
      try reader.finish()
      return value
    } catch {
      return nil
    }
  }
}
