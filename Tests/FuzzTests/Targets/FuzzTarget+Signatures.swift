import Foundation

@testable import LoopbackHTTP

extension FuzzTarget {
  /// The public keys and signatures of programs on other servers.
  static let signatures = FuzzTarget(name: "signatures") { input, planted in
    var input = input
    switch input.choice(4) {
    case 0:
      guard let signature = Signature(der: input.rest) else { return }
      try check(der(signature) == input.rest, "a signature with two forms")
    case 1:
      guard let key = PublicKey(bytes: input.rest) else { return }
      try check(key.bytes == input.rest, "a key with two forms")
    case 2:
      guard let key = PublicKey(pem: input.text) else { return }
      // What stands behind the key is not read.
      try plant(planted, Array(input.text.utf8.reversed().prefix { $0 != UInt8(ascii: "-") }))
      try check(PublicKey(bytes: key.bytes) == key, "a key that is not one of the curve")
    default:
      // Two numbers of the input as a signature that the head of a key begins.
      let bytes = input.rest + [UInt8](repeating: 0, count: 64)
      guard let r = UInt256(bytes: bytes.prefix(32)), let s = UInt256(bytes: bytes[32..<64]) else {
        return
      }
      let signature = Signature(der: der(r, s))
      try check(signature?.r == r && signature?.s == s, "a signature that can't be read again")
    }
  }

  private static func der(_ signature: Signature) -> [UInt8] { der(signature.r, signature.s) }

  private static func der(_ r: UInt256, _ s: UInt256) -> [UInt8] {
    let content = [r, s].flatMap { number -> [UInt8] in
      var digits: [UInt8] = []
      for place in 0..<32 {
        let shift = UInt64(56 - place % 8 * 8)
        digits.append(UInt8(truncatingIfNeeded: number.words[3 - place / 8] >> shift))
      }
      while digits.count > 1, digits[0] == 0, digits[1] < 0x80 { digits.removeFirst() }
      if digits[0] >= 0x80 { digits.insert(0, at: 0) }
      return [2, UInt8(digits.count)] + digits
    }
    return [0x30, UInt8(content.count)] + content
  }
}
