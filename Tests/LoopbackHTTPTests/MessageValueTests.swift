import LoopbackServer
import Testing

@testable import LoopbackHTTP

@Suite("Values of requests and responses")
struct MessageValueTests {
  private func head(
    _ fields: [(String, String)], authority: String? = nil
  ) -> HTTPRequestHead {
    HTTPRequestHead(
      method: "POST", path: "/", query: nil, authority: authority, minorVersion: 1,
      fields: fields.map { .init(name: $0.0, value: $0.1) })
  }

  @Test("The last elements of a proxy's fields replace the host and give the scheme")
  func forwardedFieldsReplaceHostAndScheme() {
    let rows: [(host: String?, scheme: String?, wanted: [String?])] = [
      (nil, nil, ["own", "target", nil]), ("a, \tb ", nil, ["b", nil, nil]),
      ("", "https", ["own", "target", "https"]), ("a,", "http", ["own", "target", "http"]),
      ("a", "HTTPS", ["a", nil, "https"]), (nil, "ftp", ["own", "target", nil]),
      (nil, "https, http", ["own", "target", "http"]), (nil, "", ["own", "target", nil]),
    ]
    for (host, scheme, wanted) in rows {
      var fields = [("host", "own"), ("x-other", "kept")]
      if let host { fields.append(("x-forwarded-host", host)) }
      if let scheme { fields.append(("x-forwarded-proto", scheme)) }
      var head = head(fields, authority: "target")
      head.takeForwarded()
      let found = [head.value("host"), head.authority, head.scheme]
      #expect(found == wanted, "\(host ?? "-") \(scheme ?? "-")")
      #expect(head.value("x-other") == "kept")
    }
  }

  @Test("A list has the trimmed parts between commas of all lines, a value occurs once")
  func listsAndSingleValues() {
    let head = head([("a", " x ,\ty\t,,z"), ("b", ""), ("a", "w"), ("c", "1")])
    #expect(head.list("a") == ["x", "y", "", "z", "w"])
    #expect(head.list("b") == [""] && head.list("d") == [])
    #expect(head.value("a") == nil && head.value("c") == "1" && head.value("d") == nil)
  }

  @Test("A body is coded if a coding other than identity is named, and there is a body")
  func codedBodyNamesCoding() {
    for (coding, framing, isCoded) in [
      (nil, .chunked, false), ("gzip", .chunked, true), ("gzip", .length(1), true),
      ("gzip", .length(0), false), ("identity", .length(1), false), ("IDENTITY", .chunked, false),
      ("", .chunked, false), ("identity, ", .chunked, false), ("identity, br", .chunked, true),
    ] as [(String?, HTTPRequestHead.Framing, Bool)] {
      var head = head(coding.map { [("content-encoding", $0)] } ?? [])
      head.framing = framing
      #expect(head.hasCodedBody == isCoded, "\(coding ?? "-") \(framing)")
    }
  }

  @Test("Responses of 200 and above have a body, but those of 204 and 304")
  func statusesDecideAboutBodies() {
    for (status, hasBody) in [
      (100, false), (199, false), (200, true), (203, true), (204, false), (205, true),
      (303, true), (304, false), (305, true), (599, true),
    ] {
      let response = HTTPResponse(status, body: Array("body".utf8))
      #expect(response.hasBody == hasBody, "\(status)")
      let text = String(decoding: response.bytes(closes: false, date: "now"), as: UTF8.self)
      #expect(text.contains("\r\ndate: now\r\n"))
      #expect(text.contains("content-length: 4") == hasBody, "\(status)")
      #expect(text.hasSuffix("\r\n\r\nbody") == hasBody, "\(status)")
    }
  }

