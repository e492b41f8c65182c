/// Requests at and beyond the bounds of what a parser takes, and what one request leaves for the
/// next one on its connection.
extension ParserCase {
  static let boundaries = states + lengths + chunkBounds

  private static let host = "Host: localhost:1\r\n"

  /// A request of `POST` in chunks: more header lines, and what follows the header.
  private static func chunked(_ lines: String, _ rest: String) -> String {
    "POST /p HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\(lines)\r\n\(rest)"
  }

  private static func fields(_ count: Int) -> String {
    (0..<count).map { "A\($0):b\r\n" }.joined()
  }

  private static let get = "GET / HTTP/1.1\r\n\(host)\r\n"

  /// What a request counts begins again with the next one.
  private static let states: [ParserCase] = [
    ("an empty line before each request", "\r\n\(get)\r\n\(get)", "GET /, GET /"),
    (
      "a request behind a body that ends with a carriage return",
      "POST /p HTTP/1.1\r\n\(host)Content-Length: 2\r\n\r\na\r\(get)", "POST /p a\r, GET /"
    ),
    (
      "trailers behind as many fields",
      chunked(fields(18), "0\r\n\(fields(20))\r\n"), "POST /p"
    ),
    (
      "trailers of two requests",
      chunked("", "0\r\n\(fields(20))\r\n") + chunked("", "0\r\n\(fields(20))\r\n"),
      "POST /p, POST /p"
    ),
    (
      "fields behind the trailers of another request",
      chunked("", "0\r\n\(fields(20))\r\n") + "GET / HTTP/1.1\r\n\(host)\(fields(19))\r\n",
      "POST /p, GET /"
    ),
    (
      "chunks of two requests at the limit",
      chunked("", longest) + chunked("", longest), "POST /p \(letters), POST /p \(letters)"
    ),
    (
      "HTTP/1.0 that stays and goes",
      "GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", "GET / closes"
    ),
  ].map { ParserCase($0.0, $0.1, $0.2) }

  private static let letters = String(repeating: "a", count: 1024)
  private static let longest = "400\r\n\(letters)\r\n0\r\n\r\n"

  private static let lengths: [ParserCase] =
    [
      ("003 \t", "POST /p abc"), ("\t 3", "POST /p abc"), ("0000000000000000003", "POST /p abc"),
      ("00000000000000000003", "400"),
    ].map { text, outcome in
      ParserCase(
        "the length '\(text)'",
        "POST /p HTTP/1.1\r\n\(host)Content-Length:\(text)\r\n\r\nabc", outcome)
    } + [
      ParserCase(
        "a method of 32 letters",
        String(repeating: "A", count: 32) + " / HTTP/1.1\r\n\(host)\r\n",
        String(repeating: "A", count: 32) + " /")
    ]

  private static let chunkBounds: [ParserCase] = [
    ("sizes whose sum overflows", "1\r\na\r\n7fffffffffffffff\r\n", "POST /p a 413"),
    (
      "an extension up to the limit",
      "1;\(String(repeating: "b", count: 254))\r\na\r\n0\r\n\r\n", "POST /p a"
    ),
    (
      "an extension one above",
      "1;\(String(repeating: "b", count: 255))\r\na\r\n0\r\n\r\n", "POST /p 400"
    ),
    (
      "a trailer that never ends", "0\r\nA:\(String(repeating: "b", count: 999))", "POST /p 431"
    ),
  ].map { ParserCase($0.0, chunked("", $0.1), $0.2) }
}
