import LoopbackServer
import Records
import Testing
import WebServices

@testable import LoopbackHTTP

/// Repeated requests, and responses that only this package's client gets.
@Suite("Requests that come again, over HTTP")
struct RequestContentTests {
  private static let zone = #""zoneID":{"zoneName":"Notes"}"#

  /// Proves WS-110, WS-112.
  @Test("One upload address takes one file: the same bytes again, and no others")
  func anUploadAddressTakesOneFile() async throws {
    try await AccessWorld.run { world in
      _ = try await world.settle()
      let path = try await world.uploadTicket()
      let first = try await world.ask("POST", path, body: Array("one".utf8))
      let again = try await world.ask("PUT", path, body: Array("one".utf8))
      #expect(first.status == 200 && again.status == 200 && again.text == first.text)
      for other in ["two", "longer", "", "One"] {
        let answer = try await world.ask("POST", path, body: Array(other.utf8))
        #expect(answer.status == 400 && answer.code == "BAD_REQUEST", "\(answer.text)")
        #expect(!answer.text.contains("singleFile"))
        #expect(answer.text.contains("a new URL from assets/upload"), "\(answer.text)")
      }
      #expect(try await world.ask("POST", path, body: Array("one".utf8)).text == first.text)
    }
  }

  /// Proves WS-110, WS-113.
  @Test("A named request is answered again, also without record names; other content is refused")
  func aNamedRequestIsBoundToItsContent() async throws {
    try await AccessWorld.run { world in
      let query = try world.query("bob")
      func create(_ text: String, _ name: String) async throws -> TestClient.Answer {
        try await world.post(
          .recordsModify, query: query,
          #"""
          {"operations":[{"operationType":"create","record":{"recordType":"Note",
          "fields":{"text":{"value":"\#(text)"}}}}]}
          """#, fields: ["cloudsync-request: \(name)"])
      }
      let first = try await create("a", "1")
      #expect(first.status == 200 && !first.text.contains("serverErrorCode"))
      #expect(try await create("a", "1").text == first.text)
      let other = try await create("b", "1")
      #expect(other.status == 400 && other.text.contains("other content"), "\(other.text)")
      #expect(try await create("a", "2").text != first.text, "another request is another record")
      let found = try await world.post(
        .recordsQuery, query: query, #"{"query":{"recordType":"Note"}}"#)
      #expect(try JSON(parsing: found.body)["records"]?.array?.count == 2)
    }
  }

  /// Proves CS-244.
  @Test("Only a request that its client has named leaves a receipt")
  func onlyNamedRequestsLeaveReceipts() async throws {
    try await AccessWorld.run { world in
      let query = try world.query("bob")
      func receipts(after fields: [String]) async throws -> Int {
        let answer = try await world.post(
          .recordsModify, query: query,
          #"{"operations":[{"operationType":"create","record":{"recordType":"Note"}}]}"#,
          fields: fields)
        #expect(answer.status == 200 && !answer.text.contains("serverErrorCode"))
        var count = 0
        try world.server.exportArchive { if $0.contains(#""kind":"receipt""#) { count += 1 } }
        return count
      }
      let before = try await receipts(after: [])
      #expect(try await receipts(after: []) == before)
      #expect(try await receipts(after: ["cloudsync-request: 1"]) == before + 1)
    }
  }

  /// Proves WS-114.
  @Test("What fails at a file's address tells other clients no extra member")
  func onlyOurClientIsToldMore() async throws {
    try await AccessWorld.run { world in
      let belongings = try await world.settle()
      _ = try await world.alices(
        .recordsModify, .private,
        #"""
        {\#(AccessWorld.zone),"operations":[
        {"operationType":"forceDelete","record":{"recordName":"ALICES-share"}},
        {"operationType":"forceDelete","record":{"recordName":"ALICES-record"}}]}
        """#)
      let places: [(String, String, [UInt8]?)] = [
        ("GET", belongings.filePath, nil), ("POST", belongings.uploadPath, [1]),
      ]
      _ = try await world.ask("POST", belongings.uploadPath, body: [2])
      for (method, path, body) in places {
        for (fields, isTold) in [([], false), (["cloudsync: 1"], true)] {
          let answer = try await world.ask(method, path, fields: fields, body: body)
          #expect(
            answer.status != 200 && answer.text.contains(#""cloudsync""#) == isTold, "\(path)")
        }
      }
    }
  }

  /// Proves TH-20.
  @Test("Every refusal below the service is an error of CloudKit in JSON, with the date")
  func refusalsAreErrorsOfCloudKit() async throws {
    try await AccessWorld.run { world in
      let port = world.web.port
      let path = world.path(.recordsLookup) + "?" + (try world.query("bob"))
      let requests = [
        (400, "GET / HTTP/1.1\r\n\r\n"), (403, "GET / HTTP/1.1\r\nHost: other.example\r\n\r\n"),
        (403, "GET /x HTTP/1.1\r\nHost: localhost:\(port)\r\nOrigin: http://a.example\r\n\r\n"),
        (404, "GET /x HTTP/1.1\r\nHost: localhost:\(port)\r\n\r\n"),
        (
          413, "POST \(path) HTTP/1.1\r\nHost: localhost:\(port)\r\nContent-Length: 9999999\r\n\r\n"
        ),
        (414, "GET /\(String(repeating: "a", count: 9000)) HTTP/1.1\r\n\r\n"),
        (417, "GET / HTTP/1.1\r\nHost: localhost:\(port)\r\nExpect: more\r\n\r\n"),
        (431, "GET / HTTP/1.1\r\nA: \(String(repeating: "a", count: 17000))\r\n\r\n"),
        (501, "CONNECT localhost:\(port) HTTP/1.1\r\nHost: localhost:\(port)\r\n\r\n"),
        (505, "GET / HTTP/2.0\r\nHost: localhost:\(port)\r\n\r\n"),
      ]
      for (status, request) in requests {
        let answer = try await world.send(request)
        let json = try? JSON(parsing: answer.body)
        #expect(answer.status == status, "\(answer.status) for \(status)")
        for member in ["uuid", "serverErrorCode", "reason"] {
          #expect(json?[member]?.string?.isEmpty == false, "\(status) \(member): \(answer.text)")
        }
        #expect(answer.values("content-type") == ["application/json; charset=UTF-8"], "\(status)")
        #expect(answer.values("date") == ["Fri, 12 Jan 2001 13:46:40 GMT"], "\(status)")
      }
    }
  }

  /// Proves TH-21.
  @Test(
    "An absolute URI gives the host, escapes are decoded, and a plus means a space")
  func requestTargetsAreNormalized() async throws {
    try await AccessWorld.run { world in
      let port = world.web.port
      let query = try world.query("bob")
      let path = world.path(.usersCaller, .public)
      let good = "127.0.0.1:\(port)"
      let rows: [(target: String, host: String, status: Int)] = [
        ("http://\(good)\(path)?\(query)", good, 200),
        ("http://\(good)\(path)?\(query)", "other.example", 200),
        ("http://localhost:\(port)\(path)?\(query)", "other.example:1", 200),
        ("http://other.example\(path)?\(query)", good, 403),
        ("http://\(good)\(path)?\(query)", "a b", 400), ("http://[::1]:\(port)\(path)", good, 403),
        ("\(path.replacing("/users", with: "/%75sers"))?\(query)", good, 200),
        ("\(path.replacing("/users/", with: "/users%2F"))?\(query)", good, 404),
        ("\(path)?\(query)&clientId=my+phone", good, 200),
      ]
      for row in rows {
        let answer = try await world.send(
          "GET \(row.target) HTTP/1.1\r\nHost: \(row.host)\r\n\r\n")
        #expect(answer.status == row.status, "\(row.target) \(row.host): \(answer.text)")
      }
      #expect(QueryItems("clientId=my+phone%2B1")["clientId"] == "my phone+1")
    }
  }

  /// Proves WS-6.
  @Test("An allowed origin is equal with and without the default port of its scheme")
  func originsIgnoreDefaultPort() {
    let rows = [
      ("http://localhost:80", "http://localhost"), ("https://A.example:443", "https://a.example"),
      ("http://localhost:443", "http://localhost:443"), ("http://localhost:", "http://localhost"),
      ("http://localhost:03000", "http://localhost:3000"), ("http://[::1]:80", "http://[::1]"),
      ("http://[::1]", "http://[::1]"), ("http://a", "http://a"), ("http://a/", nil), ("a", nil),
      ("http://", nil), ("http://a b", nil), ("ftp://a", nil), ("http://u@a", nil),
    ]
    for (text, wanted) in rows { #expect(WebOrigin(text)?.text == wanted, "\(text)") }
    let policy = HostPolicy(port: 8080, origins: ["http://localhost:80"])
    let head = HTTPRequestHead(
      method: "GET", path: "/", query: nil, minorVersion: 1,
      fields: [
        .init(name: "host", value: "localhost:8080"),
        .init(name: "origin", value: "http://localhost"),
      ])
    #expect(policy.refusal(of: head) == nil && !policy.fields(for: head).isEmpty)
  }
}
