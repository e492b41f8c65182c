import CloudProtocol
import LoopbackServer
import Records
import Testing
import WebServices

@testable import LoopbackHTTP

@Suite("The console's page")
struct ConsolePageTests {
  /// Proves S8.
  @Test("The console is the same for every user, needs no token and sets a browser policy")
  func consoleIsPublicAndSetsBrowserPolicy() async throws {
    let empty = ControlWorld()
    let full = ControlWorld(allowsFaults: false)
    try await full.prepare()
    let page = await empty.routes.answer(empty.request("GET", "/console", authorization: nil))
    for target in ["/console", "/", "/console?x=1"] {
      for method in ["GET", "HEAD"] {
        let request = full.request(method, target, authorization: nil)
        #expect(await full.routes.answer(request) == page, "\(method) \(target)")
        guard case .accept(bodyBytes: 0) = full.routes.admission(request.head) else {
          Issue.record("\(method) \(target) is not let in")
          continue
        }
      }
    }
    #expect(page.status == 200)
    let fields = Dictionary(page.fields.map { ($0.name, $0.value) }) { first, _ in first }
    #expect(fields.count == page.fields.count, "each field is there once")
    for (name, value) in [
      ("content-type", "text/html; charset=utf-8"), ("cache-control", "no-store"),
      ("x-content-type-options", "nosniff"), ("x-frame-options", "DENY"),
      ("referrer-policy", "no-referrer"),
    ] {
      #expect(fields[name] == value, "\(name)")
    }
    for path in ["/", "/console"] {
      let answer = await full.routes.answer(full.request("POST", path, "{}"))
      #expect(answer.status == 405)
      #expect(answer.fields.first { $0.name == "allow" }?.value == "GET, HEAD")
    }
  }

  /// The text between two marks that occur once each.
  private static func inside(_ text: String, _ start: String, _ end: String) -> String? {
    let parts = text.split(separator: start, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let rest = parts[1].split(separator: end, omittingEmptySubsequences: false)
    return rest.count == 2 ? String(rest[0]) : nil
  }

  @Test("The policy allows the one script and the one style of the page, and nothing else")
  func contentPolicyAllowsOnlyOwnScriptAndStyle() throws {
    let html = String(decoding: ConsolePage.response.body, as: UTF8.self)
    let script = try #require(Self.inside(html, "<script>", "</script>"))
    let style = try #require(Self.inside(html, "<style>", "</style>"))
    func checksum(_ text: String) -> String {
      var hash = SHA256()
      hash.update(text.utf8)
      return "'sha256-\(Notation.base64(hash.digest()))'"
    }
    let policy = ConsolePage.response.fields.first { $0.name == "content-security-policy" }
    let rules = (policy?.value ?? "").split(separator: "; ").map(String.init)
    #expect(
      Set(rules) == [
        "default-src 'none'", "script-src \(checksum(script))", "style-src \(checksum(style))",
        "connect-src 'self'", "img-src data:", "base-uri 'none'", "form-action 'none'",
        "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
      ])
  }

  /// Proves S8.
  @Test("The console loads nothing external and never writes displayed values as markup")
  func consoleLoadsNothingExternal() {
    let html = String(decoding: ConsolePage.response.body, as: UTF8.self)
    for word in [
      "http://", "https://", "src=", "@import", "url(", "innerHTML", "outerHTML",
      "insertAdjacentHTML", "document.write", "eval(", "new Function", "srcdoc", " onclick=",
      "style=", "javascript:", "createContextualFragment", "document.cookie",
    ] where html.contains(word) {
      Issue.record("the page contains \(word)")
    }
    // The browser keeps the chosen columns, and no token.
    let kept = html.split(separator: "localStorage").dropFirst().map { $0.prefix(18) }
    #expect(kept.count == 2 && kept.allSatisfy { $0.contains("Item(columnKey") }, "\(kept)")
    for word in [
      "<html lang=\"en\">", "<main", "<nav", "<header", "<aside", "role=\"status\"",
      "prefers-color-scheme: dark", "prefers-reduced-motion", ":focus-visible", "width=device",
      "sessionStorage", "history.replaceState", "<title>",
    ] where !html.contains(word) {
      Issue.record("the page lacks \(word)")
    }
  }

