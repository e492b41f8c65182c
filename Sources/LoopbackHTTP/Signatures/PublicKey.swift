import Foundation
import Records

/// A public key of P-256.
struct PublicKey: Hashable, Sendable {
  /// The uncompressed point: the byte 4 and both coordinates, 65 bytes.
  ///
  /// Source: SEC 1, section 2.3.3.
  let bytes: [UInt8]
  private let point: P256.Point

  /// Reads an uncompressed point; `nil` if it is not one of the curve.
  init?(bytes: [UInt8]) {
    guard bytes.count == 65, bytes[0] == 4, let x = UInt256(bytes: bytes[1...32]),
      let y = UInt256(bytes: bytes[33...]), let point = P256.Point(affine: x, y)
    else { return nil }
    self.bytes = bytes
    self.point = point
  }

  /// The beginning of the DER form: the algorithm, the curve, and the length of the point.
  ///
  /// Source: RFC 5480, section 2.
  private static let head: [UInt8] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A,
    0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
  ]

  /// Reads the PEM form; `nil` if it is not that of a public key of this curve.
  ///
  /// Source: RFC 7468, section 13.
  init?(pem: String) {
    let (start, end) = ("-----BEGIN PUBLIC KEY-----", "-----END PUBLIC KEY-----")
    guard let start = pem.range(of: start), let end = pem.range(of: end),
      start.upperBound <= end.lowerBound,
      let der = Data(
        base64Encoded: String(pem[start.upperBound..<end.lowerBound].filter { !$0.isWhitespace })),
      der.starts(with: Self.head)
    else { return nil }
    self.init(bytes: Array(der.dropFirst(Self.head.count)))
  }

  /// The key's ID: 64 hexadecimal digits.
  var id: String { SHA256.hexadecimal(of: bytes) }

  /// Whether a signature of a message by this key is valid.
  func isValid(_ signature: Signature, of message: [UInt8]) -> Bool {
    P256.isValid(
      r: signature.r, s: signature.s, of: SHA256.digest(of: message), by: point)
  }
}

/// A signature of ECDSA.
struct Signature: Hashable, Sendable {
  let (r, s): (UInt256, UInt256)

  /// Reads the DER form; `nil` for any other encoding of the same numbers.
  ///
  /// Source: RFC 3279, section 2.2.3, and X.690, sections 8.3 and 10.1.
  init?(der: [UInt8]) {
    guard der.count >= 2, der[0] == 0x30, Int(der[1]) == der.count - 2, der[1] < 0x80 else {
      return nil
    }
    var rest = der.dropFirst(2)
    guard let r = Self.integer(&rest), let s = Self.integer(&rest), rest.isEmpty else { return nil }
    (self.r, self.s) = (r, s)
  }

  /// Reads an integer that is not negative, in its shortest form.
  private static func integer(_ bytes: inout ArraySlice<UInt8>) -> UInt256? {
    guard bytes.popFirst() == 2, let count = bytes.popFirst(), (1...33).contains(count),
      bytes.count >= Int(count)
    else { return nil }
    var digits = bytes.prefix(Int(count))
    bytes = bytes.dropFirst(Int(count))
    guard let first = digits.first, first < 0x80 else { return nil }
    if first == 0, digits.count > 1 {
      guard digits[digits.startIndex + 1] >= 0x80 else { return nil }
      digits = digits.dropFirst()
    }
    guard digits.count <= 32 else { return nil }
    return UInt256(bytes: [UInt8](repeating: 0, count: 32 - digits.count) + digits)
  }
}
