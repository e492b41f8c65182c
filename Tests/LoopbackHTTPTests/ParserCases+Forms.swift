/// The forms that the RFCs define for each part of a request that has a grammar, one a row.
///
/// Sources: RFC 9110, sections 2.5, 4.2, 7.2 and 9; RFC 9112, sections 2.3, 3.2, 6 and 7.1;
/// RFC 3986, sections 3.2 and 6.2.
extension ParserCase {
  static let forms = targets + versions + codings + hosts + chunkLines

  /// A method, a target, and what it means or the status of the refusal.
  private static let targets: [ParserCase] = [
    ("GET", "http://localhost:1/", "/"), ("GET", "http://localhost:1", "/"),
    ("GET", "HTTP://localhost/a", "/a"), ("GET", "http://localhost/a?b=c", "/a?b=c"),
    ("GET", "http://localhost?b", "/?b"), ("GET", "http://[::1]:1/a", "/a"),
    ("GET", "http://other.example/a", "/a"), ("POST", "http://localhost/a", "/a"),
    ("GET", "http://localhost:/a", "/a"), ("GET", "http://localhost//a", "//a"),
    ("OPTIONS", "http://localhost:1", "*"), ("OPTIONS", "http://localhost:1/", "/"),
    ("OPTIONS", "http://localhost?a", "/?a"), ("OPTIONS", "/", "/"), ("OPTIONS", "*", "*"),
    ("OPTIONS", "**", "400"), ("OPTIONS", "*?a", "400"), ("HEAD", "*", "400"),
    ("POST", "*", "400"), ("DELETE", "*", "400"), ("GET", "http://", "400"),
    ("GET", "http:///a", "400"), ("GET", "http://?a", "400"), ("GET", "http://:1/a", "400"),
    ("GET", "http://user@localhost/", "400"), ("GET", "http://u:p@localhost/", "400"),
    ("GET", "http://localhost:a/", "400"), ("GET", "http://localhost:65536/", "400"),
    ("GET", "http://local host/", "400"), ("GET", "http://[::1/", "400"),
    ("GET", "http:/a", "400"), ("GET", "http:a", "400"), ("GET", "https://localhost/", "400"),
    ("GET", "ftp://localhost/", "400"), ("GET", "localhost:1", "400"), ("GET", "localhost", "400"),
    ("GET", "//localhost/a", "//localhost/a"), ("GET", "?a", "400"), ("GET", "./a", "400"),
    ("CONNECT", "localhost:443", "501"), ("CONNECT", "[::1]:443", "501"),
    ("CONNECT", "localhost", "400"), ("CONNECT", "localhost:", "400"), ("CONNECT", "/", "400"),
    ("CONNECT", "*", "400"), ("CONNECT", "http://localhost:443/", "400"),
    ("CONNECT", "localhost:443/", "400"), ("CONNECT", "user@localhost:443", "400"),
    ("GET", "/%7aones", "/zones"), ("GET", "/%7Aones%2Flist", "/zones%2Flist"),
    ("GET", "/%2e%2e/a", "/../a"), ("GET", "/%2D%5F%7E%30", "/-_~0"), ("GET", "/%20%3f", "/%20%3f"),
    ("GET", "/%25%34%31", "/%2541"), ("GET", "/a?%7a", "/a?%7a"), ("GET", "/+", "/+"),
  ].map { method, target, outcome in
    ParserCase(
      "\(method) of \(target)", "\(method) \(target) HTTP/1.1\r\nHost: localhost:1\r\n\r\n",
      outcome.count == 3 && Int(outcome) != nil ? outcome : "\(method) \(outcome)")
  }

  private static let versions: [ParserCase] = [
    ("HTTP/1.3", "GET /"), ("HTTP/1.9", "GET /"), ("HTTP/1.01", "400"), ("HTTP/01.1", "400"),
    ("HTTP/1.", "400"), ("HTTP/1", "400"), ("HTTP/.1", "400"), ("HTTP/11", "400"),
    ("HTTP/3.0", "505"), ("HTTP/0.0", "505"), ("HTTP/9.9", "505"), ("HTTP/2.1", "505"),
    ("HTTP/a.1", "400"), ("HTTP/1.a", "400"), ("HTTP/-1.1", "400"), ("HTTP /1.1", "400"),
    ("HTTP/ 1.1", "400"), ("Http/1.1", "400"), ("HTTPS/1.1", "400"), ("1.1", "400"),
    ("HTTP/1.1\u{0}", "400"), ("HTTP/1.1;a", "400"),
  ].map { ParserCase("version \($0)", "GET / \($0)\r\nHost: localhost:1\r\n\r\n", $1) }

