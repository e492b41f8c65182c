import SimulationSupport

/// Requests whose end can't be found with certainty.
extension HostileRequests {
  /// The last request of a connection.
  func broken(_ random: inout SeededRandom) -> Request {
    let valid = framed(&random)
    let (level, bytes): (String, [UInt8]) =
      switch random.below(8) {
      case 0: ("random bytes", random.bytes(1 + random.below(400)))
      case 1: ("request line", requestLine(valid.bytes, &random))
      case 2: ("header", header(&random))
      case 3: ("framing", framing(&random))
      case 4: ("chunks", chunks(&random))
      case 5: ("cut", Array(valid.bytes.prefix(random.below(valid.bytes.count))))
      case 6: ("huge", huge(&random))
      default: ("damaged", random.damaged(valid.bytes))
      }
    return Request(
      level: level, bytes: bytes, isHead: bytes.starts(with: "HEAD ".utf8),
      isAlices: valid.isAlices, isFramed: false)
  }

  private func requestLine(_ bytes: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
    Array(texts.pick(texts.requestLines, &random).utf8) + bytes.drop { $0 != 13 }
  }

  private func header(_ random: inout SeededRandom) -> [UInt8] {
    var text = "GET / HTTP/1.1\r\nHost: localhost:\(access.port)\r\n"
    for _ in 0...random.below(3) { text += texts.pick(texts.headers, &random) + "\r\n" }
    let tail: [UInt8] = random.happens(20) ? [0xFF, 0xC0, 0x80] : []
    return Array(text.utf8) + tail + [13, 10]
  }

  /// The beginning of a request that looks up records.
  private func lookup(_ version: String = "1") -> String {
    "POST \(access.target("records/lookup", web: access.mallory)) HTTP/1.\(version)\r\n"
      + "Host: localhost:\(access.port)\r\n"
  }

  private func framing(_ random: inout SeededRandom) -> [UInt8] {
    var text = lookup(random.pick(["1", "1", "1", "0"]))
    for _ in 0...random.below(2) { text += texts.pick(texts.framings, &random) + "\r\n" }
    text += "\r\n" + random.pick(["hello", "0\r\n\r\n", "5\r\nhello\r\n0\r\n\r\n", "{}", ""])
    // What another reader might take for a separate request.
    if random.happens(50) { text += "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n" }
    return Array(text.utf8)
  }

  private func chunks(_ random: inout SeededRandom) -> [UInt8] {
    var text = lookup() + "Transfer-Encoding: chunked\r\n\r\n"
    for _ in 0...random.below(3) { text += texts.pick(texts.chunks, &random) }
    if random.happens(50) { text += "0\r\n\r\n" }
    return Array(text.utf8)
  }

  private func huge(_ random: inout SeededRandom) -> [UInt8] {
    func bytes(_ byte: UInt8, _ count: Int) -> [UInt8] { Array(repeating: byte, count: count) }
    func request(_ length: Int, _ body: [UInt8]) -> [UInt8] {
      Array("\(lookup())Content-Length: \(length)\r\n\r\n".utf8) + body
    }
    return switch random.below(5) {
    case 0: Array("GET /\(String(repeating: "a", count: 20000)) HTTP/1.1\r\n".utf8)
    case 1: bytes(UInt8(ascii: "A"), 100_000)
    case 2: bytes(13, 1000) + bytes(10, 1000)
    // Announced, begun, and never ended.
    case 3: request(20_000_000, bytes(32, random.below(200_000)))
    default: request(300_000, bytes(UInt8(ascii: "["), 300_000))
    }
  }
}
