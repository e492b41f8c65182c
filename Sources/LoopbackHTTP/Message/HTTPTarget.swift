/// What a request asks for, in one of the four forms of a request target.
///
/// Source: RFC 9112, section 3.2.
struct HTTPTarget {
  /// The path, in which nothing is escaped that needs no escape; `*` for the server as a whole.
  var path: String
  /// What follows the question mark.
  var query: String?
  /// The host and the port, where the target is an absolute URI.
  var authority: String?

  /// Reads the target of a request with `method`.
  /// - Throws: 400 for a form that the method does not have, 501 for `CONNECT`.
  init(_ bytes: ArraySlice<UInt8>, _ method: String) throws(HTTPRefusal) {
    try HTTPTarget.check(bytes)
    let text = String(decoding: bytes, as: UTF8.self)
    if method == "CONNECT" {
      guard HTTPAuthority.isValidWithPort(text) else {
        throw HTTPRefusal(400, "the target of CONNECT must be a host and a port")
      }
      throw HTTPRefusal(501, "this server is no proxy and makes no tunnels")
    }
    if bytes.first == 0x2F {
      (path, query) = HTTPTarget.parts(bytes)
      return
    }
    if text == "*" {
      guard method == "OPTIONS" else {
        throw HTTPRefusal(400, "an asterisk can be the target of OPTIONS only")
      }
      path = text
      return
    }
    let scheme = "http://"
    guard text.lowercased().hasPrefix(scheme) else {
      throw HTTPRefusal(400, "the target must begin with a slash, or be a URI of http")
    }
    let rest = bytes.dropFirst(scheme.utf8.count)
    let end = rest.firstIndex { $0 == 0x2F || $0 == 0x3F } ?? rest.endIndex
    let authority = String(decoding: rest[..<end], as: UTF8.self)
    guard HTTPAuthority.isValid(authority) else {
      throw HTTPRefusal(400, "the target names no valid host and port")
    }
    (path, query) = HTTPTarget.parts(rest[end...])
    if rest[end...].isEmpty, method == "OPTIONS" { path = "*" }
    self.authority = authority
  }

  /// The path, which is a slash where there is none, and the query.
  private static func parts(_ bytes: ArraySlice<UInt8>) -> (String, String?) {
    let parts = bytes.split(separator: 0x3F, maxSplits: 1, omittingEmptySubsequences: false)
    return (
      parts[0].isEmpty ? "/" : normalized(parts[0]),
      parts.count > 1 ? String(decoding: parts[1], as: UTF8.self) : nil
    )
  }

  private static func check(_ bytes: ArraySlice<UInt8>) throws(HTTPRefusal) {
    var escape = 0
    for byte in bytes {
      guard byte > 0x20, byte < 0x7F, byte != 0x23, byte != 0x22, byte != 0x3C, byte != 0x3E,
        byte != 0x5C
      else { throw HTTPRefusal(400, "the target has a character that must be escaped") }
      if escape > 0 {
        guard byte.hexadecimalValue != nil else {
          throw HTTPRefusal(400, "the target has a percent sign without two digits")
        }
        escape -= 1
      } else if byte == 0x25 {
        escape = 2
      }
    }
    guard escape == 0 else {
      throw HTTPRefusal(400, "the target has a percent sign without two digits")
    }
  }

  /// The path with the characters spelled out that are escaped without need; a slash, and whatever
  /// else means something in a path, stays escaped.
  ///
  /// Source: RFC 3986, section 6.2.2.2.
  private static func normalized(_ path: ArraySlice<UInt8>) -> String {
    guard path.contains(0x25) else { return String(decoding: path, as: UTF8.self) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(path.count)
    var index = path.startIndex
    while index < path.endIndex {
      if path[index] == 0x25, path.endIndex - index > 2,
        let high = path[index + 1].hexadecimalValue, let low = path[index + 2].hexadecimalValue
      {
        let byte = UInt8(high << 4 | low)
        bytes += byte.isUnreserved ? [byte] : Array(path[index..<(index + 3)])
        index += 3
      } else {
        bytes.append(path[index])
        index += 1
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
