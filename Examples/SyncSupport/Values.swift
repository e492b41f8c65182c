public import Foundation

extension UUID {
  /// Whether this ID comes before `other`, in the order of their texts.
  ///
  /// Compares the bytes: the same order as that of the texts, which would cost two strings for
  /// every comparison.
  public func precedes(_ other: UUID) -> Bool {
    withUnsafeBytes(of: uuid) { first in
      withUnsafeBytes(of: other.uuid) { second in first.lexicographicallyPrecedes(second) }
    }
  }
}

extension String {
  /// Whether both texts are the same bytes; `==` also takes texts for equal that only read so.
  public func hasSameBytes(as other: String) -> Bool {
    let (first, second) = (self.utf8, other.utf8)
    guard first.count == second.count else { return false }
    let isSame = first.withContiguousStorageIfAvailable { first in
      second.withContiguousStorageIfAvailable { second in
        guard let start = first.baseAddress, let other = second.baseAddress else { return true }
        return memcmp(start, other, first.count) == 0
      }
    }
    return (isSame ?? nil) ?? first.elementsEqual(second)
  }
}

extension Encodable {
  /// The value as JSON with sorted keys, so that equal values have the same bytes.
  public var canonicalJSON: Data {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return try encoder.encode(self)
    }
  }

  /// ``canonicalJSON`` as text; empty for a value that JSON can't express.
  public var canonicalText: String {
    String(decoding: (try? canonicalJSON) ?? Data(), as: UTF8.self)
  }
}

extension Array {
  /// The elements in groups of `size`, the last of which may be smaller.
  public func chunks(of size: Int) -> [ArraySlice<Element>] {
    stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
  }
}
