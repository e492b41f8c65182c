import LoopbackHTTP
import Testing

@Suite("Requests out of bytes")
struct ParserTests {
  private static let limits = HTTPLimits(
    requestLineBytes: 200, headerBytes: 400, fieldCount: 20, bodyBytes: 1024)

  /// The result of parsing bytes that arrive in these pieces.
  private func outcome(_ pieces: [ArraySlice<UInt8>]) -> String {
    var parser = HTTPRequestParser(limits: Self.limits)
    var requests: [String] = []
    var current: (head: HTTPRequestHead, body: [UInt8])?
    func told() -> String? {
      current.map { request in
        let head = request.head
        let body = request.body.isEmpty ? "" : " " + String(decoding: request.body, as: UTF8.self)
        return "\(head.method) \(head.path)\(head.query.map { "?\($0)" } ?? "")"
          + (head.expectsContinue ? " waits" : "") + body + (head.keepsAlive ? "" : " closes")
      }
    }
    for piece in pieces {
      parser.append(piece)
      do throws(HTTPRefusal) {
        while let event = try parser.next() {
          switch event {
          case .head(let head): current = (head, [])
          case .body(let bytes): current?.body += bytes
          case .end:
            requests += told().map { [$0] } ?? []
            current = nil
          }
        }
      } catch {
        // A refusal stays, whatever else comes.
        parser.append(Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        #expect(throws: error) { try parser.next() }
        let end = (told().map { "\($0) " } ?? "") + "\(error.status)"
        return (requests + [end]).joined(separator: ", ")
      }
    }
    if let rest = told() { return (requests + ["\(rest) ..."]).joined(separator: ", ") }
    return (requests + (parser.isInsideRequest ? ["..."] : [])).joined(separator: ", ")
  }

  /// Proves TH-1, TH-10, TH-11.
  @Test("Each case parses the same whole, byte by byte and split in two at any position")
  func parserCasesAreIndependentOfSplitting() {
    let cases = ParserCase.all
    #expect(cases.count >= 320 && Set(cases.map(\.name)).count == cases.count)
    for each in cases {
      #expect(outcome([each.bytes[...]]) == each.outcome, "\(each.name)")
      let bytes = each.bytes.indices.map { each.bytes[$0...$0] }
      #expect(outcome(bytes) == each.outcome, "\(each.name), byte by byte")
      for cut in stride(from: 1, to: each.bytes.count, by: max(1, each.bytes.count / 100)) {
        let pieces = [each.bytes[..<cut], each.bytes[cut...]]
        #expect(outcome(pieces) == each.outcome, "\(each.name), cut at \(cut)")
      }
    }
  }

  /// Proves I23, TH-15.
  @Test("Hostile bytes from seeds never trap, and parse the same however they are split")
  func hostileBytesNeverTrapParser() {
    var random = Random(state: 20)
    let seeds = ParserCase.all.map(\.bytes)
    for _ in 0..<20_000 {
      var bytes = seeds[random.next(seeds.count)]
      for _ in 0...random.next(4) where !bytes.isEmpty {
        let place = random.next(bytes.count)
        switch random.next(4) {
        case 0: bytes[place] = UInt8(random.next(256))
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(UInt8(random.next(256)), at: place)
        default: bytes.append(contentsOf: seeds[random.next(seeds.count)])
        }
      }
      let cut = bytes.isEmpty ? 0 : random.next(bytes.count)
      #expect(outcome([bytes[...]]) == outcome([bytes[..<cut], bytes[cut...]]), "\(bytes)")
    }
  }

  /// Proves TH-1.
  @Test("The host policy accepts and rejects hosts, origins and sites")
  func hostPolicyFiltersHostsAndOrigins() {
    let policy = HostPolicy(port: 8080)
    func status(_ lines: [(String, String)]) -> Int? {
      policy.refusal(
        of: HTTPRequestHead(
          method: "GET", path: "/", query: nil, minorVersion: 1,
          fields: lines.map { .init(name: $0.0, value: $0.1) }))?.status
    }
    for host in ["127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080"] {
      #expect(status([("host", host)]) == nil, "\(host)")
    }
    let foreign = [
      "", "evil.example", "evil.example:8080", "localhost", "localhost:80", "localhost:8081",
      "localhost.:8080", "localhost.evil.example:8080", "evil.localhost:8080", "127.0.0.1",
      "127.0.0.2:8080", "127.1:8080", "2130706433:8080", "0x7f000001:8080", "0.0.0.0:8080",
      "[::]:8080", "[::1]", "[::1]:8080", "::1:8080", "[::ffff:127.0.0.1]:8080",
      "[0:0:0:0:0:0:0:1]:8080",
      "localhost:8080,evil.example", "localhost:8080 ", "user@localhost:8080", "localhost:08080",
      "localhost:8080/", "http://localhost:8080", "localhost:", "localhost:+8080", "*:8080",
      "loc\u{E5}lhost:8080",
    ]
    #expect(foreign.count >= 30)
    for host in foreign { #expect(status([("host", host)]) == 403, "\(host)") }
    #expect(status([]) == 400)
    func statusOfHTTP10(_ lines: [(String, String)]) -> Int? {
      policy.refusal(
        of: HTTPRequestHead(
          method: "GET", path: "/", query: nil, minorVersion: 0,
          fields: lines.map { .init(name: $0.0, value: $0.1) }))?.status
    }
    #expect(statusOfHTTP10([]) == nil)
    #expect(statusOfHTTP10([("host", "evil.example")]) == 403)
    #expect(statusOfHTTP10([("origin", "http://evil.example")]) == 403)
    #expect(statusOfHTTP10([("sec-fetch-site", "cross-site")]) == 403)
    #expect(status([("host", "localhost:8080"), ("host", "localhost:8080")]) == 400)
    let own = ("host", "localhost:8080")
    for line in [
      ("origin", "http://localhost:8080"), ("origin", "http://127.0.0.1:8080"),
      ("sec-fetch-site", "same-origin"), ("sec-fetch-site", "none"),
    ] { #expect(status([own, line]) == nil, "\(line)") }
    for line in [
      ("origin", "null"), ("origin", ""), ("origin", "http://evil.example"),
      ("origin", "https://localhost:8080"), ("origin", "http://localhost"),
      ("origin", "http://localhost:8081"), ("origin", "http://localhost:8080.evil.example"),
      ("origin", "file://"), ("sec-fetch-site", "cross-site"), ("sec-fetch-site", "same-site"),
      ("sec-fetch-site", "CROSS-SITE"),
    ] { #expect(status([own, line]) == 403, "\(line)") }
    let twice = [own, ("origin", "http://localhost:8080"), ("origin", "http://evil.example")]
    #expect(status(twice) == 403)
    #expect(
      HostPolicy(port: 80).refusal(
        of: HTTPRequestHead(
          method: "GET", path: "/", query: nil, minorVersion: 1,
          fields: [.init(name: "host", value: "localhost")])) == nil)
  }

  @Test("Answers are encoded with length, without a body for HEAD and 204, and as refusals")
  func responsesAreEncodedAsBytes() {
    func text(_ response: HTTPResponse, _ method: String = "GET", closes: Bool = false) -> String {
      String(decoding: response.bytes(for: method, closes: closes), as: UTF8.self)
    }
    let ok = HTTPResponse(200, fields: [.init(name: "a", value: "b")], body: Array("hello".utf8))
    #expect(text(ok) == "HTTP/1.1 200 OK\r\na: b\r\ncontent-length: 5\r\n\r\nhello")
    #expect(text(ok, "HEAD") == "HTTP/1.1 200 OK\r\na: b\r\ncontent-length: 5\r\n\r\n")
    #expect(text(HTTPResponse(204, body: [1])) == "HTTP/1.1 204 No Content\r\n\r\n")
    let refused = text(HTTPResponse(HTTPRefusal(413, "too long")), closes: true)
    #expect(refused.hasPrefix("HTTP/1.1 413 Content Too Large\r\n"))
    #expect(refused.contains("\r\nconnection: close\r\n\r\n{"))
    #expect(refused.contains(#""serverErrorCode":"BAD_REQUEST","reason":"too long""#), "\(refused)")
  }
}

/// Numbers from a seed.
private struct Random {
  var state: UInt64

  mutating func next(_ bound: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(bound))
  }
}
