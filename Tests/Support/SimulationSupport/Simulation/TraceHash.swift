import Records

/// A running number over everything that happens in a world: two runs of one seed must agree.
package struct TraceHash {
  /// The number as it stands.
  package private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

  /// Begins with nothing taken in.
  package init() {}

  /// Takes in a number.
  package mutating func mix(_ number: UInt64) {
    value = (value ^ number) &* 0x9e37_79b9_7f4a_7c15
    value ^= value >> 29
  }

  /// Takes in a number.
  package mutating func mix(_ number: Int) { mix(UInt64(bitPattern: Int64(number))) }

  /// Takes in a text.
  package mutating func mix(_ text: String) {
    var sum: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in text.utf8 { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01b3 }
    mix(sum)
  }

  /// Takes in bytes.
  package mutating func mix(_ bytes: [UInt8]) {
    var sum: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01b3 }
    mix(sum)
  }
}