  @Test("A refusal of an item has its index, and the code of its status")
  func refusalsHaveCodes() {
    let codes = [
      400: "BAD_REQUEST", 401: "AUTHENTICATION_FAILED", 403: "ACCESS_DENIED", 404: "NOT_FOUND",
      408: "TRY_AGAIN_LATER", 413: "BAD_REQUEST", 429: "THROTTLED", 500: "INTERNAL_ERROR",
      503: "TRY_AGAIN_LATER",
    ]
    for (status, code) in codes {
      let refusal = HTTPRefusal(status, "why")
      #expect(refusal.code == code && refusal.index == nil && "\(refusal)" == "\(status): why")
      #expect(refusal.inItem(3).index == 3 && refusal.inItem(3).code == code)
    }
  }

  @Test("An address is four numbers, or groups in brackets; a port belongs to CONNECT")
  func addressesAreRecognized() {
    for (text, isAddress) in [
      ("1.2.3.4", true), ("0.0.0.0", true), ("255.255.255.255", true), ("[::1]", true),
      ("[::]", true), ("[1:2:3:4:5:6:7:8]", true), ("1.2.3", false), ("1.2.3.4.5", false),
      ("1.2.3.256", false), ("01.2.3.4", false), ("1.2.3.+4", false), ("1.2..4", false),
      ("", false), ("a", false), ("::1", false), ("[::1", false), ("::1]", false), ("[]", false),
      ("[1.2.3.4]", false), ("[a.b]", false), ("[", false), ("1:2:3:4:5:6:7:8", false),
    ] {
      #expect(HTTPAuthority.isAddress(text) == isAddress, "'\(text)'")
    }
    for (text, host, hasPort) in [
      ("a:1", "a", true), ("a", "a", false), ("a:", "a", false), ("[::1]:1", "[::1]", true),
      ("[::1]", "[::1]", false), ("a:x", nil, false), (":1", nil, false), ("a:65536", nil, false),
    ] as [(String, String?, Bool)] {
      #expect(HTTPAuthority.host(of: text) == host, "'\(text)'")
      #expect(HTTPAuthority.isValidWithPort(text) == hasPort, "'\(text)'")
    }
  }

  @Test("An item of a query is decoded if it occurs once")
  func itemOfQueryIsDecoded() {
    let items = QueryItems("a=1&b=2&b=3&&c&d=&e=x=y&f=%7E+%2B&g=%zz&=h")
    for (name, value, count) in [
      ("a", "1", 1), ("b", nil, 2), ("c", "", 1), ("d", "", 1), ("e", "x=y", 1), ("f", "~ +", 1),
      ("g", nil, 1), ("h", nil, 0), ("", "h", 1),
    ] as [(String, String?, Int)] {
      #expect(items[name] == value && items.count(name) == count, "'\(name)'")
    }
    #expect(QueryItems(nil)["a"] == nil && QueryItems("").count("") == 0)
  }

  @Test("A server for this machine listens on a loopback address, and others have their own name")
  func hostsAreNamedInURLs() {
    for (host, isLoopback, name) in [
      ("127.0.0.1", true, nil), ("localhost", true, nil), ("LocalHost", true, nil),
      ("127.0.0.2", true, "127.0.0.2"), ("::1", true, "[::1]"), ("0.0.0.0", false, nil),
      ("::", false, nil), ("10.0.0.1", false, "10.0.0.1"), ("fd00::1", false, "[fd00::1]"),
      ("sync.example", false, "sync.example"),
    ] as [(String, Bool, String?)] {
      var options = LoopbackWebServer.Options()
      options.host = host
      #expect(options.isLoopback == isLoopback && options.ownName == name, "\(host)")
    }
    #expect(LoopbackWebServer.Options().webTokenSeconds == 1_209_600)
  }

  @Test("Before a server is ready every request is refused with 503")
  func startingServerRefusesRequests() async {
    let router = RequestRouter(.init(), ServerMetrics(), ContinuousClock())
    let head = head([("host", "localhost")])
    guard case .refuse(let refusal) = router.admission(head) else {
      Issue.record("the request is accepted")
      return
    }
    #expect(refusal.status == 503)
    #expect(await router.answer(HTTPRequest(head: head))?.status == 503)
    #expect(router.noteRefusal(head, refusal).isEmpty && router.noteRefusal(nil, refusal).isEmpty)
  }
}
