/// The host and port of a request, from its target or its `Host` field.
///
/// Source: RFC 3986, section 3.2, and RFC 9110, sections 4.2 and 7.2.
enum HTTPAuthority {
  /// Whether `text` is a non-empty host, with or without a port.
  static func isValid(_ text: some StringProtocol) -> Bool {
    guard let (host, port) = split(Array(text.utf8)) else { return false }
    guard port.allSatisfy({ (0x30...0x39).contains($0) }),
      port.isEmpty || UInt16(String(decoding: port, as: UTF8.self)) != nil
    else { return false }
    return host.first == 0x5B ? isLiteral(host.dropFirst().dropLast()) : isName(host)
  }

  /// Whether `text` is valid and has a port, as the target of `CONNECT` must.
  static func isValidWithPort(_ text: some StringProtocol) -> Bool {
    guard isValid(text), let (_, port) = split(Array(text.utf8)) else { return false }
    return !port.isEmpty
  }

  /// The host of `text`, with its brackets if any; `nil` if `text` is not valid.
  static func host(of text: String) -> String? {
    guard isValid(text), let (host, _) = split(Array(text.utf8)) else { return nil }
    return String(decoding: host, as: UTF8.self)
  }

  /// Whether `host` is an IPv4 address, or an IPv6 address in brackets.
  static func isAddress(_ host: String) -> Bool {
    if host.hasPrefix("["), host.hasSuffix("]") {
      return isAddress(Array(host.utf8)[...].dropFirst().dropLast())
    }
    return isFourNumbers(Substring(host))
  }

  /// Splits the host, with its brackets if any, from the digits after the colon.
  private static func split(_ bytes: [UInt8]) -> (ArraySlice<UInt8>, ArraySlice<UInt8>)? {
    guard bytes.first == 0x5B else {
      let colon = bytes.firstIndex(of: 0x3A) ?? bytes.endIndex
      return (bytes[..<colon], bytes[colon...].dropFirst())
    }
    guard let end = bytes.firstIndex(of: 0x5D) else { return nil }
    let rest = bytes[(end + 1)...]
    guard rest.isEmpty || rest.first == 0x3A else { return nil }
    return (bytes[...end], rest.dropFirst())
  }

  /// Whether `host` is a registered name or an IPv4 address: unreserved characters, sub-delimiters
  /// and percent escapes.
  private static func isName(_ host: ArraySlice<UInt8>) -> Bool {
    var escape = 0
    for byte in host {
      if escape > 0 {
        guard byte.hexadecimalValue != nil else { return false }
        escape -= 1
      } else if byte == 0x25 {
        escape = 2
      } else if !byte.isUnreserved, !byte.isSubDelimiter {
        return false
      }
    }
    return escape == 0 && !host.isEmpty
  }

  /// Whether the bytes in brackets are an IPv6 address, or an address of a later version of IP.
  private static func isLiteral(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard bytes.first == 0x76 || bytes.first == 0x56 else { return isAddress(bytes) }
    let parts = bytes.dropFirst().split(
      separator: 0x2E, maxSplits: 1, omittingEmptySubsequences: false)
    return parts.count == 2 && parts.allSatisfy { !$0.isEmpty }
      && parts[0].allSatisfy { $0.hexadecimalValue != nil }
      && parts[1].allSatisfy { $0.isUnreserved || $0.isSubDelimiter || $0 == 0x3A }
  }

  /// Whether the bytes are an IPv6 address: eight groups of up to four digits; one run of zeros may
  /// be omitted, and the last two groups may be an IPv4 address.
  private static func isAddress(_ bytes: ArraySlice<UInt8>) -> Bool {
    let text = String(decoding: bytes, as: UTF8.self)
    let halves = text.split(separator: "::", omittingEmptySubsequences: false)
    guard halves.count <= 2 else { return false }
    var count = 0
    for (index, half) in halves.enumerated() where !half.isEmpty {
      let groups = half.split(separator: ":", omittingEmptySubsequences: false)
      for (place, group) in groups.enumerated() {
        let isLast = index == halves.count - 1 && place == groups.count - 1
        if isLast, group.contains(".") {
          guard isFourNumbers(group) else { return false }
          count += 2
        } else {
          guard (1...4).contains(group.utf8.count),
            group.utf8.allSatisfy({ $0.hexadecimalValue != nil })
          else { return false }
          count += 1
        }
      }
    }
    return halves.count == 2 ? count < 8 : count == 8
  }

  private static func isFourNumbers(_ text: Substring) -> Bool {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4
      && parts.allSatisfy { part in
        part.utf8.allSatisfy { (0x30...0x39).contains($0) } && UInt8(part) != nil
          && (part.utf8.count == 1 || part.first != "0")
      }
  }
}

extension UInt8 {
  /// Whether the byte is an unreserved character of a URI.
  var isUnreserved: Bool {
    switch self {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
    default: false
    }
  }

  /// Whether the byte is a sub-delimiter of a URI.
  fileprivate var isSubDelimiter: Bool { "!$&'()*+,;=".utf8.contains(self) }
}
