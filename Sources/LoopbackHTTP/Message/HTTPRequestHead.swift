/// Everything of a request before its body.
package struct HTTPRequestHead: Hashable, Sendable {
  /// One header field; the name in lower case, the value without blanks around it.
  package struct Field: Hashable, Sendable {
    /// The name, in lower case.
    package var name: String
    /// The value.
    package var value: String

    /// A field with a name in lower case.
    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// How the body's end is found.
  package enum Framing: Hashable, Sendable {
    /// It has this many bytes; 0 for a request without a body.
    case length(Int)
    /// It comes in chunks.
    case chunked
  }

  /// The method, such as `POST`.
  package var method: String
  /// The path without the query; what is escaped in it without need is spelled out.
  package var path: String
  /// What follows the question mark; `nil` when there is none.
  package var query: String?
  /// The host and port of a target that is a whole URI; they count, and `Host` does not.
  package var authority: String?
  /// The minor version of HTTP/1: 0, or 1 for every later one.
  package var minorVersion: Int
  /// The header fields, in the order sent.
  package var fields: [Field]
  /// How the body's end is found.
  package var framing: Framing = .length(0)
  /// Whether the client waits for a word before it sends the body.
  package var expectsContinue = false
  /// Whether another request may follow on the connection.
  package var keepsAlive = true

  /// Puts a head together; how it is framed is settled when it is read.
  package init(
    method: String, path: String, query: String?, authority: String? = nil, minorVersion: Int,
    fields: [Field]
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.authority = authority
    self.minorVersion = minorVersion
    self.fields = fields
  }

  /// The methods that this server knows, be it that no path takes them.
  ///
  /// Source: RFC 9110, section 9.3, and RFC 5789.
  private static let knownMethods: Set = [
    "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH",
  ]

  /// Whether its method is known; an unknown one is refused with 501 and not with 405.
  package var hasKnownMethod: Bool { HTTPRequestHead.knownMethods.contains(method) }

  /// Whether a body follows that is coded, such as by gzip.
  package var hasCodedBody: Bool {
    framing != .length(0)
      && list("content-encoding").contains { !$0.isEmpty && $0.lowercased() != "identity" }
  }

  /// The values of the field `name`, given in lower case.
  package func values(_ name: String) -> [String] {
    fields.filter { $0.name == name }.map(\.value)
  }

  /// The elements of the field `name`, given in lower case, of all its lines: what stands between
  /// commas, without blanks around it.
  package func list(_ name: String) -> [String] {
    let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    return values(name).flatMap { $0.utf8.split(separator: 0x2C, omittingEmptySubsequences: false) }
      .map { element in
        var element = element.drop(while: isBlank)
        while let last = element.last, isBlank(last) { element.removeLast() }
        return String(Substring(element))
      }
  }

  /// The value of the field `name`, given in lower case, when it is there exactly once.
  package func value(_ name: String) -> String? {
    let values = values(name)
    return values.count == 1 ? values[0] : nil
  }
}
