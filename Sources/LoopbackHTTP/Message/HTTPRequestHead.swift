/// The request line and the header fields of a request.
package struct HTTPRequestHead: Hashable, Sendable {
  /// A header field; the name in lower case, the value trimmed.
  package struct Field: Hashable, Sendable {
    /// The name, in lower case.
    package var name: String
    /// The value.
    package var value: String

    /// Creates a field; `name` must be in lower case.
    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The method that determines the length of the body.
  package enum Framing: Hashable, Sendable {
    /// The number of bytes; 0 for a request without a body.
    case length(Int)
    /// Chunked transfer coding.
    case chunked
  }

  /// The method, such as `POST`.
  package var method: String
  /// The path without the query, with unnecessary percent escapes decoded.
  package var path: String
  /// The path without the query, with its percent escapes as they were sent.
  package var sentPath: String
  /// The query string; `nil` when there is none.
  package var query: String?
  /// The host and port of an absolute-form target, which override the `Host` field.
  package var authority: String?
  /// The scheme that a trusted proxy received the request with; `nil` without such a proxy.
  package private(set) var scheme: String?
  /// The minor version of HTTP/1: 0, or 1 for 1 and later.
  package var minorVersion: Int
  /// The header fields, in the order sent.
  package var fields: [Field]
  /// How the length of the body is determined.
  package var framing: Framing = .length(0)
  /// Whether the client waits for `100 Continue` before it sends the body.
  package var expectsContinue = false
  /// Whether another request may follow on the connection.
  package var keepsAlive = true

  /// Creates a head; the parser sets its framing, and the path as it was sent if it differs.
  package init(
    method: String, path: String, query: String?, authority: String? = nil, minorVersion: Int,
    fields: [Field]
  ) {
    self.method = method
    self.path = path
    sentPath = path
    self.query = query
    self.authority = authority
    self.minorVersion = minorVersion
    self.fields = fields
  }

  /// The methods that this server knows, including methods that no path allows.
  ///
  /// Source: RFC 9110, section 9.3, and RFC 5789.
  private static let knownMethods: Set = [
    "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH",
  ]

  /// Whether the method is known; an unknown method gets 501, not 405.
  package var hasKnownMethod: Bool { HTTPRequestHead.knownMethods.contains(method) }

  /// Whether a body with a content coding follows, such as gzip.
  package var hasCodedBody: Bool {
    framing != .length(0)
      && list("content-encoding").contains { !$0.isEmpty && $0.asciiLowercased != "identity" }
  }

  /// Takes the host and the scheme from the fields of a trusted proxy, which received the request
  /// in its place.
  ///
  /// A list has an element for each proxy, and the last one is that of the trusted proxy.
  package mutating func takeForwarded() {
    if let host = list("x-forwarded-host").last, !host.isEmpty {
      authority = nil
      fields.removeAll { $0.name == "host" }
      fields.append(Field(name: "host", value: host))
    }
    if let scheme = list("x-forwarded-proto").last?.asciiLowercased,
      ["http", "https"].contains(scheme)
    {
      self.scheme = scheme
    }
  }

  /// The values of the field `name`, given in lower case.
  package func values(_ name: String) -> [String] {
    fields.filter { $0.name == name }.map(\.value)
  }

  /// The elements of the field `name`, given in lower case, from all its lines: the parts between
  /// commas, trimmed.
  package func list(_ name: String) -> [String] {
    let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    return values(name).flatMap { $0.utf8.split(separator: 0x2C, omittingEmptySubsequences: false) }
      .map { element in
        var element = element.drop(while: isBlank)
        while let last = element.last, isBlank(last) { element.removeLast() }
        return String(Substring(element))
      }
  }

  /// The value of the field `name`, given in lower case; `nil` unless it occurs exactly once.
  package func value(_ name: String) -> String? {
    let values = values(name)
    return values.count == 1 ? values[0] : nil
  }
}

extension StringProtocol {
  /// The text with the letters `A` to `Z` in lower case and all else as it is.
  ///
  /// Unicode has other characters whose lower case is an ASCII letter, such as the Kelvin sign,
  /// which no other reader of the request takes for that letter.
  var asciiLowercased: String {
    String(decoding: utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
  }
}
