import Foundation

/// A coder over values that an input made up: what the face's own decoding is given when whoever
/// wrote an archive was not to be trusted.
///
/// It stands in for `NSKeyedUnarchiver`, whose reading of property lists is Foundation's affair.
final class FuzzCoder: NSCoder {
  /// The value of a key.
  enum Value {
    case bytes([UInt8])
    case number(Int64)
    case real(Double)
    case text(String)
    case object([String: Value], AnyClass)
    case list([Value])
  }

  private(set) var values: [String: Value]
  private let depth: Int

  init(_ values: [String: Value] = [:], depth: Int = 0) {
    self.values = values
    self.depth = depth
  }

  override var allowsKeyedCoding: Bool { true }

  override func containsValue(forKey key: String) -> Bool { values[key] != nil }

  override func encodeBytes(_ bytes: UnsafePointer<UInt8>?, length: Int, forKey key: String) {
    values[key] = .bytes(Array(UnsafeBufferPointer(start: bytes, count: length)))
  }

  override func encode(_ value: Int64, forKey key: String) { values[key] = .number(value) }

  override func encode(_ value: Bool, forKey key: String) { values[key] = .number(value ? 1 : 0) }

  override func decodeInt64(forKey key: String) -> Int64 {
    if case .number(let value)? = values[key] { value } else { 0 }
  }

  override func decodeBool(forKey key: String) -> Bool { decodeInt64(forKey: key) != 0 }

  override func decodeDouble(forKey key: String) -> Double {
    if case .real(let value)? = values[key] { value } else { 0 }
  }

  override func withDecodedUnsafeBytes<Result>(
    forKey key: String, body: (UnsafeRawBufferPointer?) throws -> Result
  ) rethrows -> Result {
    guard case .bytes(let bytes)? = values[key] else { return try body(nil) }
    return try bytes.withUnsafeBytes { try body($0) }
  }

  override func decodeObject(of classes: [AnyClass]?, forKey key: String) -> Any? {
    values[key].flatMap { object($0) }
  }

  private func object(_ value: Value) -> Any? {
    switch value {
    case .bytes(let bytes): return NSData(data: Data(bytes))
    case .number(let number): return NSNumber(value: number)
    case .real(let number): return NSDate(timeIntervalSinceReferenceDate: number)
    case .text(let text): return NSString(string: text)
    case .list(let values): return NSArray(array: values.compactMap { object($0) })
    case .object(let values, let type):
      guard depth < 8, let type = type as? any NSCoding.Type else { return nil }
      return type.init(coder: FuzzCoder(values, depth: depth + 1))
    }
  }
}
