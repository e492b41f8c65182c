import LoopbackServer
import Records
import Synchronization
import Testing
import WebServices

@testable import LoopbackHTTP

/// Methods, codings, ranges and old versions of HTTP.
@Suite("Requests and their refusals by the RFCs, over HTTP")
struct RequestFormTests {
  private static let page = "http://allowed.example"

  /// Proves WS-163.
  @Test("An upload of a part of a file is refused, and the whole file is taken afterwards")
  func aPartOfAFileIsRefused() async throws {
    try await AccessWorld.run { world in
      _ = try await world.settle()
      let path = try await world.uploadTicket()
      for method in ["PUT", "POST"] {
        for range in ["bytes 0-1/4", "bytes */4", "lines 1-2/3"] {
          let answer = try await world.ask(
            method, path, fields: ["Content-Range: \(range)"], body: [1, 2])
          #expect(answer.status == 400 && answer.code == "BAD_REQUEST", "\(method) \(range)")
        }
      }
      let whole = try await world.ask("PUT", path, body: [1, 2, 3, 4])
      #expect(whole.status == 200 && whole.text.contains(#""size":4"#), "\(whole.text)")
      // Where it means nothing it is passed over.
      let lookup = try await world.post(
        .recordsLookup, query: try world.query("bob"), #"{"records":[{"recordName":"a"}]}"#,
        fields: ["Content-Range: bytes 0-1/4"])
      #expect(lookup.status == 200)
    }
  }

  /// Proves WS-164.
  @Test("A body with a content coding is refused before it is read, with what is taken")
  func aCodedBodyIsRefused() async throws {
    try await AccessWorld.run { world in
      _ = try await world.settle()
      let control = ["Authorization: Bearer \(world.web.controlToken)"]
      let json = Array("{}".utf8)
      let lookup = world.path(.recordsLookup) + "?" + (try world.query("bob"))
      let places: [(method: String, path: String, fields: [String], body: [UInt8])] = [
        ("PUT", try await world.uploadTicket(), [], [1]), ("POST", lookup, [], json),
        (
          "POST", "/cloudsync/1/sign-in", control + ["Content-Type: application/json"],
          Array(#"{"account":"bob"}"#.utf8)
        ),
      ]
      for place in places {
        for coding in ["gzip", "GZIP", "identity, br", "x-unknown", "gzip, identity", "=,"] {
          let answer = try await world.ask(
            place.method, place.path, fields: place.fields + ["Content-Encoding: \(coding)"],
            body: place.body)
          #expect(answer.status == 415, "\(place.path) \(coding): \(answer.status)")
          #expect(answer.values("accept-encoding") == ["identity"])
        }
        for coding in ["identity", "Identity, identity", ""] {
          let answer = try await world.ask(
            place.method, place.path, fields: place.fields + ["Content-Encoding: \(coding)"],
            body: place.body)
          #expect(answer.status != 415, "\(place.path) '\(coding)': \(answer.status)")
        }
      }
      let chunked = try await world.send(
        "POST \(lookup) HTTP/1.1\r\nHost: localhost:\(world.web.port)\r\nContent-Encoding: gzip\r\n"
          + "Transfer-Encoding: chunked\r\n\r\n")
      #expect(chunked.status == 415)
      let stranger = try await world.ask(
        "POST", "/cloudsync/1/sign-in", fields: ["Content-Encoding: gzip"], body: json)
      #expect(stranger.status == 401)
      let without = try await world.ask(
        "GET", world.path(.usersCaller, .public) + "?" + (try world.query("bob")),
        fields: ["Content-Encoding: gzip"])
      #expect(without.status == 200)
    }
  }

  /// Proves WS-165.
  @Test("A page of an allowed origin can read every refusal whose head was read to its origin")
  func anAllowedPageCanReadEveryRefusal() async throws {
    try await AccessWorld.run(origins: [Self.page]) { world in
      let lookup = world.path(.recordsLookup) + "?" + (try world.query("bob"))
      let long = String(repeating: "a", count: 17000)
      // Where a request gets as far as that, a page of another origin is refused with 403.
      let rows: [(status: Int, line: String, fields: [String], needsAccess: Bool)] = [
        (400, "POST \(lookup) HTTP/1.1", ["Content-Length: x"], false),
        (400, "GET /a b HTTP/1.1", [], false), (400, "GET /x HTTP/1.1", ["no colon"], false),
        (413, "POST \(lookup) HTTP/1.1", ["Content-Length: 99999999999"], true),
        (413, "POST \(lookup) HTTP/1.1", ["Content-Length: 9999999"], true),
        (417, "POST \(lookup) HTTP/1.1", ["Expect: more"], false),
        (431, "GET /x HTTP/1.1", ["A: \(long)"], false),
        (501, "POST \(lookup) HTTP/1.1", ["Transfer-Encoding: gzip, chunked"], false),
        (501, "CONNECT localhost:1 HTTP/1.1", [], false),
        (501, "BREW \(lookup) HTTP/1.1", [], true),
        (505, "GET /x HTTP/2.0", [], false), (404, "GET /nothing HTTP/1.1", [], true),
        (405, "DELETE \(lookup) HTTP/1.1", [], true),
        (415, "POST \(lookup) HTTP/1.1", ["Content-Encoding: br", "Content-Length: 2"], true),
      ]
      for row in rows {
        for (origin, grant) in [(Self.page, [Self.page]), ("http://evil.example", [])] {
          let lines = ["Host: localhost:\(world.web.port)", "Origin: \(origin)"] + row.fields
          let answer = try await world.send(
            ([row.line] + lines + ["", ""]).joined(separator: "\r\n"))
          #expect(
            answer.status == (grant.isEmpty && row.needsAccess ? 403 : row.status),
            "\(row.line): \(answer.status)")
          #expect(answer.values("access-control-allow-origin") == grant, "\(row.line) \(origin)")
        }
      }
      let host = "Host: localhost:\(world.web.port)"
      for head in [
        "GET /\(long) HTTP/1.1\r\n\(host)\r\nOrigin: \(Self.page)\r\n\r\n",
        "GET /x HTTP/1.1\r\n\(host)\r\nA: \(long)\r\nOrigin: \(Self.page)\r\n\r\n",
        "GET /cloudsync/1/status HTTP/1.1\r\nOrigin: \(Self.page)\r\nExpect: a\r\n\(host)\r\n\r\n",
      ] {
        let answer = try await world.send(head)
        #expect([414, 431, 417].contains(answer.status), "\(answer.status)")
        #expect(answer.values("access-control-allow-origin").isEmpty, "\(answer.status)")
      }
    }
  }

