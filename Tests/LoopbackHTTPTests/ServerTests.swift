import Testing
import VerificationSupport

@testable import LoopbackHTTP

@Suite("A server on sockets: requests and answers", .timeLimit(.minutes(20)))
struct ServerTests {
  /// Proves TH-10.
  @Test("Each parser case gives the same requests over a socket, and a refusal ends the connection")
  func serverAnswersParserCasesOverSocket() async throws {
    let limits = HTTPLimits(
      requestLineBytes: 200, headerBytes: 400, fieldCount: 20, bodyBytes: 1024)
    try await ServerHarness.run(HTTPServerOptions { $0.limits = limits }) { harness in
      for (index, each) in ParserCase.all.enumerated() {
        let expected = Expectation(each.bytes, limits)
        let client = try harness.client()
        // Whole, and byte by byte: the server must not see the difference.
        await client.send(each.bytes, pieces: index.isMultiple(of: 4) ? 1 : .max)
        var answers: [String] = []
        for (method, _) in expected.answers {
          var answer = try await client.answer(to: method)
          if answer.status == 100 { answer = try await client.answer(to: method) }
          answers.append(answer.status == 200 ? answer.text : "\(answer.status)")
        }
        #expect(answers == expected.answers.map(\.text), "\(each.name)")
        if expected.isEnd { #expect(await client.end() == .closed, "\(each.name)") }
        await client.close()
      }
      await harness.reach(connections: 0)
    }
  }

  /// The expected responses to bytes, derived from the parser's result.
  private struct Expectation {
    var answers: [(method: String, text: String)] = []
    var isEnd = false

    init(_ bytes: [UInt8], _ limits: HTTPLimits) {
      var parser = HTTPRequestParser(limits: limits)
      parser.append(bytes)
      var request: HTTPRequest?
      do throws(HTTPRefusal) {
        while !isEnd, let event = try parser.next() {
          switch event {
          case .head(let head): request = HTTPRequest(head: head)
          case .body(let piece): request?.body += piece
          case .end:
            guard let whole = request else { continue }
            let isHead = whole.head.method == "HEAD"
            answers.append((whole.head.method, isHead ? "" : ServerHarness.told(whole)))
            isEnd = !whole.head.keepsAlive
            request = nil
          }
        }
      } catch {
        answers.append((request?.head.method ?? "GET", "\(error.status)"))
        isEnd = true
      }
    }
  }

  @Test("Answers are in order and have a length, HEAD has no body, and values add no header")
  func serverAnswersInOrderWithLength() async throws {
    try await ServerHarness.run { harness in
      let client = try harness.client()
      let pipeline =
        harness.get("/a") + harness.get("/b", method: "HEAD")
        + "POST /c HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n" + harness.get("/none")
      for pieces in [Int.max, 1, 7] {
        await client.send(pipeline, pieces: pieces)
        let a = try await client.answer()
        #expect(
          a.status == 200 && a.text == "GET /a"
            && a.lines == ["x-echo: a  b", "content-length: 6"])
        let b = try await client.answer(to: "HEAD")
        #expect(b.length == 7 && b.body.isEmpty)
        #expect(try await client.answer().text == "POST /c abcdefg")
        #expect(try await client.answer().status == 500)
      }
      let kept = try await client.ask("GET /d HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
      #expect(kept.text == "GET /d" && kept.lines.contains("connection: keep-alive"))
      let last = try await client.ask("GET /e HTTP/1.0\r\n\r\n")
      #expect(last.text == "GET /e" && last.closes)
      #expect(await client.end() == .closed)
      let ending = try harness.client()
      let answer = try await ending.ask(harness.get("/f", fields: ["Connection: close"]))
      #expect(answer.closes)
      #expect(await ending.end() == .closed)
      // A client that ends its side still gets its answer.
      let half = try harness.client()
      await half.send(harness.get("/g"))
      await half.endWriting()
      #expect(try await half.answer().text == "GET /g")
      #expect(await half.end() == .closed)
    }
  }

  @Test("The bodies of all requests have a limit in memory, also those that handlers have")
  func bodiesOfAllRequestsHaveLimit() async throws {
    try await ServerHarness.run(HTTPServerOptions { $0.bodyMemory = 1 << 20 }) { harness in
      func post(_ path: String, _ count: Int) -> String {
        harness.get(path, method: "POST", fields: ["Content-Length: \(count)"])
          + String(repeating: "x", count: count)
      }
      let (first, second) = (try harness.client(), try harness.client())
      await first.send(post("/wait", 900_000))
      await harness.started.wait()
      let small = try await second.ask(post("/a", 60_000))
      #expect(small.status == 200, "a small body is always taken")
      await second.send(post("/b", 200_000))
      let refused = try await second.answer()
      #expect(refused.status == 503 && refused.closes)
      harness.release.fire()
      #expect(try await first.answer().status == 200)
      #expect(try await first.ask(post("/c", 900_000)).status == 200, "its memory is free again")
    }
  }

  /// Proves TH-11.
  @Test("A request is refused before its body, or asked to continue, and gets 413 at the limit")
  func inadmissibleRequestIsRefusedBeforeBody() async throws {
    try await ServerHarness.run { harness in
      // Without a body the connection stays.
      let staying = try harness.client()
      #expect(try await staying.ask(harness.get("/forbidden")).status == 403)
      #expect(try await staying.ask(harness.get("/a")).text == "GET /a")

      let long = String(repeating: "x", count: 1 << 20)
      let waits = "Expect: 100-continue"
      let cases: [(head: String, body: String, statuses: [Int], ends: Bool)] = [
        (
          harness.get("/forbidden", fields: ["Content-Length: \(long.utf8.count)"]), long,
          [403], true
        ),
        (harness.get("/forbidden", fields: ["Content-Length: 5", waits]), "", [403], true),
        (harness.get("/small", fields: ["Content-Length: 10"]), "0123456789", [200], false),
        (harness.get("/small", fields: ["Content-Length: 11", waits]), "", [413], true),
        (harness.get("/small", fields: ["Content-Length: \(long.utf8.count)"]), long, [413], true),
        (
          harness.get("/small", fields: ["Transfer-Encoding: chunked"]),
          "a\r\n0123456789\r\n1\r\n0\r\n0\r\n\r\n", [413], true
        ),
        (
          harness.get("/small", fields: ["Transfer-Encoding: chunked"]),
          "a\r\n0123456789\r\n0\r\n\r\n", [200], false
        ),
        (harness.get("/a", fields: ["Content-Length: 3", waits]) + "abc", "", [200], false),
      ]
      for each in cases {
        let client = try harness.client()
        await client.send(each.head)
        await client.send(each.body)
        for status in each.statuses {
          #expect(try await client.answer().status == status, "\(each.head)")
        }
        if each.ends {
          #expect(await client.end() == .closed, "\(each.head)")
        } else {
          #expect(try await client.ask(harness.get("/b")).text == "GET /b", "\(each.head)")
        }
      }

      let waiting = try harness.client()
      let head = harness.get("/a", method: "PUT", fields: ["Content-Length: 3", waits])
      #expect(try await waiting.ask(head).status == 100)
      #expect(try await waiting.ask("abc").text == "PUT /a abc")
    }
  }

  @Test("A body is read after the check of its request, for which no other client waits")
  func bodyIsReadAfterCheck() async throws {
    try await ServerHarness.run { harness in
      let post = { (path: String, fields: [String]) in
        harness.get(path, method: "POST", fields: ["Content-Length: 3"] + fields)
      }
      let whole = try harness.client()
      await whole.send(post("/checked", []) + "abc" + harness.get("/b"))
      await harness.started.wait()
      let other = try harness.client()
      #expect(try await other.ask(harness.get("/a")).text == "GET /a")
      let gone = try harness.client()
      await gone.send(post("/checked", []))
      await gone.close()
      let waiting = ["Expect: 100-continue"]
      let accepted = try harness.client()
      await accepted.send(post("/checked", waiting))
      let refused = try harness.client()
      await refused.send(post("/checked?refused", waiting))
      #expect(try await other.ask(harness.get("/a")).text == "GET /a")
      #expect(harness.handled == 2)
      harness.release.fire()
      #expect(try await whole.answer().text == "POST /checked abc")
      #expect(try await whole.answer().text == "GET /b")
      #expect(try await accepted.answer().status == 100)
      #expect(try await accepted.ask("abc").text == "POST /checked abc")
      #expect(try await refused.answer().status == 403)
      #expect(await refused.end() == .closed)
      let long = harness.get("/checked", method: "POST", fields: ["Content-Length: 11"])
      #expect(try await other.ask(long).status == 413)
    }
  }

  /// Proves I23, TH-15.
  @Test("Hostile bytes from seeds leave the server running, and none of their state remains")
  func hostileBytesLeaveServerRunning() async throws {
    try await ServerHarness.run { harness in
      var state: UInt64 = 7
      func random(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(max(1, bound)))
      }
      let seeds = ParserCase.all.map(\.bytes)
      for round in 0..<1500 {
        var bytes = seeds[random(seeds.count)] + seeds[random(seeds.count)]
        for _ in 0...random(5) where !bytes.isEmpty {
          bytes[random(bytes.count)] = UInt8(random(256))
        }
        let client = try harness.client()
        await client.send(bytes)
        if random(2) == 0 { await client.endWriting() }
        await client.close()
        guard round.isMultiple(of: 100) else { continue }
        #expect(try await harness.client().ask(harness.get("/a")).text == "GET /a")
      }
      await harness.reach(connections: 0)
    }
  }

  /// Proves TH-5.
  @Test("The server listens on its address only, and explains why it cannot listen")
  func serverListensOnlyOnLoopbackAddress() async throws {
    try await ServerHarness.run { harness in
      let port = harness.server.port
      #if os(Linux)
        // This address only, not every address of this machine: another one of its own is shut.
        #expect(throws: TestClient.End.refused) {
          _ = try TestClient(port: port, address: 0x7F00_0002)
        }
      #endif
      func failure(_ port: Int) -> String {
        do throws(HTTPServerError) {
          _ = try HTTPServer(HTTPServerOptions(port: port)) { _ in
            .accept(bodyBytes: 0)
          } handler: { _ in
            HTTPResponse(200)
          }
          return "none"
        } catch {
          return "\(error)"
        }
      }
      #expect(failure(port).contains("port \(port) of 127.0.0.1 is in use"))
      for port in [-1, 65536, .max] {
        #expect(failure(port).contains("\(port) is not a valid port"))
      }
    }
  }
}
