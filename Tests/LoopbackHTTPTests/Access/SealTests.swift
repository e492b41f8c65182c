import Records
import Testing

@testable import LoopbackHTTP

/// The seal on tokens and tickets by itself.
@Suite("The seal on tokens and tickets")
struct SealTests {
  /// Proves TH-8.
  @Test("256 bits: every changed bit, another key, kind or length is noticed")
  func seal() throws {
    let key = [UInt8](repeating: 7, count: 32)
    let text = Seal(key: key).close(.webToken) { $0.write(9 as UInt8) }
    func open(_ text: String, _ key: [UInt8], _ kind: Seal.Kind = .webToken) -> UInt8? {
      Seal(key: key).open(text, kind) { reader throws(ByteFormatError) in try reader.byte() }
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
    #expect(Seal(key: key).digits(for: "api").utf8.count == 64)
  }

  /// Proves TH-8.
  @Test("Two texts are compared whole, wherever they differ")
  func comparison() {
    let bytes = [UInt8](0..<32)
    #expect(Seal.isSame(bytes, bytes) && Seal.isSame([], []))
    for index in bytes.indices {
      var other = bytes
      other[index] ^= 0x80
      #expect(!Seal.isSame(bytes, other) && !Seal.isSame(other, bytes))
    }
    #expect(!Seal.isSame(bytes, bytes.dropLast()) && !Seal.isSame(bytes, bytes + [0]))
  }
}
