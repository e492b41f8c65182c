import LoopbackServer
import Records
import Testing
import WebServices

@testable import LoopbackHTTP

/// Paths that try to leave, and names that look like paths.
@Suite("Paths lead to endpoints only, and names never become paths")
struct PathTests {
  /// Targets that are none, and the statuses they may get.
  static let targets: [String] = [
    "//", "///", "/.", "/..", "/../", "/../../etc/passwd", "/./././etc/passwd",
    "/..%2f..%2fetc%2fpasswd", "/%2e%2e/%2e%2e/etc/passwd", "/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "/..%5c..%5cetc%5cpasswd", "/%252e%252e%252fetc%252fpasswd", "/%c0%ae%c0%ae/etc/passwd",
    "/%c0%af", "/%e0%80%af", "/%ff%fe", "/%00", "/etc/passwd%00", "/etc/passwd",
    "/proc/self/environ",
    "/Package.swift", "/.git/config", "/index.html", "/robots.txt",
    "/.well-known/security.txt", "/cloud.sqlite", "/assets", "/assets/", "/assets/download",
    "/assets/download/", "/assets/download/..", "/assets/download/../../etc/passwd",
    "/assets/download/%2e%2e%2fetc%2fpasswd", "/assets/upload/../download/", "/courier",
    "/courier/../", "/courier/%2e%2e", "/database", "/database/", "/database/1", "/database/1/",
    "/database/1//development/public/users/caller", "/database/2/C/development/public/users/caller",
    "/database/1/C/staging/public/users/caller", "/database/1/C/Development/public/users/caller",
    "/database/1/C/development/Public/users/caller", "/database/1/C/development/public/users",
    "/database/1/C/development/public/users/caller/",
    "/database/1/C/development/public//users/caller",
    "/database/1/C/development/public/users/./caller",
    "/database/1/C/development/public/users/../users/caller",
    "/database/1/../1/C/development/public/users/caller",
    "/database/1/C%2Fdevelopment/public/users/caller",
    "/database/1/%2e%2e/development/public/users/caller",
    "/database/1/C/development/public/users%2fcaller",
    "/database/1/C/development/public/users/caller%00",
    "/database/1/C/development/public/users/caller;a=b",
    "/Database/1/C/development/public/users/caller",
    "/./database/1/C/development/public/users/caller",
    "//database/1/C/development/public/users/caller",
    "/x/../database/1/C/development/public/users/caller",
    "/device/1/C/development/public/tokens/create",
    "/database/1/C/development/public/tokens/create",
    "/device/1/C/development/users/caller", "/device/../device/1/C/development/tokens/create",
    "/database/1/C/development/tokens/create", "/console/../database", "/console/%2e%2e/",
  ]

  /// Targets that are not even taken for one.
  static let malformed = [
    "etc/passwd", "..", "../etc/passwd", "C:/", "\\\\etc\\passwd", "/..\\..\\etc\\passwd", "/%",
    "/%2",
    "/%zz", "/#/../etc/passwd", "https://localhost/etc/passwd", "file:///etc/passwd", "*", "/é",
    "/a b",
    "/<script>", "/\"",
  ]

  /// Proves TH-14, WS-1.
  @Test("A path without an endpoint is rejected, for every client")
  func unknownPathsAreRejected() async throws {
    #expect(Self.targets.count + Self.malformed.count >= 50)
    try await AccessWorld.run { world in
      let query = try world.query(AccessWorld.alice)
      for (targets, statuses) in [(Self.targets, [404]), (Self.malformed, [400])] {
        for target in targets {
          let target = target.replacing("/C/", with: "/\(AccessWorld.container)/")
          for method in ["GET", "POST"] {
            let whole = target.contains("?") ? target : target + "?" + query
            let answer = try await world.ask(method, whole, body: method == "POST" ? [] : nil)
            #expect(statuses.contains(answer.status), "\(method) \(target): \(answer.status)")
            for sign in ["root:", "// swift-tools", "SQLite format", "[core]", "PATH="] {
              #expect(!answer.text.contains(sign), "\(target)")
            }
          }
        }
      }
    }
  }

  /// Names as nobody should give them, as they stand in JSON.
  static let names = [
    "..", ".", "../../etc/passwd", "/etc/passwd", "%2e%2e", "%2e%2e%2f", "..%2f..%2f", "a/b",
    "a\\\\b",
    "a\\u0000b", "\\u0000", "\\u0001", "\\u007f", "a\\nb", "\\\"; DROP TABLE records; --",
    "' OR 1=1 --",
    "\\ud83d\\ude00", "\\u202e", "\\ufeff", "e\\u0301", "\\u00e9", " ", " a ", "~", "$HOME", "`id`",
    "con", "nul", "a:b", "*", "?", "<script>alert(1)</script>", "cloud.sqlite", "a.",
  ]

