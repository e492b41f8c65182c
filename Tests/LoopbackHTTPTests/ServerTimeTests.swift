import CloudSyncTesting
import Synchronization
import Testing

@testable import LoopbackHTTP

@Suite("A server on sockets: slow clients and bounds", .timeLimit(.minutes(20)))
struct ServerTimeTests {
  /// Proves TH-12.
  @Test("A header that takes too long gets a 408, or no answer when no byte was received")
  func slowHeaderGetsTimeout() async throws {
    try await ServerHarness.run { harness in
      let silent = try harness.client()
      let started = try harness.client()
      // The piece behind a whole request is read together with it.
      await started.send(harness.get("/a") + "GET /b HT")
      #expect(try await started.answer().text == "GET /a")
      await harness.reach(connections: 2)
      await harness.clock.pass(.seconds(9))
      #expect(await harness.server.core.count(.header) == 2)
      await harness.clock.pass(.seconds(1))
      #expect(await silent.end() == .closed)
      let answer = try await started.answer()
      #expect(answer.status == 408 && answer.closes)
      #expect(await started.end() == .closed)
    }
  }

  /// A client that has had an answer, and has sent the first bytes of the body of a second request.
  private func clientInsideBody(
    bytes: Int, of length: Int, _ harness: ServerHarness
  ) async throws -> TestClient {
    let client = try harness.client()
    let second = harness.get("/b", fields: ["Content-Length: \(length)"])
    await client.send(harness.get("/a") + second + String(repeating: "x", count: bytes))
    #expect(try await client.answer().text == "GET /a")
    await harness.settled()
    return client
  }

  /// Proves TH-12.
  @Test("A body that arrives below the minimum rate gets a 408")
  func slowBodyGetsTimeout() async throws {
    try await ServerHarness.run(HTTPServerOptions { $0.bodyBytesPerSecond = 100 }) { harness in
      let client = try await clientInsideBody(bytes: 500, of: 501, harness)
      // Ten seconds are for nothing, and 500 bytes pay for five.
      await harness.clock.pass(.seconds(14))
      #expect(await harness.server.core.count(.body) == 1)
      await harness.clock.pass(.seconds(1))
      #expect(try await client.answer().status == 408)
      #expect(await client.end() == .closed)
    }
  }

  /// Proves TH-12.
  @Test("A body of which nothing more arrives gets a 408, however fast its first part was")
  func stalledBodyGetsTimeout() async throws {
    try await ServerHarness.run(HTTPServerOptions { $0.bodyBytesPerSecond = 10 }) { harness in
      let client = try await clientInsideBody(bytes: 5_000, of: 5_002, harness)
      // The bytes so far are noticed at a check, once a second.
      for _ in 0..<28 { await harness.clock.pass(.seconds(1)) }
      await client.send("x")
      await harness.settled()
      for _ in 0..<28 { await harness.clock.pass(.seconds(1)) }
      #expect(await harness.server.core.count(.body) == 1)
      for _ in 0..<4 { await harness.clock.pass(.seconds(1)) }
      #expect(try await client.answer().status == 408)
      #expect(await client.end() == .closed)
    }
  }

