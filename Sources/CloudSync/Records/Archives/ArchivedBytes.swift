package import Records

#if canImport(CoreLocation)
  import Foundation  // public, because the module exports CoreLocation
#else
  package import Foundation
#endif

/// The form in which values are written to a coder: a version, bytes and a checksum.
///
/// One run of bytes for each object keeps archives small. The checksum makes a damaged archive
/// decode as `nil` instead of a wrong value.
package enum ArchivedBytes {
  /// The version of the layout; a larger number is from a newer library and is refused.
  static let version: UInt8 = 1

  /// Writes the bytes that `body` writes, under `key`.
  package static func encode(
    _ key: String, with coder: NSCoder, _ body: (inout ByteWriter) -> Void
  ) {
    let bytes = bytes(body)
    if coder.allowsKeyedCoding {
      bytes.withUnsafeBufferPointer { bytes in
        coder.encodeBytes(bytes.baseAddress, length: bytes.count, forKey: key)
      }
    } else {
      coder.encode(Data(bytes))
    }
  }

  /// The bytes that `body` writes, with version and checksum, without a coder.
  package static func bytes(_ body: (inout ByteWriter) -> Void) -> [UInt8] {
    var writer = ByteWriter(capacity: 192)
    writer.write(version)
    body(&writer)
    writer.write(fixed: Checksum.of(writer.bytes))
    return writer.bytes
  }

  /// Whether `coder` has bytes under `key`.
  package static func holds(_ key: String, in coder: NSCoder) -> Bool {
    coder.allowsKeyedCoding && coder.containsValue(forKey: key)
  }

  /// Reads the output of `encode`; `nil` when it is missing, damaged or from a newer library.
  package static func decode<Value>(
    _ key: String, with coder: NSCoder, _ body: (inout ByteReader) throws -> Value
  ) -> Value? {
    bytes(key, with: coder).flatMap { decode($0, body) }
  }

  /// Reads the output of `bytes`; `nil` when it is damaged or from a newer library.
  package static func decode<Value>(
    _ bytes: [UInt8], _ body: (inout ByteReader) throws -> Value
  ) -> Value? {
    guard bytes.count > 5 else { return nil }
    var end = ByteReader(bytes[(bytes.count - 4)...])
    let content = bytes[..<(bytes.count - 4)]
    do {
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

  /// The bytes under `key`; `nil` if there are none.
  ///
  /// Decoded as plain bytes and not as an object: decoding an object that is missing or of another
  /// class ends the process on Linux.
  private static func bytes(_ key: String, with coder: NSCoder) -> [UInt8]? {
    guard coder.allowsKeyedCoding else { return coder.decodeData().map { [UInt8]($0) } }
    #if canImport(Darwin)
      var length = 0
      return coder.decodeBytes(forKey: key, returnedLength: &length).map {
        [UInt8](UnsafeBufferPointer(start: $0, count: length))
      }
    #else
      return coder.withDecodedUnsafeBytes(forKey: key) { $0.map { [UInt8]($0) } }
    #endif
  }
}
