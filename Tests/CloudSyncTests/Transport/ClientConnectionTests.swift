import Foundation
import Testing
import VerificationSupport

@testable import CloudSync

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The connections and threads of the HTTP clients.
@Suite("Connections of the HTTP clients", .timeLimit(.minutes(20)))
struct ClientConnectionTests {
  typealias Server = ScriptedServer

  private func ask(
    _ client: LoopbackClient, _ server: Server, _ path: String = "/"
  ) async throws -> String {
    let request = HTTPClientRequest(url: server.url + path)
    let (address, target) = try #require(LoopbackAddress.parse(request.url))
    let response = try await client.send(request, to: address, target)
    return String(decoding: response.body, as: UTF8.self)
  }

  @Test("One connection serves one server after the other, and answers come from the one asked")
  func connectionServesOneServerAtATime() async throws {
    let servers = try ["A", "B"].map { name in try Server { _ in .text(name) } }
    let client = LoopbackClient(maximumConnections: 1)
    for _ in 0..<5 {
      #expect(try await ask(client, servers[0]) == "A")
      #expect(try await ask(client, servers[1]) == "B")
    }
    client.close()
    for server in servers { #expect(await server.end()) }
  }

  @Test("A request that is cancelled while it waits for a connection is not sent")
  func cancelledWaitingRequestIsNotSent() async throws {
    let release = Signal()
    let server = try Server { request in
      if request.path == "/first" { await release.wait() }
      return .text(request.path)
    }
    let client = LoopbackClient(maximumConnections: 1)
    let first = Task { try await ask(client, server, "/first") }
    await server.wait { $0.received.count == 1 }
    let second = Task { try await ask(client, server, "/second") }
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    release.fire()
    #expect(try await first.value == "/first")
    #expect(try await ask(client, server, "/third") == "/third")
    #expect(server.log.received.map(\.path) == ["/first", "/third"])
    client.close()
    #expect(await server.end())
  }

  @Test("An idle connection that has timed out makes room for another one")
  func timedOutConnectionMakesRoom() async throws {
    let server = try Server { _ in .text("text") }
    let client = LoopbackClient(maximumConnections: 1, idleSeconds: 0)
    for _ in 0..<50 { #expect(try await ask(client, server) == "text") }
    client.close()
    #expect(await server.end())
  }

  @Test("A closed client leaves no connection, and makes one for each later request")
  func closedClientLeavesNoConnection() async throws {
    let release = Signal()
    let server = try Server { request in
      if request.path == "/held" { await release.wait() }
      return .text("text")
    }
    for _ in 0..<50 {
      let client = LoopbackClient(maximumConnections: 1, idleSeconds: 3_600)
      for _ in 0..<3 {
        #expect(try await ask(client, server) == "text")
        client.close()
      }
    }
    let client = LoopbackClient(maximumConnections: 1, idleSeconds: 3_600)
    let held = Task { try await ask(client, server, "/held") }
    await server.wait { $0.count("held") == 1 }
    client.close()
    release.fire()
    #expect(try await held.value == "text")
    while server.connectionCount > 0 { await Task.yield() }
    #expect(await server.end())
  }

  @Test("URLSession reaches IPv6 on this machine by a name where it refuses the address")
  func addressIsReplacedByName() throws {
    for (url, connectable) in [
      ("http://[::1]:8400/a%20b?c=%26", "http://localhost:8400/a%20b?c=%26"),
      ("http://127.0.0.1:8400/a", "http://127.0.0.1:8400/a"),
      ("https://[2001:db8::1]/a", "https://[2001:db8::1]/a"),
    ] {
      let request = URLRequest(url: try #require(URL(string: url)))
      #if canImport(FoundationNetworking)
        #expect(request.connectable.url?.absoluteString == connectable)
      #else
        #expect(request.connectable.url?.absoluteString == url)
      #endif
    }
  }

  @Test("A request through URLSession has the same method, fields and body, and response")
  func requestThroughURLSessionIsTheSame() async throws {
    let server = try Server { request in .text(request.body, 201, ("X-Answer", "yes")) }
    let client = WebClient()
    for body in [nil, Array("text".utf8)] {
      // A URL with a fragment is none of the plain client's.
      var request = HTTPClientRequest(url: server.url + "/path?query#fragment", body: body)
      request.set("x-field", "value")
      let response = try await client.send(request)
      let received = try #require(server.log.received.last)
      #expect(received.method == (body == nil ? "GET" : "POST"))
      #expect(received.path == "/path" && received.query == "query")
      #expect(received.fields["x-field"] == "value")
      #expect(response.status == 201 && response.field("x-answer") == "yes")
      #expect(response.body == body ?? [])
    }
    client.close()
    #expect(await server.end())
  }

  @Test("The value of a field adds no other field to a request")
  func fieldValueAddsNoField() async throws {
    let server = try Server { _ in .text() }
    let client = WebClient()
    for end in ["\r\n", "\n"] {
      var request = HTTPClientRequest(url: server.url + "/")
      request.set("x-field", "value" + end + "x-added: yes")
      _ = try? await client.send(request)
    }
    #expect(server.log.received.allSatisfy { $0.fields["x-added"] == nil })
    client.close()
    #expect(await server.end())
  }
}