  /// Proves S8.
  @Test("The console offers every kind of request, every code and every control with a form")
  func consoleOffersAllRequestsCodesAndControls() {
    let script = ConsolePage.page.script
    for kind in RequestKind.allCases where !script.contains("'\(kind.rawValue)'") {
      Issue.record("the page does not know \(kind.rawValue)")
    }
    for code in CloudError.Code.allCases where !script.contains("'\(code)'") {
      Issue.record("the page does not know \(code)")
    }
    let unused: Set<ControlEndpoint> = [.requests, .stop]
    for endpoint in ControlEndpoint.allCases
    where !unused.contains(endpoint) && !script.contains("'\(endpoint.rawValue)'") {
      Issue.record("the page never asks for \(endpoint.rawValue)")
    }
    let both = script + ConsolePage.page.markup
    let withoutForm: Set<FaultAction> = [
      .deliverPush, .person, .eraseData, .deploySchema, .forgetRequests,
    ]
    for action in FaultAction.allCases where !withoutForm.contains(action) {
      let isThere =
        both.contains("'\(action.rawValue)'") || both.contains("value=\"\(action.rawValue)\"")
      #expect(isThere, "\(action.rawValue)")
    }
  }

  @Test("The console's URL holds any token, percent-encoded")
  func consoleURLEncodesToken() async throws {
    var options = LoopbackWebServer.Options()
    options.controlToken = "a+b&c%d\"e#f-g.h_i~j"
    let web = try LoopbackWebServer(ControlWorld().server, options: options)
    #expect(web.consoleURL == "\(web.url)/console#token=a%2Bb%26c%25d%22e%23f-g.h_i~j")
    await web.stop()
  }

  /// Proves TH-2.
  @Test("Pages of other sites cannot use the page or the control interface")
  func pagesOfOtherSitesAreRejected() async throws {
    let world = ControlWorld()
    var options = LoopbackWebServer.Options(allowedOrigins: ["http://localhost:3000"])
    options.controlToken = ControlWorld.token
    let web = try LoopbackWebServer(world.server, options: options)
    #expect(web.consoleURL == "\(web.url)/console#token=\(ControlWorld.token)")
    let host = ("host", "127.0.0.1:\(web.port)")
    let bearer = ("authorization", "Bearer \(ControlWorld.token)")
    let cases: [(target: String, fields: [(String, String)], status: Int, piece: String)] = [
      ("/console", [host], 200, "<!doctype html>"), ("/", [host], 200, "<!doctype html>"),
      ("/console", [("host", "evil.example:\(web.port)")], 403, "must name this server"),
      ("/console", [host, ("origin", "http://localhost:3000")], 403, "other sites"),
      ("/cloudsync/1/status", [host], 401, "control token"),
      ("/cloudsync/1/status", [host, bearer], 200, "swift-cloud-sync"),
      ("/cloudsync/1/status", [host, bearer, ("origin", web.url)], 200, "swift-cloud-sync"),
      ("/cloudsync/1/status", [host, bearer, ("origin", "http://localhost:3000")], 403, "sites"),
      ("/cloudsync/1/status", [host, bearer, ("sec-fetch-site", "cross-site")], 403, "sites"),
      ("/cloudsync/1/faults", [host, bearer], 403, "fault control is off"),
      ("/cloudsync/1/nothing", [host, bearer], 404, "no endpoint"),
    ]
    for (target, fields, status, piece) in cases {
      var request = world.request("GET", target, authorization: nil)
      request.head.fields = fields.map { .init(name: $0.0, value: $0.1) }
      let answer =
        switch web.router.admission(request.head) {
        case .refuse(let response): response
        case .accept, .acceptFile, .acceptAfter: try #require(await web.router.answer(request))
        }
      let text = String(decoding: answer.body, as: UTF8.self)
      #expect(
        answer.status == status && text.contains(piece),
        "\(target) \(fields): \(answer.status) \(text.prefix(200))")
      #expect(!answer.fields.contains { $0.name.hasPrefix("access-control") }, "\(target)")
    }
    await web.stop()
  }
}