  /// Values of `Transfer-Encoding`, each of a line of its own, before an empty body in chunks.
  private static let codings: [ParserCase] = [
    (["Chunked"], "POST /"), (["chunked \t"], "POST /"), (["\tchunked"], "POST /"),
    (["chunked, gzip"], "400"), (["chunked, identity"], "400"), (["gzip"], "400"),
    (["deflate, gzip"], "400"), (["gzip,chunked"], "501"), (["gzip", "chunked"], "501"),
    (["chunked", "gzip"], "400"), (["gzip, deflate, chunked"], "501"),
    (["x-a;b=c, chunked"], "501"),
    (["identity, chunked"], "501"), (["chunked,chunked"], "400"),
    (["chunked, gzip, chunked"], "400"),
    ([", chunked"], "400"), (["chunked, "], "400"), ([","], "400"), ([" "], "400"),
    (["gzip,, chunked"], "400"), (["chunked;q=1"], "400"), (["chunked ; a"], "400"),
    (["'chunked'"], "400"), (["chunked chunked"], "400"), (["chunkedx"], "400"),
    (["chun\u{212A}ed"], "400"),
    (["chunked\u{B}"], "400"), (["\u{C}chunked"], "400"), (["c\u{0}hunked"], "400"),
    (["=, chunked"], "400"), (["(a), chunked"], "400"), (["", "chunked"], "400"),
  ].map { values, outcome in
    let lines = values.map { "Transfer-Encoding: \($0)\r\n" }.joined()
    return ParserCase(
      "codings \(values)", "POST / HTTP/1.1\r\nHost: localhost:1\r\n\(lines)\r\n0\r\n\r\n", outcome)
  }

  /// Values of `Host`.
  private static let hosts: [ParserCase] =
    [
      "localhost", "a.b.c", "a_b~c-d", "127.0.0.1", "1.2.3.4.5", "a:0", "a:65535", "a:00080", "a:",
      "!$&'()*+,;=", "%41b", "[::1]", "[::1]:80", "[::]", "[1:2:3:4:5:6:7:8]", "[1::8]",
      "[::ffff:1.2.3.4]", "[1:2:3:4:5:6:1.2.3.4]", "[ABCD::ef]", "[1:2:3:4:5:6:7::]",
      "[1:2:3:4:5::1.2.3.4]", "[::0.0.0.0]", "%41z",
      "[v1.abc]", "[V1F.a:b-c!]:80", "[v1.a.b]",
    ].map { ($0, "GET /") }.map(host)
    + [
      "", " ", ":", ":80", "a:b", "a:-1", "a:+1", "a:65536", "a:99999999999999999999", "a:1:2",
      "::1",
      "a b", "a/b", "a?b", "a#b", "a@b", "a\\b", "a\"b", "<a>", "a|b", "a^b", "{a}", "[a]", "[::1",
      "::1]", "[]", "[]:80", "[::1]a", "[::1]:a", "[:::1]", "[1:2:3]", "[1:2:3:4:5:6:7:8:9]",
      "[1::2::3]", "[12345::]", "[::1.2.3]", "[::1.2.3.256]", "[::01.2.3.4]", "[::1%25eth0]", "%",
      "[1:2:3:4:5:6:7:8::]", "[1:2:3:4::5:6:7:8]", "[1:2:3:4:5:6::1.2.3.4]", "[1.2.3.4::]",
      "[1.2.3.4::1]", "[::1.2.3.4:1]", "[1:1.2.3.4::]", "[::1.2.3.4.5]",
      "[v]", "[v.a]", "[v1]", "[v1.]", "[vg.a]", "[v1.%41]", "[v1.a", "[v1.a]b", "[v1.[]",
      "%4",
      "%zz", "http://a", "\u{E9}",
    ].map { ($0, "400") }.map(host)

  private static func host(_ value: String, _ outcome: String) -> ParserCase {
    ParserCase("host '\(value)'", "GET / HTTP/1.1\r\nHost: \(value)\r\n\r\n", outcome)
  }

  /// First lines of a chunk of one byte, or of a size that is refused.
  private static let chunkLines: [ParserCase] =
    [
      "1", "01", "0000000000000001", "00000000000000000001",
      String(repeating: "0", count: 200) + "1",
      "1;a", "1;a=b", "1;a=\"b\"", "1;a=\"b;c\"", "1;a=\"\\\"\"", "1;a=\"\"", "1 ;a", "1\t; a",
      "1;a = b", "1;a;b=c;d",
    ].map { ($0, "POST / a") }.map(chunk)
    + [
      "", "x", "1x", "0x1", "-0", "1 1", "1,1", "1_0", "1.0", "\u{661}", "1;", "1 ;", "1;;a",
      "1; ;a",
      "1;=b", "1;a=", "1;a=;b", "1;a=\"b", "1;a=\"b\"c", "1;a=b c", "1;a b", "1;\u{1}",
      String(repeating: "0", count: 300) + "1", "10000000000000000", "fffffffffffffffff",
    ].map { ($0, "POST / 400") }.map(chunk)
    + ["7fffffffffffffff", "8000000000000000", "FFFFFFFFFFFFFFFF", "100000000"]
    .map { ($0, "POST / 413") }.map(chunk)

  private static func chunk(_ line: String, _ outcome: String) -> ParserCase {
    ParserCase(
      "chunk '\(line)'",
      "POST / HTTP/1.1\r\nHost: localhost:1\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "\(line)\r\na\r\n0\r\n\r\n", outcome)
  }
}
