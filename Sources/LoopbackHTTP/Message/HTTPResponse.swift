package import CloudProtocol

/// An HTTP response.
package struct HTTPResponse: Hashable, Sendable {
  /// The status code, 100 to 599.
  package var status: Int
  /// The header fields, without those that frame the response.
  package var fields: [HTTPRequestHead.Field]
  /// The body, if it is in memory.
  package var body: [UInt8]
  /// The body, if it is read in parts while it is sent.
  package var file: AssetContent?

  /// Creates a response.
  package init(_ status: Int, fields: [HTTPRequestHead.Field] = [], body: [UInt8] = []) {
    self.status = status
    self.fields = fields
    self.body = body
  }

  /// Creates a response that is neither stored nor taken for another type than `type`.
  init(
    _ status: Int, type: String, fields: [HTTPRequestHead.Field] = [], body: [UInt8] = []
  ) {
    self.init(
      status,
      fields: [
        .init(name: "content-type", value: type), .init(name: "cache-control", value: "no-store"),
        .init(name: "x-content-type-options", value: "nosniff"),
      ] + fields, body: body)
  }

  /// The number of bytes of the body.
  var bodyCount: Int { file?.count ?? body.count }

  /// The response to a rejected request, in the error format of CloudKit Web Services.
  package init(_ refusal: HTTPRefusal) {
    self = .failure(refusal.status, refusal.code, refusal.reason)
  }

  /// The bytes of the response to a request with `method`, whose body is in memory.
  ///
  /// - Parameters:
  ///   - method: The method of the request; the response to `HEAD` has the same header and no body.
  ///   - closes: Whether the connection is closed after the response.
  ///   - date: The value of the `Date` field; `nil` omits the field.
  package func bytes(
    for method: String = "GET", closes: Bool, date: String? = nil
  ) -> [UInt8] {
    headBytes(closes: closes, date: date) + (hasBody && method != "HEAD" ? body : [])
  }

  /// Whether a response with this status may have a body.
  package var hasBody: Bool { status >= 200 && status != 204 && status != 304 }

  /// The bytes of the status line and the header, including the body's length.
  ///
  /// Control characters in a field are replaced with spaces, so that they cannot start another
  /// field.
  /// - Parameters:
  ///   - closes: Whether the connection is closed after the response.
  ///   - date: The value of the `Date` field; `nil` omits the field.
  package func headBytes(closes: Bool, date: String? = nil) -> [UInt8] {
    var text = "HTTP/1.1 \(status) \(HTTPResponse.phrase(status))\r\n"
    if let date { text += "date: \(date)\r\n" }
    for field in fields {
      text += "\(HTTPResponse.line(field.name)): \(HTTPResponse.line(field.value))\r\n"
    }
    if hasBody { text += "content-length: \(bodyCount)\r\n" }
    if closes { text += "connection: close\r\n" }
    text += "\r\n"
    return Array(text.utf8)
  }

  /// The interim response that asks a waiting client to send its body.
  package static let continueResponse = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

  private static func line(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return text }
    return String(
      decoding: text.utf8.map { $0 < 0x20 || $0 == 0x7F ? 0x20 : $0 }, as: UTF8.self)
  }

  private static func phrase(_ status: Int) -> String {
    switch status {
    case 200: "OK"
    case 204: "No Content"
    case 206: "Partial Content"
    case 304: "Not Modified"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 408: "Request Timeout"
    case 409: "Conflict"
    case 412: "Precondition Failed"
    case 413: "Content Too Large"
    case 414: "URI Too Long"
    case 415: "Unsupported Media Type"
    case 416: "Range Not Satisfiable"
    case 417: "Expectation Failed"
    case 421: "Misdirected Request"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 503: "Service Unavailable"
    case 505: "HTTP Version Not Supported"
    default: "Status \(status)"
    }
  }
}