  /// Proves TH-12.
  @Test("A client that goes on sending a refused body reads the response, within a minute")
  func refusedBodyIsDiscardedForAMinute() async throws {
    try await ServerHarness.run { harness in
      let head = harness.get("/forbidden", fields: ["Content-Length: 100000000"])
      let client = try harness.client()
      await client.send(head)
      let silent = try harness.client()
      await silent.send(head)
      for each in [client, silent] { #expect(try await each.answer().status == 403) }
      for second in 0..<59 {
        await client.send([UInt8](repeating: 7, count: 100))
        // Ends without a connection, too.
        while await !harness.server.core.hasDiscarded(since: .seconds(second)) {
          await Task.yield()
        }
        await harness.clock.pass(.seconds(1))
        if second == 1 { await harness.reach(connections: 1) }
      }
      #expect(await harness.server.core.count(.end) == 1)
      await harness.clock.pass(.seconds(1))
      await harness.reach(connections: 0)
    }
  }

  /// Proves TH-12.
  @Test("An idle connection is closed, an active one is not, and a refused one is cut off")
  func idleConnectionIsClosed() async throws {
    try await ServerHarness.run { harness in
      let idle = try harness.client()
      let busy = try harness.client()
      let refused = try harness.client()
      for client in [idle, busy] { _ = try await client.ask(harness.get("/a")) }
      #expect(try await refused.ask("nonsense\r\n\r\n").status == 400)
      #expect(await refused.end() == .closed)
      await harness.reach(connections: 3)
      await harness.clock.pass(.seconds(2))
      await harness.reach(connections: 2)
      await harness.clock.pass(.seconds(57))
      #expect(try await busy.ask(harness.get("/b")).text == "GET /b")
      await harness.settled()
      #expect(harness.server.connectionCount == 2)
      await harness.clock.pass(.seconds(1))
      #expect(await idle.end() == .closed)
      #expect(try await busy.ask(harness.get("/c")).text == "GET /c")
    }
  }

  /// Proves TH-12.
  @Test("A client that reads no answer holds one answer, delays no other client and is cut off")
  func unreadAnswersAreBoundedThenCut() async throws {
    try await ServerHarness.run { harness in
      let lazy = try harness.client(receiveBuffer: 4096)
      await lazy.send(String(repeating: harness.get("/big"), count: 5000))
      while await harness.server.core.count(.answer) == 0 { await Task.yield() }
      let healthy = try harness.client()
      for _ in 0..<200 {
        #expect(try await healthy.ask(harness.get("/a")).text == "GET /a")
      }
      // No second answer is begun while the first is not taken, and little is read ahead.
      #expect(harness.handled == 201)
      let unread = await harness.server.core.mostUnread()
      #expect(unread > 65536 && unread <= 131072)
      let first = try await lazy.answer()
      #expect(first.body == ServerHarness.bigBody)
      // The second can't be gone before the client is cut, and nobody takes it.
      var isCut = false
      for _ in 0..<1000 where !isCut {
        await harness.clock.pass(.seconds(30))
        _ = try? await healthy.ask(harness.get("/a"))
        isCut = harness.server.connectionCount == 1
      }
      #expect(isCut)
      // What the system had taken may still come, but never the whole.
      await #expect(throws: TestClient.End.self) { try await lazy.answer() }
    }
  }

  @Test("A client that reads slowly and steadily gets its whole answer, however long it takes")
  func steadyReaderGetsWholeAnswer() async throws {
    try await ServerHarness.run { harness in
      let core = harness.server.core
      let client = try harness.client(receiveBuffer: 4096)
      await client.send(harness.get("/big"))
      while await core.count(.answer) == 0 { await Task.yield() }
      for _ in 0..<8 {
        let since = await core.answersSince
        await harness.clock.pass(.seconds(10))
        // The system keeps many bytes; the server goes on when there is space for more.
        while await core.answersSince == since, await core.count(.answer) == 1 {
          try await client.waitForBytes()
        }
      }
      #expect(harness.clock.now.sinceStart >= .seconds(80))
      #expect(try await client.answer().body == ServerHarness.bigBody)
      #expect(try await client.ask(harness.get("/a")).text == "GET /a")
    }
  }

  /// Proves I22, TH-13.
  @Test("A connection beyond the limit gets a 503 at once, and is accepted when another one ends")
  func excessConnectionGets503() async throws {
    try await ServerHarness.run(HTTPServerOptions { $0.connections = 2 }) { harness in
      let first = try harness.client()
      let second = try harness.client()
      for client in [first, second] { _ = try await client.ask(harness.get("/a")) }
      let third = try harness.client()
      #expect(try await third.answer().status == 503)
      #expect(await third.end() == .closed)
      await first.close()
      await harness.reach(connections: 1)
      #expect(try await harness.client().ask(harness.get("/b")).text == "GET /b")
    }
  }

  @Test("A client beyond the limit that has sent its request gets the 503 and the end")
  func excessConnectionWithRequestGets503() async throws {
    let state = Exhaustion()
    state.isOn.store(false, ordering: .relaxed)
    try await ServerHarness.run(HTTPServerOptions { $0.connections = 1 }) { listener in
      guard state.isOn.load(ordering: .relaxed) else { return HTTPSocket.accept(listener) }
      state.calls.add(1, ordering: .relaxed)
      return .exhausted
    } _: { harness in
      let first = try harness.client()
      _ = try await first.ask(harness.get("/a"))
      state.isOn.store(true, ordering: .relaxed)
      let second = try harness.client()
      while state.calls.load(ordering: .relaxed) == 0 { await Task.yield() }
      await second.send(harness.get("/b"))
      state.isOn.store(false, ordering: .relaxed)
      await harness.clock.pass(.seconds(1))
      #expect(try await second.answer().status == 503)
      #expect(await second.end() == .closed)
      #expect(try await first.ask(harness.get("/c")).text == "GET /c")
    }
  }

  /// Proves I22, TH-13.
  @Test("Without a free descriptor the server waits for the next second instead of spinning")
  func descriptorExhaustionDoesNotSpin() async throws {
    let state = Exhaustion()
    try await ServerHarness.run { listener in
      state.calls.add(1, ordering: .relaxed)
      return state.isOn.load(ordering: .relaxed) ? .exhausted : HTTPSocket.accept(listener)
    } _: { harness in
      let client = try harness.client()
      await client.send(harness.get("/a"))
      while state.calls.load(ordering: .relaxed) == 0 { await Task.yield() }
      for _ in 0..<1000 { await harness.settled() }
      #expect(state.calls.load(ordering: .relaxed) == 1)
      state.isOn.store(false, ordering: .relaxed)
      await harness.clock.pass(.seconds(1))
      #expect(try await client.answer().text == "GET /a")
    }
  }

  private final class Exhaustion: Sendable {
    let isOn = Atomic<Bool>(true)
    let calls = Atomic<Int>(0)
  }

  /// Proves TH-12.
  @Test("Three hundred slow clients do not block a healthy client")
  func slowClientsDoNotBlockHealthyClient() async throws {
    try await ServerHarness.run { harness in
      var crowd: [TestClient] = []
      for index in 0..<300 {
        let client = try harness.client()
        await client.send(["", "G", "GET / HTTP/1.1\r\nHost: loc"][index % 3])
        crowd.append(client)
      }
      let healthy = try harness.client()
      for index in 0..<300 {
        #expect(try await healthy.ask(harness.get("/\(index)")).text == "GET /\(index)")
        await crowd[index].send("E")
      }
      await harness.reach(connections: 301)
      await harness.clock.pass(.seconds(11))
      for client in crowd {
        _ = try? await client.answer()
        #expect(await client.end() == .closed)
        await client.close()
      }
      #expect(try await healthy.ask(harness.get("/a")).text == "GET /a")
      await harness.reach(connections: 1)
    }
  }
}

extension HTTPServerCore {
  /// The number of connections that wait for this.
  fileprivate func count(_ wait: HTTPConnection.Wait) -> Int {
    connections.values.filter { $0.wait == wait }.count
  }

  /// Whether a lingering connection has discarded input at this time or later, or there is none.
  fileprivate func hasDiscarded(since time: Duration) -> Bool {
    let lingering = connections.values.filter { $0.wait == .end && $0.phase != .closed }
    return lingering.isEmpty || lingering.contains { $0.lastDiscard >= time }
  }

  /// The times at which connections began to wait until more of their answer is taken.
  fileprivate var answersSince: [Duration] {
    connections.values.filter { $0.wait == .answer }.map(\.waitsSince)
  }

  /// The most bytes that any connection has read ahead.
  fileprivate func mostUnread() -> Int {
    connections.values.map(\.parser.unreadBytes).max() ?? 0
  }
}
