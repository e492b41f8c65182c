/// Bytes on a connection, and what a parser makes of them.
struct ParserCase {
  var name: String
  var bytes: [UInt8]
  /// The requests taken, as `METHOD path[?query] body`, and a status at the end when the rest is
  /// refused, or `...` when it is not complete.
  var outcome: String

  init(_ name: String, _ text: String, _ outcome: String) {
    self.name = name
    bytes = Array(text.utf8)
    self.outcome = outcome
  }

  init(_ name: String, bytes: [UInt8], _ outcome: String) {
    self.name = name
    self.bytes = bytes
    self.outcome = outcome
  }
}

private let host = "Host: localhost:1\r\n"

/// A request whose header has `lines` beside its host.
private func get(_ lines: String = "", _ target: String = "/", method: String = "GET") -> String {
  "\(method) \(target) HTTP/1.1\r\n\(host)\(lines)\r\n"
}

/// A request with these framing lines and this body.
private func post(_ lines: String, _ body: String = "") -> String {
  get(lines, "/p", method: "POST") + body
}

extension ParserCase {
  static let all = good + requestLines + fields + framing + chunks + limits + forms + boundaries

  static let good: [ParserCase] = [
    .init("the smallest request", get(), "GET /"),
    .init("a query", get("", "/a/b?c=d&e"), "GET /a/b?c=d&e"),
    .init("an empty query", get("", "/a?"), "GET /a?"),
    .init("a second question mark", get("", "/a?b?c"), "GET /a?b?c"),
    .init("escapes in the target", get("", "/%41%7e?%20"), "GET /A~?%20"),
    .init("dots in the target", get("", "/../a/./b"), "GET /../a/./b"),
    .init("an asterisk", get("", "*", method: "OPTIONS"), "OPTIONS *"),
    .init("a method nobody knows", get("", "/", method: "BREW"), "BREW /"),
    .init("a method in lower case is another method", get("", "/", method: "get"), "get /"),
    .init("a body with a length", post("Content-Length: 3\r\n", "abc"), "POST /p abc"),
    .init("no body with a length", post("Content-Length: 0\r\n"), "POST /p"),
    .init("a length with zeros in front", post("Content-Length: 003\r\n", "abc"), "POST /p abc"),
    .init("a body on GET", get("Content-Length: 2\r\n") + "ab", "GET / ab"),
    .init("one empty line first", "\r\n" + get(), "GET /"),
    .init("two requests at once", get() + get("", "/2"), "GET /, GET /2"),
    .init(
      "a request behind a body", post("Content-Length: 2\r\n", "ab") + get("", "/2"),
      "POST /p ab, GET /2"),
    .init(
      "a request behind chunks",
      post("Transfer-Encoding: chunked\r\n", "1\r\na\r\n0\r\n\r\n") + get(),
      "POST /p a, GET /"),
    .init(
      "a body that looks like a request", post("Content-Length: 14\r\n", "GET / HTTP/1.1"),
      "POST /p GET / HTTP/1.1"),
    .init("HTTP/1.0 without a host", "GET / HTTP/1.0\r\n\r\n", "GET / closes"),
    .init("HTTP/1.0 that stays", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET /"),
    .init("HTTP/1.1 that goes", get("Connection: close\r\n"), "GET / closes"),
    .init("words around close", get("Connection: a, Close ,b\r\n"), "GET / closes"),
    .init("close in a second field", get("Connection: a\r\nConnection: close\r\n"), "GET / closes"),
    .init("no blank behind the colon", "GET / HTTP/1.1\r\nHost:a\r\n\r\n", "GET /"),
    .init("blanks and tabs around a value", get("A: \t b \t \r\n"), "GET /"),
    .init("an empty value", get("A:\r\n"), "GET /"),
    .init("a value of blanks", get("A:   \r\n"), "GET /"),
    .init("a name of odd characters", get("!#$%&'*+-.^_`|~9: x\r\n"), "GET /"),
    .init("a name in any case", get("hOsTy: x\r\n"), "GET /"),
    .init("letters beyond ASCII in a value", get("A: \u{E9}\u{1F34E}\r\n"), "GET /"),
    .init("the same field twice", get("A: 1\r\nA: 2\r\n"), "GET /"),
    .init(
      "a client that waits", post("Content-Length: 1\r\nExpect: 100-continue\r\n", "a"),
      "POST /p waits a"),
    .init(
      "a wait in capitals", post("Content-Length: 1\r\nExpect: 100-CONTINUE\r\n", "a"),
      "POST /p waits a"),
    .init("a wait without a body", get("Expect: 100-continue\r\n"), "GET /"),
    .init(
      "a wait in HTTP/1.0 is no wait",
      "POST /p HTTP/1.0\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\na", "POST /p a closes"),
    .init(
      "chunks", post("Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"),
      "POST /p abcde"),
    .init("no chunks", post("Transfer-Encoding: chunked\r\n", "0\r\n\r\n"), "POST /p"),
    .init("chunked in capitals", post("TRANSFER-ENCODING: CHUNKED\r\n", "0\r\n\r\n"), "POST /p"),
    .init(
      "a chunk's size in hexadecimal",
      post("Transfer-Encoding: chunked\r\n", "A\r\n0123456789\r\n0\r\n\r\n"), "POST /p 0123456789"),
    .init(
      "a chunk's size with zeros in front",
      post("Transfer-Encoding: chunked\r\n", "0003\r\nabc\r\n000\r\n\r\n"), "POST /p abc"),
    .init(
      "a chunk's extension",
      post("Transfer-Encoding: chunked\r\n", "3;a=b;c=\"d\"\r\nabc\r\n0;e\r\n\r\n"), "POST /p abc"),
    .init(
      "trailers", post("Transfer-Encoding: chunked\r\n", "1\r\na\r\n0\r\nA: b\r\nC: d\r\n\r\n"),
      "POST /p a"),
    .init(
      "line ends inside a chunk",
      post("Transfer-Encoding: chunked\r\n", "4\r\n\r\n\r\n\r\n0\r\n\r\n"), "POST /p \r\n\r\n"),
    .init("nothing", "", ""),
    .init("half a request line", "GET / HT", "..."),
    .init("half a header", "GET / HTTP/1.1\r\nHost: a\r\n", "..."),
    .init("a header without its last line feed", "GET / HTTP/1.1\r\nHost: a\r\n\r", "..."),
    .init("half a body", post("Content-Length: 3\r\n", "ab"), "POST /p ab ..."),
    .init("half a chunk", post("Transfer-Encoding: chunked\r\n", "3\r\nab"), "POST /p ab ..."),
    .init(
      "chunks without an end", post("Transfer-Encoding: chunked\r\n", "1\r\na\r\n0\r\n"),
      "POST /p a ..."),
  ]

  static let requestLines: [ParserCase] = [
    ("two empty lines first", "\r\n\r\n" + get(), "400"),
    ("a blank first", " " + get(), "400"),
    ("no method", " / HTTP/1.1\r\n\(host)\r\n", "400"),
    ("no target", "GET HTTP/1.1\r\n\(host)\r\n", "400"),
    ("an empty target", "GET  HTTP/1.1\r\n\(host)\r\n", "400"),
    ("no version", "GET /\r\n\(host)\r\n", "400"),
    ("two blanks behind the method", "GET  / HTTP/1.1\r\n\(host)\r\n", "400"),
    ("two blanks before the version", "GET /  HTTP/1.1\r\n\(host)\r\n", "400"),
    ("a blank at the end", "GET / HTTP/1.1 \r\n\(host)\r\n", "400"),
    ("a tab for a blank", "GET\t/ HTTP/1.1\r\n\(host)\r\n", "400"),
    ("a blank in the target", "GET /a b HTTP/1.1\r\n\(host)\r\n", "400"),
    ("a method with a colon", "G:T / HTTP/1.1\r\n\(host)\r\n", "400"),
    ("a method with a slash", "GE/T / HTTP/1.1\r\n\(host)\r\n", "400"),
    ("a method with brackets", "(GET) / HTTP/1.1\r\n\(host)\r\n", "400"),
    (
      "a method of 33 letters", String(repeating: "A", count: 33) + " / HTTP/1.1\r\n\(host)\r\n",
      "400"
    ),
    ("a method beyond ASCII", "G\u{E9}T / HTTP/1.1\r\n\(host)\r\n", "400"),
    ("HTTP/2", "GET / HTTP/2.0\r\n\(host)\r\n", "505"),
    ("HTTP/0.9 with a version", "GET / HTTP/0.9\r\n\(host)\r\n", "505"),
    ("HTTP/1.2", "GET / HTTP/1.2\r\n\(host)\r\n", "GET /"),
    ("a version in lower case", "GET / http/1.1\r\n\(host)\r\n", "400"),
    ("a version of three digits", "GET / HTTP/1.10\r\n\(host)\r\n", "400"),
    ("a version with a comma", "GET / HTTP/1,1\r\n\(host)\r\n", "400"),
    ("another protocol", "GET / ICAP/1.0\r\n\(host)\r\n", "400"),
    ("a version without a number", "GET / HTTP/\r\n\(host)\r\n", "400"),
    ("the greeting of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505"),
    ("a greeting of TLS", "\u{16}\u{03}\u{01}\r\n\r\n", "400"),
    ("a whole URL as target", get("", "http://localhost/"), "GET /"),
    ("an authority as target", get("", "localhost:1", method: "CONNECT"), "501"),
    ("an asterisk with GET", get("", "*"), "400"),
    ("a target without a slash", get("", "a"), "400"),
    ("a fragment", get("", "/a#b"), "400"),
    ("a backslash", get("", "/a\\b"), "400"),
    ("a quotation mark", get("", "/a\"b"), "400"),
    ("angle brackets", get("", "/<a>"), "400"),
    ("a percent sign at the end", get("", "/a%"), "400"),
    ("a percent sign and one digit", get("", "/a%4"), "400"),
    ("a percent sign and no digits", get("", "/a%zz"), "400"),
    ("a percent sign twice", get("", "/a%%41"), "400"),
    ("a letter beyond ASCII in the target", get("", "/\u{E9}"), "400"),
    ("a control character in the target", get("", "/a\u{7}b"), "400"),
    ("a zero in the target", get("", "/a\u{0}b"), "400"),
    ("a deletion in the target", get("", "/a\u{7F}b"), "400"),
    ("a bare line feed", "GET / HTTP/1.1\nHost: a\n\n", "400"),
    ("a bare line feed behind the request line", "GET / HTTP/1.1\nHost: a\r\n\r\n", "400"),
    ("a bare carriage return", "GET / HTTP/1.1\rHost: a\r\n\r\n", "400"),
    ("two carriage returns", "GET / HTTP/1.1\r\r\nHost: a\r\n\r\n", "400"),
    ("a line feed first", "\n" + get(), "400"),
  ].map { ParserCase($0.0, $0.1, $0.2) }

  static let fields: [ParserCase] =
    [
      ("no host", "GET / HTTP/1.1\r\n\r\n", "400"),
      ("two hosts", get("Host: b\r\n"), "400"),
      ("the same host twice", get(host), "400"),
      ("two hosts in HTTP/1.0", "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", "400"),
      ("a blank before the colon", get("A : b\r\n"), "400"),
      ("a tab before the colon", get("A\t: b\r\n"), "400"),
      ("a blank before the host's colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", "400"),
      ("no colon", get("A\r\n"), "400"),
      ("no name", get(": b\r\n"), "400"),
      ("a blank in a name", get("A B: c\r\n"), "400"),
      ("a bracket in a name", get("A(: c\r\n"), "400"),
      ("a letter beyond ASCII in a name", get("\u{E9}: c\r\n"), "400"),
      ("a zero in a name", get("A\u{0}: c\r\n"), "400"),
      ("a line that goes on", get("A: b\r\n c\r\n"), "400"),
      ("a line that goes on with a tab", get("A: b\r\n\tc\r\n"), "400"),
      ("a first field that goes on", "GET / HTTP/1.1\r\n Host: a\r\n\r\n", "400"),
      ("a zero in a value", get("A: b\u{0}c\r\n"), "400"),
      ("a control character in a value", get("A: b\u{1}c\r\n"), "400"),
      ("a deletion in a value", get("A: b\u{7F}c\r\n"), "400"),
      ("a bare carriage return in a value", get("A: b\rc\r\n"), "400"),
      ("a bare line feed in a value", get("A: b\nc\r\n"), "400"),
      ("a bare line feed at the end", "GET / HTTP/1.1\r\nHost: a\r\n\n", "400"),
      ("an expectation nobody knows", get("Expect: more\r\n"), "417"),
      ("two expectations", get("Expect: 100-continue\r\nExpect: 100-continue\r\n"), "417"),
      ("an expectation with a comma", get("Expect: 100-continue, more\r\n"), "417"),
    ].map { ParserCase($0.0, $0.1, $0.2) }
    + [("bytes at random", (0...255).map { UInt8($0) }, "400")]
    .map { ParserCase($0.0, bytes: $0.1, $0.2) } + opaqueValues

  /// Values with bytes beyond ASCII that are no UTF-8: opaque, unless the field is read here.
  private static let opaqueValues: [ParserCase] = [
    ("A", [0xFF, 0xFE], "GET /"), ("A", [0xC0, 0xAF], "GET /"),
    ("A", [0x63, 0x61, 0x66, 0xE9], "GET /"), ("Cookie", Array(0x80...0xFF), "GET /"),
    ("A", [0xE9, 0x00], "400"), ("A", [0xE9, 0x7F], "400"), ("Host", [0xE9], "400"),
    ("Content-Length", [0x30, 0xB2], "400"), ("Transfer-Encoding", [0xE9], "400"),
    ("Expect", [0xE9], "417"), ("Connection", Array("a\u{E9}, close".utf8), "GET / closes"),
    ("Connection", [0xE9] + Array(", close".utf8), "GET / closes"),
  ].map { name, value, outcome in
    let host = name == "Host" ? "" : "Host: a\r\n"
    return ParserCase(
      "\(name) of the bytes \(value)",
      bytes: Array("GET / HTTP/1.1\r\n\(host)\(name): ".utf8) + value + Array("\r\n\r\n".utf8),
      outcome)
  }

  static let framing: [ParserCase] =
    [
      ("a length and a coding", "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "400"),
      ("a coding and a length", "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", "400"),
      ("two lengths", "Content-Length: 3\r\nContent-Length: 4\r\n", "400"),
      ("the same length twice", "Content-Length: 3\r\nContent-Length: 3\r\n", "400"),
      ("a list of lengths", "Content-Length: 3, 3\r\n", "400"),
      ("an empty length", "Content-Length:\r\n", "400"),
      ("a length below zero", "Content-Length: -1\r\n", "400"),
      ("a length with a plus", "Content-Length: +3\r\n", "400"),
      ("a length with a point", "Content-Length: 3.0\r\n", "400"),
      ("a length in hexadecimal", "Content-Length: 0x3\r\n", "400"),
      ("a length with an exponent", "Content-Length: 1e1\r\n", "400"),
      ("a length with a blank inside", "Content-Length: 1 1\r\n", "400"),
      ("a length with a separator", "Content-Length: 1_0\r\n", "400"),
      ("a length of other digits", "Content-Length: \u{0663}\r\n", "400"),
      ("a length of letters", "Content-Length: abc\r\n", "400"),
      ("a length beyond 64 bits", "Content-Length: 18446744073709551616\r\n", "400"),
      ("a length beyond 63 bits", "Content-Length: 9223372036854775808\r\n", "400"),
      ("the largest length there is", "Content-Length: 9223372036854775807\r\n", "413"),
      ("a length one above the limit", "Content-Length: 1025\r\n", "413"),
      ("a coding nobody knows", "Transfer-Encoding: gzip\r\n", "400"),
      ("two codings in a list", "Transfer-Encoding: gzip, chunked\r\n", "501"),
      ("chunked twice in a list", "Transfer-Encoding: chunked, chunked\r\n", "400"),
      ("two codings", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "400"),
      (
        "chunked in two fields", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "400"
      ),
      ("identity", "Transfer-Encoding: identity\r\n", "400"),
      ("an empty coding", "Transfer-Encoding:\r\n", "400"),
      ("chunked with a comma", "Transfer-Encoding: chunked,\r\n", "400"),
      ("chunked with a parameter", "Transfer-Encoding: chunked;a=b\r\n", "400"),
      ("chunked in quotation marks", "Transfer-Encoding: \"chunked\"\r\n", "400"),
      ("something like chunked", "Transfer-Encoding: xchunked\r\n", "400"),
      ("a coding and an odd length", "Transfer-Encoding: chunked\r\nContent-Length: x\r\n", "400"),
      ("a blank before a coding's colon", "Transfer-Encoding : chunked\r\n", "400"),
      ("a coding that goes on", "Transfer-Encoding:\r\n chunked\r\n", "400"),
      ("a zero behind chunked", "Transfer-Encoding: chunked\u{0}\r\n", "400"),
    ].map { ParserCase($0.0, post($0.1, "0\r\n\r\n"), $0.2) } + [
      ParserCase(
        "a coding in HTTP/1.0",
        "POST /p HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400")
    ]

  static let chunks: [ParserCase] = [
    ("a size with a sign", "+1\r\na\r\n0\r\n\r\n", "POST /p 400"),
    ("a size below zero", "-1\r\na\r\n", "POST /p 400"),
    ("a size with a prefix", "0x1\r\na\r\n0\r\n\r\n", "POST /p 400"),
    ("no size", "\r\na\r\n0\r\n\r\n", "POST /p 400"),
    ("a size with a blank before", " 1\r\na\r\n", "POST /p 400"),
    ("a size with a blank behind", "1 \r\na\r\n", "POST /p 400"),
    ("a size of other letters", "g\r\na\r\n", "POST /p 400"),
    ("a size of nine digits", "000000001\r\na\r\n", "POST /p a ..."),
    ("a size beyond 64 bits", "FFFFFFFFFFFFFFFFF\r\n", "POST /p 400"),
    ("a size above the limit", "FFFFFFF\r\n", "POST /p 413"),
    ("a size one above the limit", "401\r\n", "POST /p 413"),
    ("sizes above the limit together", "1\r\na\r\n400\r\n", "POST /p a 413"),
    ("a chunk that is too long", "1\r\nab\r\n0\r\n\r\n", "POST /p a 400"),
    ("a chunk that is too short", "3\r\na\r\n0\r\n\r\n", "POST /p a\r\n 400"),
    ("a chunk without a line end", "1\r\na0\r\n\r\n", "POST /p a 400"),
    ("a chunk with a bare line feed", "1\r\na\n0\r\n\r\n", "POST /p a 400"),
    ("a size with a bare line feed", "1\na\r\n0\r\n\r\n", "POST /p 400"),
    ("a size with a bare carriage return", "1\ra\r\n0\r\n\r\n", "POST /p 400"),
    ("an extension with a zero", "1;\u{0}\r\na\r\n", "POST /p 400"),
    ("an extension without an end", "1;" + String(repeating: "a", count: 300), "POST /p 400"),
    ("an extension with a bare line feed", "1;a\nb\r\na\r\n", "POST /p 400"),
    ("a trailer without a colon", "0\r\nA\r\n\r\n", "POST /p 400"),
    ("a trailer that goes on", "0\r\nA: b\r\n c\r\n\r\n", "POST /p 400"),
    ("a trailer with a blank before the colon", "0\r\nA : b\r\n\r\n", "POST /p 400"),
    ("a trailer with a bare line feed", "0\r\nA: b\n\r\n", "POST /p 400"),
    ("an end with a bare line feed", "0\r\n\n", "POST /p 400"),
    ("a second request in a chunk's place", "GET / HTTP/1.1\r\n", "POST /p 400"),
  ].map { ParserCase($0.0, post("Transfer-Encoding: chunked\r\n", $0.1), $0.2) }

  static let limits: [ParserCase] = {
    let line = 200
    func target(_ length: Int) -> String {
      "/" + String(repeating: "a", count: length - "GET / HTTP/1.1".utf8.count)
    }
    // Every header of these has 19 bytes of host with its end.
    func filled(_ bytes: Int) -> String {
      "A:" + String(repeating: "b", count: bytes - host.utf8.count - 4) + "\r\n"
    }
    let many = { (count: Int) in (0..<count).map { "A\($0):b\r\n" }.joined() }
    return [
      .init("a request line at the limit", get("", target(line)), "GET \(target(line))"),
      .init("a request line one above", get("", target(line + 1)), "414"),
      .init("a request line that never ends", String(repeating: "A", count: 4000), "414"),
      .init("a header at the limit", get(filled(400)), "GET /"),
      .init("a header one above", get(filled(401)), "431"),
      .init(
        "a header that never ends", "GET / HTTP/1.1\r\nA: " + String(repeating: "b", count: 999),
        "431"),
      .init("fields at the limit", get(many(19)), "GET /"),
      .init("fields one above", get(many(20)), "431"),
      .init(
        "a body at the limit",
        post("Content-Length: 1024\r\n", String(repeating: "a", count: 1024)),
        "POST /p " + String(repeating: "a", count: 1024)),
      .init(
        "trailers at the limit",
        post("Transfer-Encoding: chunked\r\n", "0\r\n" + many(20) + "\r\n"), "POST /p"),
      .init(
        "trailers one above",
        post("Transfer-Encoding: chunked\r\n", "0\r\n" + many(21) + "\r\n"), "POST /p 431"),
    ]
  }()
}
