/// The origin of a web page as browsers send it: in lower case, without the default port of the
/// scheme.
///
/// Source: RFC 6454, section 6.2.
package struct WebOrigin: Hashable, Sendable {
  /// The scheme, the host and the port.
  package let text: String

  /// The host and, unless it is the scheme's default, the port.
  package var authority: String {
    String(text.drop { $0 != "/" }.dropFirst(2))
  }

  /// The host, in brackets if it is an IPv6 address.
  var host: String? { HTTPAuthority.host(of: authority) }

  /// Parses an origin of `http` or `https`; `nil` for anything else, such as a URL with a path.
  package init?(_ text: some StringProtocol) {
    let lowercased = text.asciiLowercased
    guard let scheme = ["http", "https"].first(where: { lowercased.hasPrefix($0 + "://") }) else {
      return nil
    }
    let authority = lowercased.dropFirst(scheme.utf8.count + 3)
    guard HTTPAuthority.isValid(authority) else { return nil }
    guard let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") else {
      self.text = lowercased
      return
    }
    let host = "\(scheme)://\(authority[..<colon])"
    let port = UInt16(authority[authority.index(after: colon)...])
    let implied: UInt16 = scheme == "http" ? 80 : 443
    self.text = port.map { $0 == implied ? host : "\(host):\($0)" } ?? host
  }
}
