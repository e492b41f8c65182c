/// The address of a server on this machine, taken from a plain HTTP URL.
struct LoopbackAddress: Hashable, Sendable {
  /// The four bytes of an IPv4 address, or `nil` for `::1`.
  let host: [UInt8]?
  /// The TCP port to connect to.
  let port: UInt16
  /// The value of the `host` header field.
  let name: String

  /// Parses a URL; returns `nil` for another scheme, another machine, or characters that would have
  /// to be escaped.
  ///
  /// - Returns: The address, and the path with its query.
  static func parse(_ url: String) -> (address: LoopbackAddress, target: String)? {
    let scheme = "http://"
    guard url.utf8.count > scheme.utf8.count, url.lowercased().hasPrefix(scheme),
      url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") })
    else { return nil }
    let rest = url.dropFirst(scheme.count)
    let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    guard let address = LoopbackAddress(authority: rest[..<end]) else { return nil }
    let target = String(rest[end...])
    return (address, target.hasPrefix("/") ? target : "/" + target)
  }

  private init?(authority: Substring) {
    var host = authority
    var port: UInt16 = 80
    let isBracketed = authority.hasPrefix("[")
    let digits = isBracketed ? authority.lastIndex(of: "]") : authority.startIndex
    guard let digits else { return nil }
    if let colon = authority[digits...].lastIndex(of: ":") {
      host = authority[..<colon]
      let text = authority[authority.index(after: colon)...]
      guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(text)
      else { return nil }
      port = number
    }
    switch host.lowercased() {
    case "localhost": self.host = [127, 0, 0, 1]
    case "[::1]": self.host = nil
    default:
      let parts = host.split(separator: ".", omittingEmptySubsequences: false)
      let bytes = parts.compactMap { part in
        part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt8(part) : nil
      }
      guard parts.count == 4, bytes.count == 4, bytes[0] == 127,
        parts.allSatisfy({ $0.count == 1 || !$0.hasPrefix("0") })
      else { return nil }
      self.host = bytes
    }
    self.port = port
    name = String(authority)
  }
}
