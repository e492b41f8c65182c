import Foundation
import Records
import Testing
import VerificationSupport

@testable import LoopbackHTTP

/// The verification of signatures, against published vectors and an independent implementation.
@Suite("Signatures of P-256")
struct SignatureTests {
  /// A number of 64 hexadecimal digits.
  static func number(_ hex: String) -> UInt256 {
    var bytes: [UInt8] = []
    var rest = hex[...]
    while !rest.isEmpty {
      bytes.append(UInt8(rest.prefix(2), radix: 16) ?? 0)
      rest = rest.dropFirst(2)
    }
    return UInt256(bytes: bytes) ?? .zero
  }

  private static func isValid(
    _ message: String, _ x: String, _ y: String, _ r: UInt256, _ s: UInt256
  ) -> Bool {
    guard let key = P256.Point(affine: number(x), number(y)) else { return false }
    var hash = SHA256()
    hash.update(message.utf8)
    return P256.isValid(r: r, s: s, of: hash.digest(), by: key)
  }

  /// Message, both coordinates of the key, r and s.
  ///
  /// The first two are of RFC 6979, A.2.5; the
  /// others are of keys and nonces at the ends of their range, where sums of points are doublings
  /// and multiples are short.
  static let vectors = [
    (
      "sample", "60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6",
      "7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299",
      "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716",
      "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8"
    ),
    (
      "test", "60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6",
      "7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299",
      "F1ABB023518351CD71D881567B1EA663ED3EFCF6C5132B354F28D3B0B7D38367",
      "019F4113742A2B14BD25926B49C649155F267E60D3814B4C0CC84250E46F0083"
    ),
    (
      "a", "6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296",
      "4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5",
      "7CF27B188D034F7E8A52380304B51AC3C08969E277F21B35A60B48FC47669978",
      "23C4FE162B8F86A4428A34DB4F6C7B88D594AF9672AB6591B5E8FADF7D78DE71"
    ),
    (
      "b", "6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296",
      "B01CBD1C01E58065711814B583F061E9D431CCA994CEA1313449BF97C840AE0A",
      "5ECBE4D1A6330A44C8F7EF951D4BF165E6C6B721EFADA985FB41661BC6E7FD6C",
      "9FC801161E021A57CE3075456D31EA9A0A4192BDF7C73FEF928CB4B3027E19F1"
    ),
    (
      "c", "7CF27B188D034F7E8A52380304B51AC3C08969E277F21B35A60B48FC47669978",
      "07775510DB8ED040293D9AC69F7430DBBA7DADE63CE982299E04B79D227873D1",
      "6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296",
      "FB5330149457008FA8993C80034EF875583358565534C23364BEBD58A539D5B0"
    ),
    (
      "d", "7CF27B188D034F7E8A52380304B51AC3C08969E277F21B35A60B48FC47669978",
      "F888AAEE24712FC0D6C26539608BCF244582521AC3167DD661FB4862DD878C2E",
      "51590B7A515140D2D784C85608668FDFEF8C82FD1F5BE52421554A0DC3D033ED",
      "B13207E55375EA94AC417F94C814CE101945C1BD26FB9D976975A79852F9D476"
    ),
    (
      "f", "5ECBE4D1A6330A44C8F7EF951D4BF165E6C6B721EFADA985FB41661BC6E7FD6C",
      "8734640C4998FF7E374B06CE1A64A2ECD82AB036384FB83D9A79B127A27D5032",
      "6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296",
      "667686A1D995B2A1043C50BBD96F18C34B1CD9BAB481B9587401059910411382"
    ),
  ]

  @Test("Published signatures are valid, and none with another message, number or key is")
  func publishedSignaturesAreValid() {
    let order = P256.scalars.modulus
    for (message, x, y, r, s) in Self.vectors {
      let (r, s) = (Self.number(r), Self.number(s))
      #expect(Self.isValid(message, x, y, r, s), "\(message)")
      // The other signature of the same message.
      #expect(Self.isValid(message, x, y, r, order.subtracting(s).difference), "\(message)")
      #expect(!Self.isValid(message + " ", x, y, r, s), "\(message)")
      for (wrongR, wrongS) in [
        (r.adding(.one).sum, s), (r, s.adding(.one).sum), (s, r), (.zero, s), (r, .zero),
        (order, s), (r, order), (.zero, .zero), (.one, .one),
        (r.adding(order).sum, s), (r, s.adding(order).sum),
      ] {
        #expect(!Self.isValid(message, x, y, wrongR, wrongS), "\(message) \(wrongR) \(wrongS)")
      }
      let other = order.subtracting(Self.number(y)).difference
      #expect(P256.Point(affine: Self.number(x), other) == nil, "not on the curve")
    }
  }

