/// Requests whose end nobody can be sure of.
extension HostileRequests {
  /// The last request of a connection.
  func broken(_ random: inout Randomness) -> Request {
    let valid = framed(&random)
    var request = Request(
      level: "random bytes", bytes: [], isAlices: valid.isAlices, isFramed: false)
    switch random.below(8) {
    case 0: request.bytes = random.bytes(1 + random.below(400))
    case 1:
      request.level = "request line"
      request.bytes = requestLine(valid.bytes, &random)
    case 2:
      request.level = "header"
      request.bytes = header(&random)
    case 3:
      request.level = "framing"
      request.bytes = framing(&random)
    case 4:
      request.level = "chunks"
      request.bytes = chunks(&random)
    case 5:
      request.level = "cut"
      request.bytes = Array(valid.bytes.prefix(random.below(valid.bytes.count)))
    case 6:
      request.level = "huge"
      request.bytes = huge(&random)
    default:
      request.level = "damaged"
      request.bytes = random.damaged(valid.bytes)
    }
    request.isHead = request.bytes.starts(with: Array("HEAD ".utf8))
    return request
  }

  private func requestLine(_ bytes: [UInt8], _ random: inout Randomness) -> [UInt8] {
    let line = random.pick([
      "GET  / HTTP/1.1", "GET / HTTP/1.2", "GET / HTTP/2.0", "GET / http/1.1", "GET /", "GET",
      "/ HTTP/1.1", "GET http://localhost/ HTTP/1.1", "GET / HTTP/1.1 x", "GET\t/\tHTTP/1.1",
      "CONNECT a:1 HTTP/1.1", "OPTIONS * HTTP/1.1", "PRI * HTTP/2.0", "GET /%zz HTTP/1.1",
      "GET /\u{1}a HTTP/1.1", "GET /é HTTP/1.1", " GET / HTTP/1.1", "\r\n\r\nGET / HTTP/1.1",
      "G(T / HTTP/1.1", "GET /#a HTTP/1.1", "GET / HTTP/1.1\r", "GET / HTTP/-1.1",
      "GET / HTTP/99999999999999999999.1",
    ])
    let rest = bytes.drop { $0 != 13 }
    return Array(line.utf8) + rest
  }

  private func header(_ random: inout Randomness) -> [UInt8] {
    var text = "GET / HTTP/1.1\r\nHost: localhost:\(land.keys.port)\r\n"
    for _ in 0...random.below(3) {
      text += random.pick([
        "Host: localhost\r\n", " folded: x\r\n", "\tfolded\r\n", "no colon\r\n", ": no name\r\n",
        "a b: c\r\n", "a : b\r\n", "a: b\rc\r\n", "a: b\nc: d\r\n", "a: \u{0}\r\n", "a: \u{7F}\r\n",
        "é: x\r\n", "Connection: close\r\n", "Connection: keep-alive, close, x\r\n",
        "Expect: 200-ok\r\n", String(repeating: "a: b\r\n", count: 101),
        "a: \(String(repeating: "b", count: 17000))\r\n",
        "\(String(repeating: "n", count: 9000)): x\r\n",
      ])
    }
    var bytes = Array(text.utf8)
    if random.happens(20) { bytes += [0xFF, 0xC0, 0x80] }
    return bytes + Array("\r\n".utf8)
  }

  private func framing(_ random: inout Randomness) -> [UInt8] {
    let lines = [
      "Content-Length: 5", "Content-Length: +5", "Content-Length: -1", "Content-Length: 0x5",
      "Content-Length: 5, 5", "Content-Length: 99999999999999999999", "Content-Length: 5 5",
      "Content-Length: 9223372036854775807", "Content-Length: 18446744073709551616",
      "Content-Length:", "Content-Length: 1e3", "Content-Length : 5", "Content-Length: 00000005",
      "Transfer-Encoding: chunked", "Transfer-Encoding: gzip", "Transfer-Encoding: chunked, gzip",
      "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: x-chunked", "Transfer-Encoding:",
      "Transfer-Encoding: CHUNKED", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
      "Transfer-Encoding : chunked", "Transfer-Encoding: \u{B}chunked", "Content-Length: 65000000",
      "Content-Length: 25000000", "Content-Length: 67108865",
    ]
    var text = "POST \(land.target("records/lookup", web: land.keys.mallory)) HTTP/1."
    text += random.pick(["1", "1", "1", "0"]) + "\r\nHost: localhost:\(land.keys.port)\r\n"
    for _ in 0...random.below(2) { text += random.pick(lines) + "\r\n" }
    text += "\r\n" + random.pick(["hello", "0\r\n\r\n", "5\r\nhello\r\n0\r\n\r\n", "{}", ""])
    // What another reader might take for a request of its own.
    if random.happens(50) { text += "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n" }
    return Array(text.utf8)
  }

  private func chunks(_ random: inout Randomness) -> [UInt8] {
    var text =
      "POST \(land.target("records/lookup", web: land.keys.mallory)) HTTP/1.1\r\n"
      + "Host: localhost:\(land.keys.port)\r\nTransfer-Encoding: chunked\r\n\r\n"
    for _ in 0...random.below(3) {
      text += random.pick([
        "2\r\n{}\r\n", "FFFFFFFF\r\n", "100000000\r\n", "-1\r\n", "0x2\r\n{}\r\n", " 2\r\n{}\r\n",
        "2 \r\n{}\r\n", "g\r\n", "\r\n", "2\n{}\n", "1\r\n{}\r\n", "3\r\n{}\r\n",
        "2;\u{0}\r\n{}\r\n",
        "2;\(String(repeating: "x", count: 300))\r\n{}\r\n", "00000000000000002\r\n{}\r\n",
        "7fffffff\r\n", "3FFFFFF\r\nabc", "0\r\nbad trailer\r\n\r\n",
        "0\r\n\(String(repeating: "t: x\r\n", count: 120))\r\n",
      ])
    }
    if random.happens(50) { text += "0\r\n\r\n" }
    return Array(text.utf8)
  }

  private func huge(_ random: inout Randomness) -> [UInt8] {
    let target = land.target("records/lookup", web: land.keys.mallory)
    switch random.below(5) {
    case 0: return Array("GET /\(String(repeating: "a", count: 20000)) HTTP/1.1\r\n".utf8)
    case 1: return [UInt8](repeating: UInt8(ascii: "A"), count: 100_000)
    case 2: return [UInt8](repeating: 13, count: 1000) + [UInt8](repeating: 10, count: 1000)
    case 3:
      // Announced, begun, and never ended.
      let head =
        "POST \(target) HTTP/1.1\r\nHost: localhost:\(land.keys.port)\r\n"
        + "Content-Length: 20000000\r\n\r\n"
      return Array(head.utf8) + [UInt8](repeating: 32, count: random.below(200_000))
    default:
      let body = [UInt8](repeating: UInt8(ascii: "["), count: 300_000)
      let head =
        "POST \(target) HTTP/1.1\r\nHost: localhost:\(land.keys.port)\r\n"
        + "Content-Length: \(body.count)\r\n\r\n"
      return Array(head.utf8) + body
    }
  }
}
