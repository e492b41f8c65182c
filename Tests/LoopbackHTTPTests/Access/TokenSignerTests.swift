import Records
import Testing

@testable import LoopbackHTTP

/// The signatures of tokens and URL paths.
@Suite("Signatures of tokens and paths")
struct TokenSignerTests {
  /// Proves TH-8.
  @Test("A signature of 256 bits is invalid after any changed bit, key, kind or length")
  func aChangedBitKeyOrKindInvalidatesASignature() throws {
    let key = [UInt8](repeating: 7, count: 32)
    let text = TokenSigner(key: key).sign(.webToken) { $0.write(9 as UInt8) }
    func open(_ text: String, _ key: [UInt8], _ kind: TokenSigner.Kind = .webToken) -> UInt8? {
      TokenSigner(key: key).verify(text, kind) { reader throws(ByteFormatError) in try reader.byte()
      }
    }
    #expect(open(text, key) == 9)
    #expect(open(text, [UInt8](repeating: 8, count: 32)) == nil)
    #expect(open(text, key, .courier) == nil)
    #expect(open(text + "A", key) == nil && open(String(text.dropLast()), key) == nil)
    // Base64 of the kind, the content and 32 bytes of the code.
    #expect(text.utf8.count == 46, "\(text.utf8.count)")
    for index in text.utf8.indices.enumerated().map(\.offset) {
      var bytes = Array(text.utf8)
      bytes[index] = bytes[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      #expect(open(String(decoding: bytes, as: UTF8.self), key) == nil, "\(index)")
    }
    #expect(TokenSigner(key: key).digest(for: "api").utf8.count == 64)
  }

  /// Proves TH-8.
  @Test("A comparison covers the whole text, wherever two texts differ")
  func comparisonCoversTheWholeText() {
    let bytes = [UInt8](0..<32)
    #expect(TokenSigner.isSame(bytes, bytes) && TokenSigner.isSame([], []))
    for index in bytes.indices {
      var other = bytes
      other[index] ^= 0x80
      #expect(!TokenSigner.isSame(bytes, other) && !TokenSigner.isSame(other, bytes))
    }
    #expect(!TokenSigner.isSame(bytes, bytes.dropLast()) && !TokenSigner.isSame(bytes, bytes + [0]))
  }
}
