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

  @Test("Digests are those of HMAC with SHA-256, for keys of every length")
  func digestsAreThoseOfHMAC() {
    let digests = [
      (0, "54fae1ac1e590c21bf3ca7e0c06bfcf0996fb38a9f14c607026e0e44406488c8"),
      (20, "dbcda1f69bcf85746d53f598cbd4a894b21c9038678a60ef3eb3ae54fc5ac484"),
      (63, "0ddbee957444c8bec6dd2aee8caf36b126e31911a12f3002c8f00fff3ba7e40c"),
      (64, "b949b4c7d443a6e04963db7d40bfd17e899a5b6a1d230417d6c926f734d2e0f0"),
      (65, "29a2954fba46a99471904b38a716cc62bbf61206c5041bcb8e874ea308863641"),
      (131, "b8c08c5b76efb51f775df473f47c74bef8d98d09e48297c62d5a546f49f1eb02"),
    ]
    for (length, digest) in digests {
      let signer = TokenSigner(key: [UInt8](repeating: 7, count: length))
      #expect(signer.digest(for: "api") == digest, "\(length)")
    }
  }

  @Test("A token has at most 4,096 characters, and each ends where it was written to")
  func tokensAreBounded() {
    let signer = TokenSigner(key: [1, 2, 3])
    for (count, isRead) in [(0, true), (100, true), (3_039, true), (3_040, false)] {
      let content = [UInt8](repeating: 0xFB, count: count)
      let text = signer.sign(.upload) { $0.write(raw: content) }
      #expect((text.utf8.count <= 4_096) == isRead && !text.contains { "+/=".contains($0) })
      let found = signer.verify(text, .upload) { (reader) throws(ByteFormatError) in
        Array(try reader.raw(count))
      }
      #expect(found == (isRead ? content : nil), "\(count)")
      guard count > 0 else { continue }
      let short = signer.verify(text, .upload) { (reader) throws(ByteFormatError) in
        Array(try reader.raw(count - 1))
      }
      #expect(short == nil, "something is left")
    }
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
