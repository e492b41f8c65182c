import CloudProtocol
import LoopbackServer
import Testing
import WebServices

@testable import LoopbackHTTP

/// Clients that reach the server by another address or name than that of the loopback interface.
///
/// Every address that begins with 127 is this machine's; the second one stands for that of a
/// network.
@Suite("Access from other machines")
struct OtherMachineTests {
  private static let secondAddress: UInt32 = 0x7F00_0002

  private func ask(
    _ world: AccessWorld, _ endpoint: Endpoint, _ lines: [String], _ body: String = "",
    address: UInt32 = 0x7F00_0001
  ) async throws -> TestClient.Answer {
    let target = try world.path(endpoint) + "?" + world.query(AccessWorld.alice)
    let head =
      ["POST \(target) HTTP/1.1"] + lines + ["Content-Length: \(body.utf8.count)", "", ""]
    return try await world.send(
      head.joined(separator: "\r\n").replacing("PORT", with: "\(world.web.port)"),
      Array(body.utf8), "POST", address: address)
  }

  private let upload =
    #"{"tokens":[{"recordName":"a","recordType":"Note","fieldName":"file"}]}"#

  /// The URL of an upload, as a client with these header fields gets it.
  private func uploadURL(
    _ world: AccessWorld, _ lines: [String], address: UInt32 = 0x7F00_0001
  ) async throws -> String {
    let answer = try await ask(world, .assetsUpload, lines, upload, address: address)
    #expect(answer.status == 200, "\(answer.text)")
    return try JSON(parsing: answer.body)["tokens"]?.array?.first?["url"]?.string ?? ""
  }

  /// Proves X10.
  @Test(
    "A server that listens for other machines is reached by each of its addresses, not by names")
  func everyAddressReachesAServerForAll() async throws {
    try await AccessWorld.run(options: { $0.host = "0.0.0.0" }) { world in
      let port = world.web.port
      #expect(world.web.url == "http://127.0.0.1:\(port)")
      let url = try await uploadURL(
        world, ["Host: 127.0.0.2:PORT"], address: Self.secondAddress)
      #expect(url.hasPrefix("http://127.0.0.2:\(port)/"), "\(url)")
      #expect(try await uploadURL(world, ["Host: [fd00::1]:PORT"]).hasPrefix("http://[fd00::1]:"))
      for host in ["evil.example", "evil.example:PORT", "1.2.3.4.nip.io:PORT", "127.0.0.256:PORT"] {
        let answer = try await ask(world, .usersCaller, ["Host: \(host)"])
        #expect(answer.status == 403, "\(host)")
      }
      // A page of another machine is another site, whatever address it has.
      for origin in ["http://10.0.0.7", "http://127.0.0.3:PORT", "https://127.0.0.2:1"] {
        let answer = try await ask(
          world, .usersCaller, ["Host: 127.0.0.2:PORT", "Origin: \(origin)"])
        #expect(answer.status == 403, "\(origin)")
      }
      let own = ["Host: 127.0.0.2:PORT", "Origin: http://127.0.0.2:PORT"]
      #expect(try await ask(world, .usersCaller, own).status == 200)
    }
  }

  /// Proves X10.
  @Test("On this machine every URL begins with the name by which the client reached the server")
  func everyURLBeginsWithTheNameThatTheClientUsed() async throws {
    try await AccessWorld.run { world in
      let port = world.web.port
      for host in ["localhost:\(port)", "127.0.0.1:\(port)", "LOCALHOST:\(port)"] {
        let own = "http://\(host.lowercased())/"
        let url = try await uploadURL(world, ["Host: \(host)"])
        #expect(url.hasPrefix(own + "assets/"), "\(url)")
        let path = world.path(.zonesList) + "?ckAPIToken=\(world.web.apiToken())"
        let answer = try await world.send("GET \(path) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
        // The page at this URL sends its message with this origin.
        #expect(answer.redirect?.hasPrefix(own + "sign-in?") == true, "\(answer.text)")
      }
      let path = try world.path(.usersCaller) + "?" + world.query(AccessWorld.alice)
      #expect(try await world.send("GET \(path) HTTP/1.0\r\n\r\n").status == 200)
    }
  }

  @Test("A server on one address is not reached by another one")
  func oneAddressIsNotReachedByAnother() async throws {
    try await AccessWorld.run { world in
      await #expect(throws: TestClient.End.refused) {
        try await ask(world, .usersCaller, ["Host: 127.0.0.1:PORT"], address: Self.secondAddress)
      }
    }
    #expect(throws: CloudError.self) { try AccessWorld { $0.host = "192.0.2.1" } }
    #expect(throws: CloudError.self) { try AccessWorld { $0.host = "no such host" } }
  }

  @Test("Allowed hosts are accepted with any port or the named one, and URLs begin with them")
  func allowedHostsAreAcceptedAndNamedInURLs() async throws {
    let hosts = ["Sync.example", "other.example:81"]
    try await AccessWorld.run(options: { $0.allowedHosts = hosts }) { world in
      for (host, status) in [
        ("sync.example", 200), ("SYNC.example:8443", 200), ("other.example:81", 200),
        ("other.example", 403), ("other.example:82", 403), ("sync.example.evil", 403),
        ("a.sync.example", 403), ("127.0.0.1:PORT", 200), ("10.0.0.1:PORT", 403),
      ] {
        let answer = try await ask(world, .usersCaller, ["Host: \(host)"])
        #expect(answer.status == status, "\(host): \(answer.text)")
      }
      #expect(try await uploadURL(world, ["Host: sync.example"]).hasPrefix("http://sync.example/"))
      for (origin, status) in [
        ("http://sync.example", 200), ("https://sync.example:444", 200),
        ("http://other.example:81", 200), ("http://other.example:82", 403),
        ("http://evil.example", 403),
      ] {
        let answer = try await ask(
          world, .usersCaller, ["Host: 127.0.0.1:PORT", "Origin: \(origin)"])
        #expect(answer.status == status, "\(origin): \(answer.text)")
      }
    }
  }

