import Records

/// A hash of everything that happens in a world: two runs of one seed must agree.
package struct TraceHash {
  /// The current hash.
  package private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

  /// Creates an empty hash.
  package init() {}

  /// Adds a number.
  package mutating func mix(_ number: UInt64) {
    value = (value ^ number) &* 0x9e37_79b9_7f4a_7c15
    value ^= value >> 29
  }

  /// Adds a number.
  package mutating func mix(_ number: Int) { mix(UInt64(bitPattern: Int64(number))) }

  /// Adds a text.
  package mutating func mix(_ text: String) {
    var sum: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in text.utf8 { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01b3 }
    mix(sum)
  }

  /// Adds bytes.
  package mutating func mix(_ bytes: [UInt8]) {
    var sum: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01b3 }
    mix(sum)
  }
}
