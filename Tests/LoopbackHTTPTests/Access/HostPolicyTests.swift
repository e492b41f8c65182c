import LoopbackServer
import Records
import Testing
import WebServices

@testable import LoopbackHTTP

/// Names and pages that only pretend to belong to this machine.
@Suite("Host and Origin, over the sockets")
struct HostPolicyTests {
  /// Forms of `Host`, with `PORT` for the server's, and what they are answered.
  static let hosts: [(lines: [String], status: Int)] =
    [
      "127.0.0.1:PORT", "localhost:PORT", "LOCALHOST:PORT", "LocalHost:PORT",
      " localhost:PORT ", "\tlocalhost:PORT",
    ].map { (["Host: \($0)"], 200) }
    // Well-formed, and another server's.
    + [
      "evil.example", "evil.example:PORT", "localhost", "127.0.0.1", "[::1]", "[::1]:PORT",
      "localhost:1", "127.0.0.1:1", "localhost:0PORT", "localhost.:PORT",
      "localhost.evil.example:PORT", "evil.example.localhost:PORT", "127.0.0.1.nip.io:PORT",
      "127.0.0.1.:PORT", "127.1:PORT", "2130706433:PORT", "0x7f000001:PORT", "0177.0.0.1:PORT",
      "127.0.0.2:PORT", "0.0.0.0:PORT", "0:PORT", "[::]:PORT", "[::ffff:127.0.0.1]:PORT",
      "[0:0:0:0:0:0:0:1]:PORT", "localhost,evil.example:PORT", "ip6-localhost:PORT",
      "localhost%00:PORT", "localhost:", "null", "*", "[v1.abc]", "[v1.abc]:PORT",
    ].map { (["Host: \($0)"], 403) }
    // No host and port at all.
    + [
      "localhost:+PORT", "localhost: PORT", "localhost:PORT:PORT", "::1:PORT",
      "user@localhost:PORT", "user:word@localhost:PORT", "localhost:PORT/", "localhost:PORT#a",
      "http://localhost:PORT", "localhost:PORT,evil.example", "localhost:PORT evil.example",
      "lоcalhost:PORT", "localhost:99999", ":PORT", "", "localhost%0:PORT", "[::1", "[::1]PORT",
      "[v.abc]", "[v1.]:PORT",
    ].map { (["Host: \($0)"], 400) }
    + [
      ([], 400), (["Host: localhost:PORT", "Host: localhost:PORT"], 400),
      (["Host: localhost:PORT", "host: evil.example"], 400), (["Host : localhost:PORT"], 400),
      (["Host: localhost:PORT", " evil.example"], 400), (["Host localhost:PORT"], 400),
      (["Host: evil.example", "X-Forwarded-Host: localhost:PORT"], 403),
      (["Host: localhost:PORT", "X-Forwarded-Host: evil.example"], 200),
      (["Host: localhost:PORT", "Forwarded: host=evil.example"], 200),
    ]

