/// A request target in one of its four forms.
///
/// Source: RFC 9112, section 3.2.
struct HTTPTarget {
  /// The path without unnecessary percent escapes; `*` for the server as a whole.
  var path: String
  /// The path as it was sent.
  var sentPath: String
  /// The query string.
  var query: String?
  /// The host and port of an absolute-form target.
  var authority: String?

  /// Parses the target of a request with `method`.
  /// - Throws: 400 for a form that the method does not allow, 501 for `CONNECT`.
  init(_ bytes: ArraySlice<UInt8>, _ method: String) throws(HTTPRefusal) {
    try HTTPTarget.check(bytes)
    let text = String(decoding: bytes, as: UTF8.self)
    if method == "CONNECT" {
      guard HTTPAuthority.isValidWithPort(text) else {
        throw HTTPRefusal(400, "the target of CONNECT must be a host and a port")
      }
      throw HTTPRefusal(501, "this server is not a proxy and does not support CONNECT")
    }
    if bytes.first == 0x2F {
      (path, sentPath, query) = HTTPTarget.parts(bytes)
      return
    }
    if text == "*" {
      guard method == "OPTIONS" else {
        throw HTTPRefusal(400, "an asterisk is valid as the target of OPTIONS only")
      }
      (path, sentPath) = (text, text)
      return
    }
    let scheme = "http://"
    guard text.asciiLowercased.hasPrefix(scheme) else {
      throw HTTPRefusal(400, "the target must begin with a slash, or be an http URI")
    }
    let rest = bytes.dropFirst(scheme.utf8.count)
    let end = rest.firstIndex { $0 == 0x2F || $0 == 0x3F } ?? rest.endIndex
    let authority = String(decoding: rest[..<end], as: UTF8.self)
    guard HTTPAuthority.isValid(authority) else {
      throw HTTPRefusal(400, "the target has no valid host and port")
    }
    (path, sentPath, query) = HTTPTarget.parts(rest[end...])
    if rest[end...].isEmpty, method == "OPTIONS" { path = "*" }
    self.authority = authority
  }

  /// The path, `/` if it is empty, the same as it was sent, and the query.
  private static func parts(_ bytes: ArraySlice<UInt8>) -> (String, String, String?) {
    let parts = bytes.split(separator: 0x3F, maxSplits: 1, omittingEmptySubsequences: false)
    return (
      parts[0].isEmpty ? "/" : normalized(parts[0]),
      parts[0].isEmpty ? "/" : String(decoding: parts[0], as: UTF8.self),
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
          throw HTTPRefusal(400, "the target has a percent sign without two hexadecimal digits")
        }
        escape -= 1
      } else if byte == 0x25 {
        escape = 2
      }
    }
    guard escape == 0 else {
      throw HTTPRefusal(400, "the target has a percent sign without two hexadecimal digits")
    }
  }

  /// The path with unnecessary percent escapes decoded; a slash and other reserved characters stay
  /// escaped.
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