  /// Proves X10.
  @Test("With a public URL every URL begins with it, and its host is accepted")
  func publicURLBeginsEveryURL() async throws {
    try await AccessWorld.run(options: { $0.publicURL = "https://Sync.example:443" }) { world in
      #expect(world.web.consoleURL.hasPrefix("https://sync.example/console#token="))
      for host in ["127.0.0.1:PORT", "sync.example"] {
        #expect(
          try await uploadURL(world, ["Host: \(host)"]).hasPrefix("https://sync.example/assets/"))
      }
      let push = try await ask(
        world, .tokensCreate, ["Host: sync.example"], #"{"apnsEnvironment":"development"}"#)
      #expect(
        push.text.contains(#""webcourierURL":"https://sync.example/courier/"#), "\(push.text)")
      let answer = try await ask(
        world, .usersCaller, ["Host: sync.example", "Origin: https://sync.example"])
      #expect(answer.status == 200)
    }
    // A proxy may pass on the host without the port, as nginx does with $host.
    try await AccessWorld.run(options: { $0.publicURL = "https://sync.example:8443" }) { world in
      for host in ["sync.example:8443", "sync.example", "SYNC.example"] {
        let own = ["Host: \(host)", "Origin: https://sync.example:8443"]
        #expect(try await ask(world, .usersCaller, own).status == 200, "\(host)")
        #expect(
          try await uploadURL(world, ["Host: \(host)"])
            .hasPrefix("https://sync.example:8443/assets/"))
        for origin in ["https://sync.example", "http://sync.example", "https://sync.example:1"] {
          let answer = try await ask(world, .usersCaller, ["Host: \(host)", "Origin: \(origin)"])
          #expect(answer.status == 403, "\(origin) at \(host)")
        }
      }
      for host in ["sync.example:8444", "sync.example:80", "a.sync.example", "example"] {
        #expect(try await ask(world, .usersCaller, ["Host: \(host)"]).status == 403, "\(host)")
      }
    }
    for url in ["sync.example", "https://sync.example/path", "ftp://sync.example", "https://"] {
      #expect(throws: CloudError.self, "\(url)") { try AccessWorld { $0.publicURL = url } }
    }
  }

  /// Proves X10.
  @Test("X-Forwarded fields count from a trusted proxy alone, and only its own element of a list")
  func forwardedFieldsCountFromTrustedProxiesAlone() async throws {
    let lines = [
      "Host: backend", "X-Forwarded-Host: evil.example, sync.example",
      "X-Forwarded-Proto: http, https",
    ]
    for (proxy, isTrusted) in [
      ("127.0.0.1", true), ("127.0.0.0/8", true), ("10.0.0.0/8", false), ("::1", false),
    ] {
      try await AccessWorld.run(
        options: {
          $0.trustedProxies = [proxy]
          $0.allowedHosts = ["sync.example"]
        },
        { world in
          let answer = try await ask(world, .usersCaller, lines)
          #expect(answer.status == (isTrusted ? 200 : 403), "\(proxy)")
          guard isTrusted else { return }
          #expect(try await uploadURL(world, lines).hasPrefix("https://sync.example/"))
          // The host that the client named is checked as without a proxy.
          let evil = ["Host: sync.example", "X-Forwarded-Host: evil.example"]
          #expect(try await ask(world, .usersCaller, evil).status == 403)
          // Without the fields the request is what it says.
          #expect(try await uploadURL(world, ["Host: 127.0.0.1:PORT"]).hasPrefix(world.web.url))
        })
    }
    #expect(throws: CloudError.self) { try AccessWorld { $0.trustedProxies = ["nginx"] } }
  }

  @Test("A range contains the addresses that share its first bits")
  func rangeContainsAddressesThatShareItsBits() throws {
    let mapped: [UInt8] = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 10, 1, 2, 3]
    for (text, address, isInside) in [
      ("10.1.2.3", [10, 1, 2, 3], true), ("10.1.2.3", [10, 1, 2, 4], false),
      ("10.1.2.3", mapped, true), ("10.0.0.0/8", [10, 255, 0, 1], true),
      ("10.0.0.0/8", [11, 0, 0, 0], false), ("10.0.0.0/9", [10, 127, 0, 0], true),
      ("10.0.0.0/9", [10, 128, 0, 0], false), ("0.0.0.0/0", [1, 2, 3, 4], true),
      ("10.1.2.3/32", [10, 1, 2, 3], true), ("10.1.2.3/32", [10, 1, 2, 2], false),
      ("10.1.2.3", [UInt8](repeating: 1, count: 12) + [10, 1, 2, 3], false),
      ("::ffff:10.1.2.3/128", mapped, true), ("::ffff:10.1.2.3", [10, 1, 2, 3], false),
      ("::/0", mapped, true), ("fd00::/8", [0xFD] + [UInt8](repeating: 1, count: 15), true),
      ("fd00::/8", [0xFC] + [UInt8](repeating: 1, count: 15), false),
      ("fd00::/8", [0xFD, 0, 0, 0], false),
    ] as [(String, [UInt8], Bool)] {
      let range = try #require(AddressRange(text))
      #expect(range.contains(address) == isInside, "\(text) \(address)")
    }
    for text in ["", "10", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "::/129", "a.example", "/8"] {
      #expect(AddressRange(text) == nil, "\(text)")
    }
  }
}