  /// Forms of what browsers say about the page that asks, beside a good `Host`.
  static let origins: [(lines: [String], status: Int)] =
    [
      [], ["Origin: http://localhost:PORT"], ["Origin: http://127.0.0.1:PORT"],
      ["Origin: HTTP://LOCALHOST:PORT"],
      ["Origin: http://allowed.example"], ["Origin: http://allowed.example:3000"],
      ["Sec-Fetch-Site: same-origin"], ["Sec-Fetch-Site: none"],
      ["Origin: http://allowed.example", "Sec-Fetch-Site: cross-site"],
      ["Origin: http://localhost:PORT", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: cors"],
      ["Referer: http://evil.example/"],
    ].map { ($0, 200) }
    + [
      ["Origin: http://[::1]:PORT"], ["Origin: http://evil.example"], ["Origin: null"], ["Origin:"],
      ["Origin: *"],
      ["Origin: http://localhost"], ["Origin: http://localhost:1"],
      ["Origin: https://localhost:PORT"], ["Origin: http://localhost:PORT/"],
      ["Origin: http://localhost:PORT.evil.example"], ["Origin: http://evil.example:PORT"],
      ["Origin: http://127.0.0.1:PORT@evil.example"], ["Origin: file://"],
      ["Origin: https://allowed.example"], ["Origin: http://allowed.example:3001"],
      ["Origin: http://allowed.example.evil.example"], ["Origin: http://evilallowed.example"],
      ["Origin: http://sub.allowed.example"],
      ["Origin: http://allowed.example http://evil.example"],
      ["Origin: http://allowed.example", "Origin: http://evil.example"],
      ["Origin: http://localhost:PORT", "Origin: http://localhost:PORT"],
      ["Sec-Fetch-Site: cross-site"], ["Sec-Fetch-Site: same-site"], ["Sec-Fetch-Site: CROSS-SITE"],
      ["Sec-Fetch-Site: none", "Sec-Fetch-Site: cross-site"], ["Sec-Fetch-Site: anything"],
      ["Origin: http://localhost:PORT", "Sec-Fetch-Site: cross-site"],
      ["Sec-Fetch-Site:"], ["Sec-Fetch-Site: none, cross-site"],
    ].map { ($0, 403) }

  private static let allowed = ["http://allowed.example", "http://allowed.example:3000"]

  /// A request that is sent with each of them, and whether its response shows that it was accepted.
  private func ask(
    _ world: AccessWorld, _ lines: [String], method: String = "GET", target: String? = nil
  ) async throws -> TestClient.Answer {
    let target =
      try target
      ?? world.path(.usersCaller, .public) + "?" + world.query(AccessWorld.alice)
    let text = (["\(method) \(target) HTTP/1.1"] + lines + ["", ""]).joined(separator: "\r\n")
    return try await world.send(
      text.replacing("PORT", with: "\(world.web.port)"), [], method)
  }

  /// Proves TH-1.
  @Test("Each form of Host is accepted or rejected")
  func everyHostFieldIsAcceptedOrRejected() async throws {
    #expect(Self.hosts.count >= 30)
    try await AccessWorld.run(origins: Self.allowed) { world in
      for (lines, status) in Self.hosts {
        let answer = try await ask(world, lines)
        #expect(answer.status == status, "\(lines): \(answer.status) \(answer.text)")
        #expect(answer.text.contains(world.alicesUser) == (status == 200), "\(lines)")
      }
    }
  }

  /// Proves TH-2, TH-3, WS-6.
  @Test("Each form of Origin and Sec-Fetch-Site is accepted or rejected, with every method")
  func everyOriginAndSiteIsAcceptedOrRejected() async throws {
    #expect(Self.origins.count >= 20)
    try await AccessWorld.run(origins: Self.allowed) { world in
      for (lines, status) in Self.origins {
        for method in ["GET", "POST", "HEAD", "OPTIONS"] {
          let answer = try await ask(
            world, ["Host: localhost:PORT", "Content-Length: 0"] + lines, method: method)
          #expect(answer.status == status, "\(method) \(lines): \(answer.status) \(answer.text)")
          let isAllowed = lines.contains { line in
            Self.allowed.contains { line.lowercased() == "origin: \($0)" }
          }
          let grants = answer.values("access-control-allow-origin")
          #expect(grants.isEmpty == !(isAllowed && status == 200), "\(method) \(lines): \(grants)")
          #expect(answer.values("access-control-allow-credentials").isEmpty)
        }
      }
    }
  }

  /// Proves WS-6, WS-9.
  @Test("A page of an allowed origin sends a preflight, reads responses and gets tokens")
  func anAllowedOriginSendsAPreflightAndReadsResponses() async throws {
    try await AccessWorld.run(origins: Self.allowed) { world in
      let preflight = ["Host: localhost:PORT", "Access-Control-Request-Method: POST"]
      for origin in Self.allowed {
        let answer = try await ask(world, preflight + ["Origin: \(origin)"], method: "OPTIONS")
        #expect(answer.status == 200 && answer.body.isEmpty)
        #expect(answer.values("access-control-allow-origin") == [origin])
        #expect(
          answer.values("access-control-allow-methods") == ["GET, HEAD, POST, PUT, OPTIONS"])
        #expect(answer.values("access-control-allow-headers") == ["content-type"])
        let more = try await ask(
          world,
          [
            "Host: localhost:PORT", "Origin: \(origin)", "Access-Control-Request-Method: PUT",
            "Access-Control-Request-Headers: X-One,content-type, If-None-Match,b@d",
            "Access-Control-Request-Private-Network: true",
          ], method: "OPTIONS")
        #expect(
          more.values("access-control-allow-headers") == ["content-type, x-one, if-none-match"])
        #expect(more.values("access-control-allow-private-network") == ["true"])
        #expect(answer.values("vary") == ["Origin"])
        let said = try await ask(world, ["Host: localhost:PORT", "Origin: \(origin)"])
        #expect(said.values("access-control-allow-origin") == [origin])
        #expect(
          said.values("access-control-expose-headers")
            .contains { $0.lowercased().contains("x-apple-cloudkit-web-auth-token") })
        let refused = try await ask(
          world, ["Host: localhost:PORT", "Origin: \(origin)"],
          target: world.path(.zonesList) + "?ckAPIToken=\(world.web.apiToken())")
        #expect(refused.status == 421 && refused.redirect != nil)
        #expect(refused.values("access-control-allow-origin") == [origin])
      }
      let answer = try await ask(
        world, preflight + ["Origin: http://evil.example"], method: "OPTIONS")
      #expect(answer.status == 403 && answer.values("access-control-allow-methods").isEmpty)
      let program = try await ask(world, preflight, method: "OPTIONS")
      #expect(program.status == 200 && program.values("access-control-allow-origin").isEmpty)
    }
  }

  /// Proves TH-2.
  @Test("An element of any page gets a file by its URL, and nothing else without an allowed Origin")
  func elementsOfPagesGetFiles() async throws {
    try await AccessWorld.run(origins: Self.allowed) { world in
      let belongings = try await world.settle()
      let site = "Sec-Fetch-Site: cross-site"
      let (host, evil) = ("Host: localhost:PORT", "Origin: http://evil.example")
      for lines in [
        [site, "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"],
        [site, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"],
        ["Sec-Fetch-Site: same-site"],
      ] {
        for path in [belongings.filePath, belongings.filePath + "/photo.jpg"] {
          let answer = try await ask(world, [host] + lines, target: path)
          #expect(answer.status == 200 && answer.text == "ALICES-file-content", "\(lines)")
          let head = try await ask(world, [host] + lines, method: "HEAD", target: path)
          #expect(head.status == 200, "\(lines)")
        }
      }
      let changed =
        belongings.filePath.dropLast() + (belongings.filePath.hasSuffix("A") ? "B" : "A")
      for (lines, method, path) in [
        ([host, site], "POST", belongings.filePath), ([host, site], "GET", String(changed)),
        ([host, site], "POST", belongings.uploadPath),
        ([host, site], "GET", belongings.courierPath),
        ([host, evil], "GET", belongings.filePath),
        ([host, evil, site], "GET", belongings.filePath),
        (["Host: evil.example:PORT", site], "GET", belongings.filePath),
      ] {
        let answer = try await ask(world, lines, method: method, target: path)
        #expect(answer.status == 403, "\(method) \(lines): \(answer.status)")
        #expect(!answer.whole.contains(AccessWorld.mark))
      }
    }
  }

  /// Proves TH-2.
  @Test("Without allowed origins only the server's own pages are accepted")
  func withoutAllowedOriginsOnlyTheServersPagesAreAccepted() async throws {
    try await AccessWorld.run { world in
      let belongings = try await world.settle()
      for target in [nil, belongings.filePath, "/console", "/cloudsync/1/status", "/", "/nothing"] {
        for origin in Self.allowed + ["null", "https://www.icloud.com"] {
          let answer = try await ask(
            world, ["Host: localhost:PORT", "Origin: \(origin)"], target: target)
          #expect(answer.status == 403, "\(target ?? "caller"): \(answer.status)")
          #expect(!answer.whole.contains(AccessWorld.mark), "\(answer.whole)")
        }
      }
    }
  }
}
