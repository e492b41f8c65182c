import Records
import WebServices

/// The console: a page that shows a server's contents and events.
///
/// It is a single file without data and loads no other resource. It requests its data with the
/// control token, which is in the fragment of the URL, the part that browsers do not send. Its
/// content security policy allows only the included script and style, each by its checksum, and
/// forbids markup from records.
enum ConsolePage {
  /// The paths of the page.
  static let paths = ["/", "/console"]

  /// The script, which inserts data from the server as text, never as markup.
  ///
  /// One script of several files; the last one starts it.
  static let script = [
    PackageResources.console_js, PackageResources.console_query_js,
    PackageResources.console_form_js, PackageResources.console_record_js,
    PackageResources.console_tables_js, PackageResources.console_records_js,
    PackageResources.console_people_js, PackageResources.console_data_js,
    PackageResources.console_faults_js, PackageResources.console_feed_js,
  ].map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")

  /// The style sheet.
  static let style = String(decoding: PackageResources.console_css, as: UTF8.self)

  /// The frame that the script fills in, without script and style.
  static let markup = String(decoding: PackageResources.console_html, as: UTF8.self)

  /// The HTML document.
  static let html =
    markup
    .replacing("<style></style>", with: "<style>\(style)</style>")
    .replacing("<script></script>", with: "<script>\(script)</script>")

  /// The content security policy.
  static let policy = [
    "default-src 'none'", "script-src '\(checksum(script))'", "style-src '\(checksum(style))'",
    "connect-src 'self'", "img-src data:", "base-uri 'none'", "form-action 'none'",
    "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
  ].joined(separator: "; ")

  /// The page as a response.
  static let response = HTTPResponse(
    200,
    fields: [
      .init(name: "content-type", value: "text/html; charset=utf-8"),
      .init(name: "content-security-policy", value: policy),
      .init(name: "cache-control", value: "no-store"),
      .init(name: "x-content-type-options", value: "nosniff"),
      .init(name: "x-frame-options", value: "DENY"),
      .init(name: "referrer-policy", value: "no-referrer"),
      .init(name: "cross-origin-opener-policy", value: "same-origin"),
      .init(name: "cross-origin-resource-policy", value: "same-origin"),
    ], body: Array(html.utf8))

  /// The checksum of a script or a style sheet in a content security policy.
  static func checksum(_ text: String) -> String {
    var hash = SHA256()
    hash.update(text.utf8)
    return "sha256-" + Notation.base64(hash.digest())
  }
}
