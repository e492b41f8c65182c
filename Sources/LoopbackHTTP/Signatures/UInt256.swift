/// An unsigned integer of 256 bits: four words, the least significant first.
struct UInt256: Hashable, Sendable {
  private(set) var words: SIMD4<UInt64>

  static let zero = UInt256(words: .zero)
  static let one = UInt256(words: SIMD4(1, 0, 0, 0))

  init(words: SIMD4<UInt64>) { self.words = words }

  /// The number with these words, the most significant first.
  init(_ first: UInt64, _ second: UInt64, _ third: UInt64, _ fourth: UInt64) {
    words = SIMD4(fourth, third, second, first)
  }

  /// Reads 32 bytes, the most significant first; `nil` for another number of bytes.
  init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 32 else { return nil }
    words = .zero
    for (index, byte) in bytes.enumerated() {
      words[3 - index / 8] |= UInt64(byte) << UInt64(8 * (7 - index % 8))
    }
  }

  /// Whether the bit with this number is set; 0 is the least significant.
  func hasBit(_ number: Int) -> Bool { words[number / 64] >> UInt64(number % 64) & 1 == 1 }

  /// The sum, and whether it was too large.
  func adding(_ other: UInt256, carry: Bool = false) -> (sum: UInt256, isTooLarge: Bool) {
    var (sum, carry) = (UInt256.zero, carry)
    for index in 0..<4 {
      let (part, first) = words[index].addingReportingOverflow(other.words[index])
      let (whole, second) = part.addingReportingOverflow(carry ? 1 : 0)
      sum.words[index] = whole
      carry = first || second
    }
    return (sum, carry)
  }

  /// The difference, and whether it was negative.
  func subtracting(_ other: UInt256) -> (difference: UInt256, isNegative: Bool) {
    // A number less another is that number, the complement of the other, and one.
    let (difference, isTooLarge) = adding(UInt256(words: ~other.words), carry: true)
    return (difference, !isTooLarge)
  }

  static func < (first: UInt256, second: UInt256) -> Bool { first.subtracting(second).isNegative }
}

/// The integers modulo an odd prime, in Montgomery's form: a number is stored times 2^256.
///
/// Source: P. Montgomery, Modular multiplication without trial division, 1985; the order of the
/// steps is that of "coarsely integrated operand scanning".
struct PrimeField: Sendable {
  let modulus: UInt256
  /// The negative inverse of the modulus, modulo 2^64.
  private let inverse: UInt64
  /// 2^256 and 2^512, modulo the modulus.
  let (one, square): (UInt256, UInt256)

  /// Creates the field of a prime above 2^255.
  init(_ modulus: UInt256) {
    self.modulus = modulus
    var inverse: UInt64 = 1
    // Each step doubles the number of right bits.
    for _ in 0..<6 { inverse &*= 2 &- modulus.words[0] &* inverse }
    self.inverse = 0 &- inverse
    var power = UInt256.one
    var one = power
    for exponent in 1...512 {
      power = Self.sum(power, power, modulus)
      if exponent == 256 { one = power }
    }
    self.one = one
    square = power
  }

  private static func sum(_ first: UInt256, _ second: UInt256, _ modulus: UInt256) -> UInt256 {
    let (sum, isTooLarge) = first.adding(second)
    let (reduced, isNegative) = sum.subtracting(modulus)
    return isTooLarge || !isNegative ? reduced : sum
  }

  func add(_ first: UInt256, _ second: UInt256) -> UInt256 { Self.sum(first, second, modulus) }

  func subtract(_ first: UInt256, _ second: UInt256) -> UInt256 {
    let (difference, isNegative) = first.subtracting(second)
    return isNegative ? difference.adding(modulus).sum : difference
  }

  func multiply(_ first: UInt256, _ second: UInt256) -> UInt256 {
    var result = SIMD8<UInt64>.zero
    for index in 0..<4 {
      result = Self.accumulate(result, first.words[index], second.words)
      let factor = result[0] &* inverse
      result = Self.accumulate(result, factor, modulus.words)
      // The lowest word is zero now.
      for word in 0..<5 { result[word] = result[word + 1] }
      result[5] = 0
    }
    let product = UInt256(words: SIMD4(result[0], result[1], result[2], result[3]))
    let (reduced, isNegative) = product.subtracting(modulus)
    return result[4] != 0 || !isNegative ? reduced : product
  }

  /// Adds a word times four words.
  private static func accumulate(
    _ sum: SIMD8<UInt64>, _ factor: UInt64, _ words: SIMD4<UInt64>
  ) -> SIMD8<UInt64> {
    var sum = sum
    var carry: UInt64 = 0
    for index in 0..<4 {
      let (high, low) = factor.multipliedFullWidth(by: words[index])
      let (part, first) = low.addingReportingOverflow(sum[index])
      let (whole, second) = part.addingReportingOverflow(carry)
      sum[index] = whole
      // The high word of a product is below the maximum, so both carries fit.
      carry = high &+ (first ? 1 : 0) &+ (second ? 1 : 0)
    }
    for index in 4..<6 {
      let (whole, isTooLarge) = sum[index].addingReportingOverflow(carry)
      sum[index] = whole
      carry = isTooLarge ? 1 : 0
    }
    return sum
  }

  /// A number in Montgomery's form.
  func form(_ number: UInt256) -> UInt256 { multiply(number, square) }

  /// The number of a form.
  func number(_ form: UInt256) -> UInt256 { multiply(form, .one) }

  /// The inverse of a form that is not zero, by Fermat's little theorem.
  func invert(_ form: UInt256) -> UInt256 {
    let exponent = modulus.subtracting(UInt256(0, 0, 0, 2)).difference
    var result = one
    for bit in (0..<256).reversed() {
      result = multiply(result, result)
      if exponent.hasBit(bit) { result = multiply(result, form) }
    }
    return result
  }
}
