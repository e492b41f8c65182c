import CloudProtocol
import CloudSyncTesting
import LoopbackServer
import Synchronization
import Testing

@testable import LoopbackHTTP

@Suite("A server on sockets: statuses, refused connections and its end", .timeLimit(.minutes(20)))
struct ServerAnswerTests {
  @Test("A status of a handler is one of 200 to 599")
  func statusesOfHandlersAreChecked() async throws {
    try await ServerHarness.run { harness in
      let client = try harness.client()
      for (status, found) in [(199, 500), (200, 200), (599, 599), (600, 500)] {
        #expect(try await client.ask(harness.get("/status?\(status)")).status == found)
      }
    }
  }

  @Test("A connection beyond the limit is reported as refused, and one is always accepted")
  func connectionsBeyondTheLimitAreReported() async throws {
    let refused = Mutex<[String]>([])
    let server = try HTTPServer(
      HTTPServerOptions(clock: SimulatedClock()) { $0.connections = 0 },
      admission: { _ in .accept(bodyBytes: 0) }, handler: { _ in HTTPResponse(200) },
      refused: { head, response in
        refused.withLock { $0.append("\(head?.path ?? "-") \(response.status)") }
        return []
      })
    let first = try TestClient(port: server.port)
    #expect(try await first.ask("GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n").status == 200)
    let second = try TestClient(port: server.port)
    #expect(try await second.answer().status == 503)
    #expect(await second.end() == .closed)
    #expect(refused.withLock { $0 } == ["- 503"])
    #expect(try await first.ask("GET /b HTTP/1.1\r\nHost: [\r\n\r\n").status == 400)
    #expect(refused.withLock { $0 } == ["- 503", "/b 400"])
    await first.close()
    await server.stop()
  }

  @Test("A server that stops answers the consoles and the devices that wait, at once")
  func stopEndsWaitingRequests() async throws {
    try await AccessWorld.run { world in
      let courier = try await world.createToken()
      let after = world.server.lastEventNumber
      var clients: [TestClient] = []
      for target in ["/cloudsync/1/events?after=\(after)&wait=25", courier] {
        let client = try TestClient(port: world.web.port)
        await client.send(
          "GET \(target) HTTP/1.1\r\nHost: localhost:\(world.web.port)\r\n"
            + "Authorization: Bearer \(world.web.controlToken)\r\n\r\n")
        clients.append(client)
      }
      while world.server.eventWaiterCount == 0 { await Task.yield() }
      // Each of the two has its time limit, and the server looks at its connections.
      await world.httpClock.waitForSleepers(3)
      async let stop: Void = world.web.stop()
      let (events, pushes) = (try await clients[0].answer(), try await clients[1].answer())
      #expect(events.status == 200 && events.text.hasPrefix(#"{"events":[]"#), "\(events.text)")
      #expect(pushes.status == 200 && pushes.body.isEmpty)
      await stop
    }
  }

  @Test("A wrong host is a mistake of the caller, a port in use is one of the moment")
  func failureToListenHasItsCode() async throws {
    for host in ["192.0.2.1", "no such host"] {
      let error = #expect(throws: CloudError.self) { try AccessWorld { $0.host = host } }
      #expect(error?.code == .invalidArguments, "\(host)")
    }
    try await AccessWorld.run { world in
      let options = LoopbackWebServer.Options(port: world.web.port)
      let error = #expect(throws: CloudError.self) {
        try LoopbackWebServer(world.server, options: options)
      }
      #expect(error?.code == .serverRejectedRequest)
      #expect(world.web.controlToken.utf8.count == 64)
      #expect(world.web.controlToken.utf8.allSatisfy { $0.hexadecimalValue != nil })
    }
  }
}
