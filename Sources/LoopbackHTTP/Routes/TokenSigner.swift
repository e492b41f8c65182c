import Foundation
import Records

/// Signs the tokens and URL paths that the server issues, and verifies them (HMAC-SHA256).
///
/// The server keeps no list of issued tokens: a valid signature proves that the token was issued
/// with the storage's secret, possibly by an earlier run of the server. The kind is part of the
/// signature, so that a signed path is never accepted as a token.
struct TokenSigner: Sendable {
  /// The purpose of a signed text.
  enum Kind: UInt8, Sendable {
    case webToken = 1
    case upload = 2
    case download = 3
    case courier = 4
    case signIn = 5
  }

  /// The inner and outer hash states of HMAC after the key was absorbed.
  private let (inner, outer): (SHA256, SHA256)

  init(key: [UInt8]) {
    var block = key
    if block.count > 64 { block = SHA256.digest(of: block) }
    block += repeatElement(0, count: 64 - block.count)
    var (inner, outer) = (SHA256(), SHA256())
    inner.update(block.map { $0 ^ 0x36 })
    outer.update(block.map { $0 ^ 0x5c })
    (self.inner, self.outer) = (inner, outer)
  }

  /// Signs the bytes that `write` produces; the result is safe in the path of a URL.
  func sign(_ kind: Kind, _ write: (inout ByteWriter) -> Void) -> String {
    var writer = ByteWriter(capacity: 128)
    writer.write(kind.rawValue)
    write(&writer)
    return TokenSigner.text(writer.bytes + code(of: writer.bytes))
  }

  /// Verifies a text signed as this kind and reads its content; `nil` for every other text,
  /// including another encoding of the same bytes.
  func verify<Value>(
    _ text: some StringProtocol, _ kind: Kind,
    _ read: (inout ByteReader) throws(ByteFormatError) -> Value
  ) -> Value? {
    guard text.utf8.count <= 4096, let bytes = TokenSigner.bytes(text), bytes.count > 32,
      TokenSigner.text(bytes).utf8.elementsEqual(text.utf8)
    else { return nil }
    let content = bytes.dropLast(32)
    guard TokenSigner.isSame(Array(bytes.suffix(32)), code(of: Array(content))) else { return nil }
    var reader = ByteReader(content)
    guard let first = try? reader.byte(), first == kind.rawValue, let value = try? read(&reader),
      reader.isAtEnd
    else { return nil }
    return value
  }

  /// The keyed digest of `name`: 64 hexadecimal digits.
  func digest(for name: String) -> String {
    code(of: Array("name \(name)".utf8)).map { byte in
      let digits = String(byte, radix: 16)
      return byte < 16 ? "0" + digits : digits
    }.joined()
  }

  /// The message authentication code of the bytes.
  ///
  /// Source: RFC 2104, with SHA-256.
  private func code(of bytes: [UInt8]) -> [UInt8] {
    var (inner, outer) = (inner, outer)
    inner.update(bytes)
    outer.update(inner.digest())
    return outer.digest()
  }

  /// Compares two texts in constant time.
  static func isSame(_ first: some Collection<UInt8>, _ second: some Collection<UInt8>) -> Bool {
    guard first.count == second.count else { return false }
    return zip(first, second).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }

  /// Base64 with the URL-safe alphabet.
  private static func text(_ bytes: [UInt8]) -> String {
    var text = [UInt8](Data(bytes).base64EncodedData())
    while text.last == UInt8(ascii: "=") { text.removeLast() }
    for index in text.indices {
      if text[index] == UInt8(ascii: "+") { text[index] = UInt8(ascii: "-") }
      if text[index] == UInt8(ascii: "/") { text[index] = UInt8(ascii: "_") }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func bytes(_ text: some StringProtocol) -> [UInt8]? {
    var base64 = Array(text.utf8)
    for index in base64.indices {
      if base64[index] == UInt8(ascii: "-") { base64[index] = UInt8(ascii: "+") }
      if base64[index] == UInt8(ascii: "_") { base64[index] = UInt8(ascii: "/") }
    }
    while !base64.count.isMultiple(of: 4) { base64.append(UInt8(ascii: "=")) }
    return Data(base64Encoded: Data(base64)).map { [UInt8]($0) }
  }
}
