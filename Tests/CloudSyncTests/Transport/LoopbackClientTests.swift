import Foundation
import LoopbackHTTP
import Synchronization
import Testing

@testable import CloudSync

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("Plain HTTP to this machine", .timeLimit(.minutes(20)))
struct LoopbackClientTests {
  /// A server that echoes bodies, and waits to be given up at `/wait`.
  private final class Echo: Sendable {
    let server: HTTPServer
    let arrived: AsyncStream<Void>
    let givenUp: AsyncStream<Void>

    init(port: Int = 0) throws {
      let (arrived, arrive) = AsyncStream<Void>.makeStream()
      let (givenUp, giveUp) = AsyncStream<Void>.makeStream()
      (self.arrived, self.givenUp) = (arrived, givenUp)
      server = try HTTPServer(
        HTTPServerOptions(port: port) { $0.idleTime = .seconds(3_600) },
        admission: { _ in .accept(bodyBytes: 1 << 24) },
        handler: { request in
          if request.head.path == "/wait" {
            arrive.yield()
            let never = AsyncStream<Void> { _ in }
            for await _ in never {}
            giveUp.yield()
          }
          return HTTPResponse(
            200, fields: [.init(name: "x-method", value: request.head.method)],
            body: request.body)
        })
    }
  }

  private func ask(
    _ client: LoopbackClient, _ port: Int, _ path: String = "/", _ body: [UInt8]? = nil
  ) async throws -> HTTPClientResponse {
    let request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)", body: body)
    let (address, target) = try #require(LoopbackAddress.parse(request.url))
    return try await client.send(request, to: address, target)
  }

  private func failure(
    _ ask: () async throws -> HTTPClientResponse
  ) async -> URLError.Code? {
    do {
      _ = try await ask()
      return nil
    } catch { return (error as? URLError)?.code ?? .unknown }
  }

  @Test("Bodies of any size are sent and received over one connection")
  func bodiesOfAnySizeUseOneConnection() async throws {
    let echo = try Echo()
    let client = LoopbackClient(idleSeconds: 3_600)
    for count in [0, 1, 65_535, 65_536, 65_537, 3_000_001] {
      let body = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      let answer = try await ask(client, echo.server.port, "/", body)
      #expect(answer.status == 200 && answer.body == body, "\(count) bytes")
      #expect(answer.field("x-method") == "POST")
    }
    #expect(try await ask(client, echo.server.port).field("x-method") == "GET")
    #expect(echo.server.connectionCount == 1)
    await echo.server.stop()
  }

  @Test("Requests beyond the number of connections wait for a free one")
  func excessRequestsWaitForConnection() async throws {
    let echo = try Echo()
    let client = LoopbackClient(maximumConnections: 3)
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<60 {
        group.addTask {
          let body = Array("number \(number)".utf8)
          return try await ask(client, echo.server.port, "/", body).body == body
        }
      }
      for try await isRight in group { #expect(isRight) }
    }
    #expect(echo.server.connectionCount <= 3)
    await echo.server.stop()
  }

  @Test("A cancelled request ends on the server as well")
  func cancelledRequestEndsOnServer() async throws {
    let echo = try Echo()
    let client = LoopbackClient(maximumConnections: 1)
    let port = echo.server.port
    for _ in 0..<20 {
      let waiting = Task { try await ask(client, port, "/wait") }
      var arrived = echo.arrived.makeAsyncIterator()
      await arrived.next()
      waiting.cancel()
      await #expect(throws: CancellationError.self) { try await waiting.value }
      var ended = echo.givenUp.makeAsyncIterator()
      await ended.next()
      #expect(try await ask(client, port, "/", [1, 2, 3]).body == [1, 2, 3], "the next goes on")
    }
    await echo.server.stop()
  }

  @Test(
    "A server that went away and came back is found again; one that is silent is not waited for")
  func goneAndSilent() async throws {
    let echo = try Echo()
    let port = echo.server.port
    let client = LoopbackClient()
    #expect(try await ask(client, port).status == 200)
    let impatient = LoopbackClient(timeout: 50)
    #expect(await failure { try await ask(impatient, port, "/wait") } == .timedOut)
    #expect(try await ask(client, port).status == 200)
    await echo.server.stop()
    #expect(await failure { try await ask(client, port) } == .cannotConnectToHost)
    let next = try Echo(port: port)
    #expect(try await ask(client, port).status == 200)
    await next.server.stop()
  }

  @Test("Only plain HTTP addresses of this machine are accepted")
  func onlyLoopbackHTTPAddressesAreAccepted() {
    let right: [(String, [UInt8]?, UInt16, String, String)] = [
      ("http://127.0.0.1:8080/a/b?c=d", [127, 0, 0, 1], 8080, "127.0.0.1:8080", "/a/b?c=d"),
      ("HTTP://LocalHost", [127, 0, 0, 1], 80, "LocalHost", "/"),
      ("http://localhost:1?x", [127, 0, 0, 1], 1, "localhost:1", "/?x"),
      ("http://127.255.0.9/", [127, 255, 0, 9], 80, "127.255.0.9", "/"),
      ("http://[::1]:65535/x", nil, 65535, "[::1]:65535", "/x"),
      ("http://[::1]", nil, 80, "[::1]", "/"),
    ]
    for (url, host, port, name, target) in right {
      let parsed = LoopbackAddress.parse(url)
      #expect(parsed?.address.host == host && parsed?.address.port == port, "\(url)")
      #expect(parsed?.address.name == name && parsed?.target == target, "\(url)")
    }
    let wrong = [
      "", "http://", "https://127.0.0.1/", "http://128.0.0.1/", "http://example.com/",
      "http://127.0.0.1.example.com/", "http://me@127.0.0.1/", "http://127.0.0.1:/",
      "http://127.0.0.1:65536/", "http://127.0.0.1:+1/", "http://127.0.0/", "http://127.0.0.01/",
      "http://127.0.0.1/a b", "http://127.0.0.1/ä", "http://127.0.0.1/#a", "http://localhost.x/",
      "http://[::2]/", "http://[::1/", "http://[::1]x/", "http://127.0.0.1\r\n/",
    ]
    for url in wrong { #expect(LoopbackAddress.parse(url) == nil, "\(url)") }
  }
}