  /// Proves TH-14.
  @Test("Names of records, zones and subscriptions are kept unchanged or refused, and never files")
  func namesAreKeptOrRefused() async throws {
    try await AccessWorld.run { world in
      let query = try world.query("bob")
      var kept = 0
      for name in Self.names {
        let zone = #""zoneID":{"zoneName":"\#(name)"}"#
        let bodies: [(Endpoint, String)] = [
          (.zonesModify, #"{"operations":[{"operationType":"create","zone":{\#(zone)}}]}"#),
          (
            .recordsModify,
            #"""
            {"operations":[{"operationType":"create","record":{"recordName":"\#(name)",
            "recordType":"Note","fields":{"title":{"value":"\#(name)"}}}}]}
            """#
          ),
          (.recordsLookup, #"{"records":[{"recordName":"\#(name)"}]}"#),
          (.zonesLookup, #"{"zones":[{"zoneName":"\#(name)"}]}"#),
          (
            .subscriptionsModify,
            #"""
            {"operations":[{"operationType":"create","subscription":{
            "subscriptionID":"\#(name)","subscriptionType":"zone",\#(zone)}}]}
            """#
          ),
        ]
        for (endpoint, body) in bodies {
          let answer = try await world.post(endpoint, query: query, body)
          #expect([200, 400].contains(answer.status), "\(endpoint) \(name): \(answer.text)")
          #expect(!answer.text.contains("INTERNAL_ERROR"), "\(endpoint) \(name): \(answer.text)")
        }
        let found = try await world.post(
          .recordsLookup, query: query, #"{"records":[{"recordName":"\#(name)"}]}"#)
        let record = try JSON(parsing: found.body)["records"]?.array?.first
        guard let record, record["serverErrorCode"] == nil else { continue }
        kept += 1
        let sent = try JSON(parsing: Array("\"\(name)\"".utf8))
        #expect(record["recordName"] == sent, "\(name)")
        #expect(record["fields"]?["title"]?["value"] == sent, "\(name)")
      }
      #expect(kept > 15, "only \(kept) names are taken")
    }
  }

  /// Text that is no UTF-8: overlong forms of `.` and `/`, halves, and what is beyond.
  static let broken: [[UInt8]] = [
    [0xC0, 0xAE, 0xC0, 0xAE, 0xC0, 0xAF], [0xE0, 0x80, 0xAE], [0xF0, 0x80, 0x80, 0xAF],
    [0xC0, 0x80],
    [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xFF], [0x80], [0xC3],
  ]

  /// Proves TH-14.
  @Test("Overlong and invalid UTF-8 in names is refused, and so are long names and containers")
  func invalidUTF8NamesAreRefused() async throws {
    try await AccessWorld.run { world in
      let query = try world.query("bob")
      let path = world.path(.recordsLookup) + "?" + query
      for bytes in Self.broken {
        let body = Array(#"{"records":[{"recordName":""#.utf8) + bytes + Array(#""}]}"#.utf8)
        let answer = try await world.ask("POST", path, body: body)
        #expect(answer.status == 400 && answer.code == "BAD_REQUEST", "\(bytes): \(answer.text)")
        // The same in a header, where there is a device's name.
        let head = Array("POST \(path) HTTP/1.1\r\nHost: localhost:\(world.web.port)\r\n".utf8)
        let client = try TestClient(port: world.web.port)
        await client.send(head + Array("cloudsync-device: ".utf8) + bytes + Array("\r\n\r\n".utf8))
        #expect(try await client.answer().status == 400, "\(bytes)")
        await client.close()
      }
      for count in [255, 256, 5000] {
        let name = String(repeating: "n", count: count)
        let answer = try await world.post(
          .recordsModify, query: query,
          #"""
          {"operations":[{"operationType":"create","record":{"recordName":"\#(name)",
          "recordType":"Note"}}]}
          """#)
        #expect(answer.status == 200 || answer.status == 400, "\(count)")
        #expect(
          answer.text.contains("serverErrorCode") == (count > 255), "\(count): \(answer.text)")
      }
      for container in ["..", ".", "a..b", "~", String(repeating: "c", count: 256)] {
        let target = path.replacing(AccessWorld.container, with: container)
        let answer = try await world.ask("POST", target, body: Array(#"{"records":[]}"#.utf8))
        #expect([200, 400, 404].contains(answer.status), "\(container): \(answer.text)")
      }
    }
  }

  @Test("The tables of hostile inputs are large enough and have no duplicates")
  func hostileInputTablesAreLargeAndDistinct() {
    let origins = HostPolicyTests.hosts.count + HostPolicyTests.origins.count
    let paths = Self.targets.count + Self.malformed.count
    let names = Self.names.count + Self.broken.count
    #expect(ParserCase.all.count >= 160)
    #expect(HostPolicyTests.hosts.count >= 30 && HostPolicyTests.origins.count >= 20 && paths >= 50)
    #expect(ParserCase.all.count + origins + paths + names >= 350)
    for table in [
      HostPolicyTests.hosts.map { "\($0.lines)" }, HostPolicyTests.origins.map { "\($0.lines)" },
      Self.targets,
      Self.malformed, Self.names,
    ] {
      #expect(Set(table).count == table.count, "a form is there twice")
    }
  }
}
