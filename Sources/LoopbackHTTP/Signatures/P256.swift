/// The curve P-256, for the verification of signatures.
///
/// Verification uses public data only, so its time may depend on it. Source: FIPS 186-5, and SEC 1
/// version 2.0, section 4.1.4.
enum P256 {
  /// The field of the coordinates.
  static let field = PrimeField(
    UInt256(0xFFFF_FFFF_0000_0001, 0, 0x0000_0000_FFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF))
  /// The field of the multiples: the order of the group.
  static let scalars = PrimeField(
    UInt256(
      0xFFFF_FFFF_0000_0000, 0xFFFF_FFFF_FFFF_FFFF, 0xBCE6_FAAD_A717_9E84, 0xF3B9_CAC2_FC63_2551))
  private static let coefficient = field.form(
    UInt256(
      0x5AC6_35D8_AA3A_93E7, 0xB3EB_BD55_7698_86BC, 0x651D_06B0_CC53_B0F6, 0x3BCE_3C3E_27D2_604B))
  private static let base = Point(x: field.form(baseX), y: field.form(baseY))
  private static let baseX = UInt256(
    0x6B17_D1F2_E12C_4247, 0xF8BC_E6E5_63A4_40F2, 0x7703_7D81_2DEB_33A0, 0xF4A1_3945_D898_C296)
  private static let baseY = UInt256(
    0x4FE3_42E2_FE1A_7F9B, 0x8EE7_EB4A_7C0F_9E16, 0x2BCE_3357_6B31_5ECE, 0xCBB6_4068_37BF_51F5)

  /// A point of the curve in Jacobian coordinates, in Montgomery's form; `z` is zero at infinity.
  struct Point: Hashable, Sendable {
    var x, y, z: UInt256

    init(x: UInt256, y: UInt256, z: UInt256 = P256.field.one) {
      (self.x, self.y, self.z) = (x, y, z)
    }

    static let infinity = Point(x: P256.field.one, y: P256.field.one, z: .zero)

    /// The point with affine coordinates; `nil` if it is not on the curve.
    init?(affine x: UInt256, _ y: UInt256) {
      let field = P256.field
      guard x < field.modulus, y < field.modulus else { return nil }
      self.init(x: field.form(x), y: field.form(y))
      let cube = field.multiply(field.multiply(self.x, self.x), self.x)
      let triple = field.add(self.x, field.add(self.x, self.x))
      let right = field.add(field.subtract(cube, triple), P256.coefficient)
      guard field.multiply(self.y, self.y) == right else { return nil }
    }

    /// The affine abscissa; `nil` at infinity.
    var abscissa: UInt256? {
      guard z != .zero else { return nil }
      let field = P256.field
      let inverse = field.invert(z)
      return field.number(field.multiply(x, field.multiply(inverse, inverse)))
    }

    var doubled: Point {
      let field = P256.field
      guard z != .zero else { return self }
      let delta = field.multiply(z, z)
      let gamma = field.multiply(y, y)
      let beta = field.multiply(x, gamma)
      let difference = field.multiply(field.subtract(x, delta), field.add(x, delta))
      let alpha = field.add(difference, field.add(difference, difference))
      let fourBeta = field.add(field.add(beta, beta), field.add(beta, beta))
      var result = self
      result.x = field.subtract(field.multiply(alpha, alpha), field.add(fourBeta, fourBeta))
      let sum = field.add(y, z)
      result.z = field.subtract(field.subtract(field.multiply(sum, sum), gamma), delta)
      var square = field.multiply(gamma, gamma)
      for _ in 0..<3 { square = field.add(square, square) }
      result.y = field.subtract(
        field.multiply(alpha, field.subtract(fourBeta, result.x)), square)
      return result
    }

    static func + (first: Point, second: Point) -> Point {
      let field = P256.field
      if first.z == .zero { return second }
      if second.z == .zero { return first }
      let firstSquare = field.multiply(first.z, first.z)
      let secondSquare = field.multiply(second.z, second.z)
      let firstX = field.multiply(first.x, secondSquare)
      let secondX = field.multiply(second.x, firstSquare)
      let firstY = field.multiply(first.y, field.multiply(secondSquare, second.z))
      let secondY = field.multiply(second.y, field.multiply(firstSquare, first.z))
      guard firstX != secondX else { return firstY == secondY ? first.doubled : .infinity }
      let width = field.subtract(secondX, firstX)
      let height = field.subtract(secondY, firstY)
      let square = field.multiply(width, width)
      let cube = field.multiply(square, width)
      let base = field.multiply(firstX, square)
      let x = field.subtract(
        field.subtract(field.multiply(height, height), cube), field.add(base, base))
      let y = field.subtract(
        field.multiply(height, field.subtract(base, x)), field.multiply(firstY, cube))
      return Point(x: x, y: y, z: field.multiply(field.multiply(first.z, second.z), width))
    }
  }

  /// Whether `(r, s)` is a signature of a SHA-256 digest by the owner of a public key.
  static func isValid(r: UInt256, s: UInt256, of digest: [UInt8], by key: Point) -> Bool {
    let order = scalars.modulus
    guard r != .zero, s != .zero, r < order, s < order, let number = UInt256(bytes: digest) else {
      return false
    }
    let inverse = scalars.invert(scalars.form(s))
    let message = number < order ? number : number.subtracting(order).difference
    // A number times a form is a number.
    let (first, second) = (scalars.multiply(message, inverse), scalars.multiply(r, inverse))
    let sum = base + key
    var point = Point.infinity
    for bit in (0..<256).reversed() {
      point = point.doubled
      switch (first.hasBit(bit), second.hasBit(bit)) {
      case (true, true): point = point + sum
      case (true, false): point = point + base
      case (false, true): point = point + key
      case (false, false): break
      }
    }
    guard let x = point.abscissa else { return false }
    return (x < order ? x : x.subtracting(order).difference) == r
  }
}