  /// Proves WS-166.
  @Test("For each path OPTIONS and 405 list the same methods, and an unknown method gets a 501")
  func optionsListsAllowedMethods() async throws {
    try await AccessWorld.run { world in
      let belongings = try await world.settle()
      let query = "?" + (try world.query("bob"))
      let control = ["Authorization: Bearer \(world.web.controlToken)"]
      let places: [(path: String, allow: String, fields: [String])] = [
        (world.path(.usersCaller, .public) + query, "GET, HEAD, POST, OPTIONS", []),
        (world.path(.recordsModify) + query, "POST, OPTIONS", []),
        (belongings.uploadPath, "POST, PUT, OPTIONS", []),
        (belongings.filePath, "GET, HEAD, OPTIONS", []),
        (belongings.courierPath, "GET, OPTIONS", []), ("/console", "GET, HEAD", []),
        ("/cloudsync/1/status", "GET, HEAD", control),
        ("/cloudsync/1/faults", "GET, HEAD, POST", control),
      ]
      for place in places {
        let asked = try await world.ask("OPTIONS", place.path, fields: place.fields)
        #expect(asked.status == (place.allow.contains("OPTIONS") ? 200 : 405), "\(place.path)")
        #expect(asked.values("allow") == [place.allow], "\(place.path)")
        for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "TRACE"] {
          // An answer of the courier would come only after a while.
          guard !place.allow.split(separator: ", ").contains(Substring(method)) else { continue }
          let answer = try await world.ask(method, place.path, fields: place.fields)
          #expect(answer.status == 405, "\(method) \(place.path): \(answer.status)")
          #expect(answer.values("allow") == [place.allow], "\(method) \(place.path)")
        }
        for method in ["BREW", "get", "PROPFIND", "OPTIONSX"] {
          let answer = try await world.ask(method, place.path, fields: place.fields)
          #expect(answer.status == 501 && answer.values("allow").isEmpty, "\(method) \(place.path)")
        }
      }
      for method in ["OPTIONS", "DELETE", "GET"] {
        #expect(try await world.ask(method, "/nothing").status == 404, "\(method)")
      }
      let whole = try await world.ask("OPTIONS", "*")
      #expect(whole.status == 200 && whole.values("allow") == ["GET, HEAD, POST, PUT, OPTIONS"])
    }
  }

  /// Proves WS-167.
  @Test("Bytes beyond ASCII in header fields are opaque, also where a value is used as text")
  func nonASCIIFieldBytesAreOpaque() async throws {
    try await AccessWorld.run { world in
      let target = world.path(.usersCaller, .public) + "?" + (try world.query("bob"))
      let host = "GET \(target) HTTP/1.1\r\nHost: localhost:\(world.web.port)\r\n"
      let bytes: [UInt8] = [0xE9, 0x80, 0xFF, 0xC3]
      for (name, status) in [
        ("X-Note", 200), ("Cookie", 200), ("User-Agent", 200), ("cloudsync-device", 200),
        ("Accept", 200), ("Origin", 403), ("Sec-Fetch-Site", 403), ("Host", 400),
      ] {
        let client = try TestClient(port: world.web.port)
        await client.send(
          Array("\(host)\(name): ".utf8) + bytes + Array("\r\n\r\n".utf8))
        let answer = try await client.answer()
        #expect(answer.status == status, "\(name): \(answer.text)")
        await client.close()
      }
      let path = "/cloudsync/1/status"
      let client = try TestClient(port: world.web.port)
      await client.send(
        Array("GET \(path) HTTP/1.1\r\nHost: localhost:\(world.web.port)\r\n".utf8)
          + Array("Authorization: Bearer ".utf8) + bytes + Array("\r\n\r\n".utf8))
      #expect(try await client.answer().status == 401)
      await client.close()
    }
  }

  @Test("Requests that the HTTP layer refuses are logged and counted")
  func refusedRequestsAreLogged() async throws {
    let log = Mutex<[String]>([])
    try await AccessWorld.run(
      options: { options in
        options.requestLog = { request in
          let line = "\(request.method) \(request.operation) \(request.status)"
          log.withLock { $0.append(line) }
        }
      }
    ) { world in
      let target = world.path(.recordsModify, .public) + "?" + (try world.query("bob"))
      let host = "HTTP/1.1\r\nHost: localhost:\(world.web.port)\r\n"
      for (request, status) in [
        ("POST \(target) \(host)Content-Length: 90000000\r\n\r\n", 413),
        ("nonsense\r\n\r\n", 400),
        ("GET /\(String(repeating: "x", count: 9_000)) \(host)\r\n", 414),
      ] {
        #expect(try await world.send(request).status == status)
      }
      let metrics = try await world.ask(
        "GET", "/metrics", fields: ["Authorization: Bearer \(world.web.controlToken)"])
      #expect(metrics.text.contains(#"operation="records/modify",status="413"} 1"#))
    }
    let lines = log.withLock { Array($0.prefix(3)) }
    #expect(lines == ["POST records/modify 413", "other other 400", "other other 414"])
  }

  /// Proves WS-168.
  @Test("An HTTP/1.0 request needs no Host, but a given host or origin is checked as usual")
  func oldRequestNeedsNoHost() async throws {
    try await AccessWorld.run { world in
      let target = world.path(.usersCaller, .public) + "?" + (try world.query("bob"))
      for (line, status) in [
        ("", 200), ("Host: localhost:\(world.web.port)\r\n", 200), ("Host: other.example\r\n", 403),
        ("Host:\r\n", 400), ("Origin: http://evil.example\r\n", 403),
        ("Origin: http://localhost:\(world.web.port)\r\n", 200),
        ("Sec-Fetch-Site: cross-site\r\n", 403),
      ] {
        let answer = try await world.send("GET \(target) HTTP/1.0\r\n\(line)\r\n")
        #expect(answer.status == status, "'\(line)': \(answer.text)")
      }
      #expect(try await world.send("GET \(target) HTTP/1.1\r\n\r\n").status == 400)
    }
  }
}
