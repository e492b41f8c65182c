/// Why bytes could not be read as what they should be.
///
/// Says where and what, never the content, so that it can be logged.
public struct ByteFormatError: Error, Hashable, Sendable, CustomStringConvertible {
  /// How many bytes had been read.
  public var offset: Int

  /// What was wrong, in words.
  public var reason: String

  /// Notes a fault at `offset`.
  public init(offset: Int, reason: String) {
    self.offset = offset
    self.reason = reason
  }

  /// The reason and the place.
  public var description: String { "\(reason) at byte \(offset)" }
}

/// Reads what `ByteWriter` wrote, from untrusted bytes.
///
/// Every length is checked against what is left before anything is allocated; no input traps.
public struct ByteReader: Sendable {
  private let bytes: ArraySlice<UInt8>
  private var position: Int

  /// Reads `bytes` from the start.
  public init(_ bytes: [UInt8]) { self.init(bytes[...]) }

  /// Reads a part of an array without copying it.
  public init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    self.position = bytes.startIndex
  }

  /// How many bytes have been read.
  public var offset: Int { position - bytes.startIndex }

  /// How many bytes are left.
  public var remaining: Int { bytes.endIndex - position }

  /// Whether everything was read.
  public var isAtEnd: Bool { position == bytes.endIndex }

  /// The error for a fault found here.
  public func fault(_ reason: String) -> ByteFormatError {
    ByteFormatError(offset: offset, reason: reason)
  }

  /// The next byte.
  public mutating func byte() throws(ByteFormatError) -> UInt8 {
    guard position < bytes.endIndex else { throw fault("the data ends early") }
    defer { position += 1 }
    return bytes[position]
  }

  /// The next byte as 0 or 1; anything else is an error.
  public mutating func bool() throws(ByteFormatError) -> Bool {
    switch try byte() {
    case 0: return false
    case 1: return true
    default: throw fault("a flag is neither 0 nor 1")
    }
  }

  /// The next `count` bytes.
  public mutating func raw(_ count: Int) throws(ByteFormatError) -> ArraySlice<UInt8> {
    guard count >= 0, count <= remaining else { throw fault("a length runs past the end") }
    defer { position += count }
    return bytes[position..<(position + count)]
  }

  /// Eight bytes, least significant first.
  public mutating func fixed64() throws(ByteFormatError) -> UInt64 {
    var value: UInt64 = 0
    for (index, byte) in try raw(8).enumerated() { value |= UInt64(byte) << UInt64(index * 8) }
    return value
  }

  /// Four bytes, least significant first.
  public mutating func fixed32() throws(ByteFormatError) -> UInt32 {
    var value: UInt32 = 0
    for (index, byte) in try raw(4).enumerated() { value |= UInt32(byte) << UInt32(index * 8) }
    return value
  }

  /// The bits of a floating-point number.
  public mutating func double() throws(ByteFormatError) -> Double {
    Double(bitPattern: try fixed64())
  }

  /// A number of variable length.
  public mutating func variable() throws(ByteFormatError) -> UInt64 { try variableNumber() }

  /// How many elements follow; each takes at least `unit` bytes, so a false count is found at once.
  public mutating func count(unit: Int = 1) throws(ByteFormatError) -> Int {
    let value = try variable()
    guard let count = Int(exactly: value), count <= remaining / max(1, unit) else {
      throw fault("a count is larger than the data")
    }
    return count
  }

  /// Text; invalid UTF-8 is an error.
  public mutating func string() throws(ByteFormatError) -> String {
    let length = try count()
    guard let text = String(validating: try raw(length), as: UTF8.self) else {
      throw fault("a text is not valid UTF-8")
    }
    return text
  }

  /// Text that may be absent.
  package mutating func optionalString() throws(ByteFormatError) -> String? {
    try optional { (reader) throws(ByteFormatError) in try reader.string() }
  }

  /// A case of an enumeration by its number; `unknown` is the error for any other number.
  package mutating func enumeration<Value: RawRepresentable<UInt8>>(
    _ unknown: String
  ) throws(ByteFormatError) -> Value {
    guard let value = Value(rawValue: try byte()) else { throw fault(unknown) }
    return value
  }

  /// A run of bytes with its length in front.
  public mutating func byteArray() throws(ByteFormatError) -> [UInt8] {
    Array(try raw(try count()))
  }

  /// A value that may be absent.
  public mutating func optional<Value>(
    _ body: (inout ByteReader) throws(ByteFormatError) -> Value
  ) throws(ByteFormatError) -> Value? {
    try bool() ? try body(&self) : nil
  }

  /// A list of values.
  public mutating func list<Element>(
    _ body: (inout ByteReader) throws(ByteFormatError) -> Element
  ) throws(ByteFormatError) -> [Element] {
    let total = try count()
    var elements: [Element] = []
    // What the data says of itself is not believed before it has been read.
    elements.reserveCapacity(min(total, 4096))
    for _ in 0..<total { elements.append(try body(&self)) }
    return elements
  }

  /// Ends the reading; bytes left over are an error.
  public func finish() throws(ByteFormatError) {
    guard isAtEnd else { throw fault("there are bytes left over") }
  }
}

/// Untrusted bytes that are read from the start.
package protocol ByteSource {
  /// The next byte.
  mutating func byte() throws(ByteFormatError) -> UInt8
  /// The error for a fault found here.
  func fault(_ reason: String) -> ByteFormatError
}

extension ByteReader: ByteSource {}

extension ByteSource {
  /// The next bytes as a number of variable length.
  @inlinable
  package mutating func variableNumber() throws(ByteFormatError) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while true {
      let next = try byte()
      if shift == 63, next > 1 { throw fault("a number is too large") }
      value |= UInt64(next & 0x7f) << shift
      if next < 0x80 {
        // Every number has one form, so that nothing is read that would be written differently.
        if next == 0, shift > 0 { throw fault("a number is longer than it needs to be") }
        return value
      }
      shift += 7
      if shift > 63 { throw fault("a number is too long") }
    }
  }
}
