import Records
import WebServices

/// A page of one HTML file that contains no data and loads no other resource.
///
/// Its content security policy allows only the included script and style, each by its checksum, and
/// forbids markup from records.
struct StaticPage: Sendable {
  /// The script, which inserts data from the server as text, never as markup.
  let script: String
  /// The style sheet.
  let style: String
  /// The frame that the script fills in, without script and style.
  let markup: String
  /// The directives of the content security policy besides those for the page's own parts.
  let allowed: [String]

  /// Creates a page of parts in UTF-8.
  init(script: [[UInt8]], style: [UInt8], markup: [UInt8], allowing allowed: [String] = []) {
    self.script = script.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
    self.style = String(decoding: style, as: UTF8.self)
    self.markup = String(decoding: markup, as: UTF8.self)
    self.allowed = allowed
  }

  /// The HTML document.
  var html: String {
    markup
      .replacing("<style></style>", with: "<style>\(style)</style>")
      .replacing("<script></script>", with: "<script>\(script)</script>")
  }

  /// The content security policy.
  var policy: String {
    ([
      "default-src 'none'", "script-src '\(Self.checksum(script))'",
      "style-src '\(Self.checksum(style))'", "connect-src 'self'", "base-uri 'none'",
      "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ] + allowed).joined(separator: "; ")
  }

  /// The page as a response.
  ///
  /// - Parameter isAlone: Whether the page has no access to the window that opened it.
  func response(isAlone: Bool) -> HTTPResponse {
    HTTPResponse(
      200, type: "text/html; charset=utf-8",
      fields: [
        .init(name: "content-security-policy", value: policy),
        .init(name: "x-frame-options", value: "DENY"),
        .init(name: "referrer-policy", value: "no-referrer"),
        .init(name: "cross-origin-resource-policy", value: "same-origin"),
      ] + (isAlone ? [.init(name: "cross-origin-opener-policy", value: "same-origin")] : []),
      body: Array(html.utf8))
  }

  /// The checksum of a script or a style sheet in a content security policy.
  private static func checksum(_ text: String) -> String {
    "sha256-" + Notation.base64(SHA256.digest(of: text.utf8))
  }
}
