/// Builds the compact binary form that state blobs, logs, tokens and stored records share.
///
/// Numbers are little-endian or variable-length (seven bits a byte, least significant first);
/// strings and byte runs carry their length in front.
public struct ByteWriter: Sendable {
  /// What was written so far.
  public private(set) var bytes: [UInt8] = []

  /// Starts with nothing, making room for `capacity` bytes.
  public init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  /// Appends one byte.
  public mutating func write(_ value: UInt8) { bytes.append(value) }

  /// Appends one byte, 0 or 1.
  public mutating func write(_ value: Bool) { bytes.append(value ? 1 : 0) }

  /// Appends eight bytes, least significant first.
  public mutating func write(fixed value: UInt64) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  /// Appends four bytes, least significant first.
  public mutating func write(fixed value: UInt32) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  /// Appends the bits of `value`, so that it is read back the same.
  public mutating func write(_ value: Double) { write(fixed: value.bitPattern) }

  /// Appends a number in as few bytes as it needs, 10 at most.
  public mutating func write(variable value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  /// Appends a count, which is never negative.
  public mutating func write(count: Int) { write(variable: UInt64(max(0, count))) }

  /// Appends a length and the text's UTF-8 bytes.
  public mutating func write(_ value: String) {
    write(count: value.utf8.count)
    bytes.append(contentsOf: value.utf8)
  }

  /// Appends a length and the bytes.
  public mutating func write(_ value: [UInt8]) {
    write(count: value.count)
    bytes.append(contentsOf: value)
  }

  /// Appends bytes without a length.
  public mutating func write(raw value: some Sequence<UInt8>) { bytes.append(contentsOf: value) }

  /// Appends whether there is a value, then the value.
  public mutating func write<Value>(
    optional value: Value?, _ body: (inout ByteWriter, Value) -> Void
  ) {
    write(value != nil)
    if let value { body(&self, value) }
  }

  /// Appends a count, then each element.
  public mutating func write<Element>(
    list: some Collection<Element>, _ body: (inout ByteWriter, Element) -> Void
  ) {
    write(count: list.count)
    for element in list { body(&self, element) }
  }
}
