import Records
import WebServices

/// The console: one page that shows what a server holds and what happens on it.
///
/// It is one file without any data, and loads nothing from anywhere; what it shows it asks for with
/// the control token, which comes in the fragment of the address, the part no browser sends. Its
/// policy lets a browser run only the script and the style it came with, each known by its
/// checksum, and write nothing of a record as markup.
enum ConsolePage {
  /// Where it is.
  static let paths = ["/", "/console"]

  /// The whole page.
  static let html = before + style + between + script + after

  /// What a browser is let do with it.
  static let policy = [
    "default-src 'none'", "script-src '\(checksum(script))'", "style-src '\(checksum(style))'",
    "connect-src 'self'", "img-src data:", "base-uri 'none'", "form-action 'none'",
    "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
  ].joined(separator: "; ")

  /// The page as an answer.
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

  private static func checksum(_ text: String) -> String {
    var hash = SHA256()
    hash.update(text.utf8)
    return "sha256-" + Notation.base64(hash.digest())
  }
}