  @Test("A point that is not on the curve, or has another encoding, is no key")
  func onlyPointsOfTheCurveAreKeys() {
    func bytes(_ hex: String) -> [UInt8] {
      stride(from: 0, to: hex.utf8.count, by: 2).compactMap { start in
        UInt8(hex.dropFirst(start).prefix(2), radix: 16)
      }
    }
    let (_, x, y, _, _) = Self.vectors[0]
    let point = [4] + bytes(x) + bytes(y)
    #expect(PublicKey(bytes: point) != nil)
    let prime = "FFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF"
    let wrong: [[UInt8]] = [
      [], [0], [4], Array(point.dropLast()), point + [0], [2] + point.dropFirst(),
      [2] + bytes(x), [4] + bytes(y) + bytes(x), [4] + [UInt8](repeating: 0, count: 64),
      [4] + bytes(prime) + bytes(y), [4] + [UInt8](repeating: 0xFF, count: 64),
    ]
    for bytes in wrong { #expect(PublicKey(bytes: bytes) == nil, "\(bytes)") }
    // The base point's abscissa plus the prime is the same number in the field.
    #expect(
      P256.Point(affine: Self.number(x).adding(P256.field.modulus).sum, Self.number(y)) == nil)
  }

  @Test("Only the shortest DER form of two positive numbers is a signature")
  func onlyShortestFormIsSignature() {
    let good: [UInt8] = [0x30, 6, 2, 1, 5, 2, 1, 7]
    #expect(Signature(der: good)?.r == UInt256(0, 0, 0, 5))
    #expect(Signature(der: [0x30, 7, 2, 2, 0, 0x80, 2, 1, 7])?.r == UInt256(0, 0, 0, 0x80))
    let long = [UInt8](repeating: 0xFF, count: 32)
    #expect(Signature(der: [0x30, 0x46, 2, 0x21, 0] + long + [2, 0x21, 0] + long) != nil)
    let wrong: [[UInt8]] = [
      [], [0x30], [0x30, 0], good + [0], Array(good.dropLast()), [0x31] + good.dropFirst(),
      [0x30, 0x81, 6, 2, 1, 5, 2, 1, 7], [0x30, 0x80, 2, 1, 5, 2, 1, 7, 0, 0],
      [0x30, 7, 2, 2, 0, 5, 2, 1, 7], [0x30, 6, 2, 1, 0x85, 2, 1, 7], [0x30, 5, 2, 0, 2, 1, 7],
      [0x30, 6, 3, 1, 5, 2, 1, 7], [0x30, 3, 2, 1, 5], [0x30, 9, 2, 1, 5, 2, 1, 7, 2, 1, 9],
      [0x30, 6, 2, 5, 5, 2, 1, 7], [0x30, 0x26, 2, 0x21, 1] + long + [2, 1, 7],
      [0x30, 0x27, 2, 0x22, 0, 1] + long + [2, 1, 7], [0x30, 6, 2, 0x81, 1, 5, 2, 1],
    ]
    for bytes in wrong { #expect(Signature(der: bytes) == nil, "\(bytes)") }
  }

  @Test("Arithmetic modulo the primes follows its laws at the ends and in between")
  func arithmeticFollowsItsLaws() {
    var generator = SeededGenerator(seed: 1)
    for field in [P256.field, P256.scalars] {
      let last = field.modulus.subtracting(.one).difference
      var numbers = [UInt256.zero, .one, last]
      numbers += (0..<20).map { _ in
        UInt256(words: SIMD4((0..<4).map { _ in generator.next() }))
      }.filter { $0 < field.modulus }
      for first in numbers {
        let form = field.form(first)
        #expect(field.number(form) == first)
        #expect(field.subtract(first, first) == .zero)
        #expect(field.add(first, field.subtract(.zero, first)) == .zero)
        if first != .zero { #expect(field.multiply(form, field.invert(form)) == field.one) }
        for second in numbers {
          let other = field.form(second)
          #expect(field.multiply(form, other) == field.multiply(other, form))
          #expect(field.subtract(field.add(first, second), second) == first)
          let sum = field.form(field.add(first, second))
          #expect(
            field.multiply(sum, other)
              == field.add(field.multiply(form, other), field.multiply(other, other)))
        }
      }
      #expect(field.multiply(field.form(last), field.form(last)) == field.one)
    }
  }
}
