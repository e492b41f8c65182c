import CloudSyncTesting
import Synchronization
import Testing
import VerificationSupport

@testable import LoopbackHTTP

@Suite("A server on sockets: disconnected clients and stopping", .timeLimit(.minutes(20)))
struct ServerEndTests {
  /// Proves TH-15.
  @Test("A client that disconnects cancels its running handler")
  func aDisconnectedClientCancelsItsHandler() async throws {
    try await ServerHarness.run { harness in
      let client = try await harness.clientWaiting(harness.get("/wait"))
      #expect(!harness.cancelled.hasFired)
      await client.close()
      await harness.waitForCancellation()
      await harness.reach(connections: 0)
    }
  }

  /// Proves TH-15.
  @Test("A client that disconnects behind many pipelined requests cancels its handler")
  func aDisconnectedClientWithPipelinedRequestsCancelsItsHandler() async throws {
    try await ServerHarness.run { harness in
      let pipelined = String(repeating: harness.get("/a"), count: 4000)
      let client = try await harness.clientWaiting(harness.get("/wait") + pipelined)
      await client.close()
      await harness.waitForCancellation()
      #expect(harness.handled == 1)
    }
  }

  /// Proves WS-160.
  @Test("A client that ends its side after its requests gets all answers, however long they take")
  func aClientThatEndsItsSideIsAnswered() async throws {
    try await ServerHarness.run { harness in
      let client = try harness.client()
      await client.send(harness.get("/wait") + harness.get("/b") + harness.get("/c"))
      await client.endWriting()
      await harness.started.wait()
      await harness.waitForEndedSide()
      for _ in 0..<20 {
        await harness.clock.pass(.seconds(1))
        await harness.settled()
      }
      #expect(!harness.cancelled.hasFired)
      harness.release.fire()
      var answers: [String] = []
      var interim = 0
      while answers.count < 3 {
        let answer = try await client.answer()
        if answer.status == 100 { interim += 1 } else { answers.append(answer.text) }
      }
      #expect(answers == ["GET /wait", "GET /b", "GET /c"])
      #expect((1...10).contains(interim), "\(interim) interim responses")
      #expect(await client.end() == .closed)
    }
  }

  @Test("The last answer to a client that ended its side says that the connection ends")
  func lastAnswerSaysThatConnectionEnds() async throws {
    try await ServerHarness.run { harness in
      let client = try harness.client()
      await client.send(harness.get("/wait") + harness.get("/b"))
      await client.endWriting()
      await harness.started.wait()
      await harness.waitForEndedSide()
      harness.release.fire()
      let (first, last) = (try await client.answer(), try await client.answer())
      #expect(first.text == "GET /wait" && !first.closes)
      #expect(last.text == "GET /b" && last.closes)
      #expect(await client.end() == .closed)
    }
  }

  /// Proves WS-160.
  @Test("A client of HTTP/1.0 that ends its side gets its answer and nothing before it")
  func aClientOfHTTP10ThatEndsItsSideIsAnswered() async throws {
    try await ServerHarness.run { harness in
      let client = try harness.client()
      await client.send("GET /wait HTTP/1.0\r\n\r\n")
      await client.endWriting()
      await harness.started.wait()
      await harness.waitForEndedSide()
      for _ in 0..<5 { await harness.clock.pass(.seconds(1)) }
      #expect(!harness.cancelled.hasFired)
      harness.release.fire()
      let answer = try await client.answer()
      #expect(answer.status == 200 && answer.text == "GET /wait" && answer.closes)
      #expect(await client.end() == .closed)
    }
  }

  /// Proves WS-160.
  @Test("Short requests of clients that end their side are answered, without interim responses")
  func shortRequestsOfClientsThatEndTheirSideAreAnswered() async throws {
    try await ServerHarness.run { harness in
      for number in 0..<200 {
        let client = try harness.client()
        await client.send(harness.get("/a") + (number.isMultiple(of: 2) ? "GET / HT" : ""))
        await client.endWriting()
        let answer = try await client.answer()
        #expect(answer.status == 200 && answer.text == "GET /a")
        #expect(await client.end() == .closed)
        await client.close()
      }
    }
  }

  /// Proves WS-162.
  @Test("A handler without an answer: the connection is closed, and nothing is sent")
  func aLostAnswerClosesTheConnection() async throws {
    try await ServerHarness.run { harness in
      let client = try harness.client()
      await client.send(harness.get("/lost") + harness.get("/a"))
      #expect(await client.end() == .closed)
      #expect(harness.handled == 1)
    }
  }

  @Test("A rejected client that sends more and disconnects: the end of input is detected")
  func theEndOfARejectedConnectionIsDetected() async throws {
    try await ServerHarness.run { harness in
      for _ in 0..<300 {
        let client = try harness.client()
        #expect(try await client.ask("nonsense\r\n\r\n").status == 400)
        #expect(await client.end() == .closed)
        await client.send("more")
        await client.close()
      }
      await harness.reach(connections: 0)
    }
  }

  @Test("A slow handler delays only its own connection")
  func aSlowHandlerDelaysOnlyItsConnection() async throws {
    try await ServerHarness.run { harness in
      let waiting = try await harness.clientWaiting(harness.get("/wait") + harness.get("/b"))
      let other = try harness.client()
      for _ in 0..<20 { #expect(try await other.ask(harness.get("/a")).text == "GET /a") }
      #expect(harness.handled == 21)
      // However long it takes: no time limit is for the server's own work.
      await harness.clock.pass(.seconds(59))
      harness.release.fire()
      #expect(try await waiting.answer().text == "GET /wait")
      #expect(try await waiting.answer().text == "GET /b")
    }
  }

  @Test("A graceful stop closes idle connections, answers running requests and accepts no others")
  func gracefulStopAnswersRunningRequests() async throws {
    try await ServerHarness.run { harness in
      let idle = try harness.client()
      _ = try await idle.ask(harness.get("/a"))
      let waiting = try await harness.clientWaiting(harness.get("/wait") + harness.get("/b"))
      let stopped = harness.stop()
      #expect(await idle.end() == .closed)
      await harness.reach(connections: 1)
      #expect(throws: TestClient.End.refused) { try harness.client() }
      #expect(!stopped.hasFired && !harness.cancelled.hasFired)
      harness.release.fire()
      let answer = try await waiting.answer()
      #expect(answer.text == "GET /wait" && answer.closes)
      #expect(await waiting.end() == .closed)
      await stopped.wait()
      #expect(!harness.cancelled.hasFired && harness.handled == 2)
    }
  }

  /// Proves WS-161.
  @Test("At the end of the drain time handlers are cancelled, and what they answer is sent")
  func cancelledHandlersAnswer() async throws {
    try await ServerHarness.run { harness in
      let waiting = try await harness.clientWaiting(harness.get("/wait"))
      let server = harness.server
      let stopped = harness.stop()
      while await !server.core.isStopping { await Task.yield() }
      await harness.clock.pass(.seconds(4))
      #expect(!harness.cancelled.hasFired)
      while !harness.cancelled.hasFired {
        harness.clock.advance(by: .milliseconds(500))
        await Task.yield()
      }
      let answer = try await waiting.answer()
      #expect(answer.text == "GET /wait" && answer.closes && harness.cancelled.hasFired)
      #expect(await waiting.end() == .closed)
      await stopped.wait()
    }
  }

  /// Proves WS-171.
  @Test("A stopping server answers requests that arrived, also of clients that it had not accepted")
  func arrivedRequestsAreAnswered() async throws {
    let isFull = Atomic<Bool>(true)
    let pauses = Signal()
    try await ServerHarness.run { listener in
      guard isFull.load(ordering: .relaxed) else { return HTTPSocket.accept(listener) }
      pauses.fire()
      return .exhausted
    } _: { harness in
      var clients: [TestClient] = []
      // More than the server accepts at a time otherwise.
      for number in 0..<100 {
        let client = try harness.client()
        await client.send(harness.get("/\(number)"))
        clients.append(client)
      }
      await pauses.wait()
      isFull.store(false, ordering: .relaxed)
      let stopped = harness.stop()
      for (number, client) in clients.enumerated() {
        let answer = try await client.answer()
        #expect(answer.text == "GET /\(number)" && answer.closes)
        #expect(await client.end() == .closed)
      }
      await stopped.wait()
    }
  }

  /// Proves WS-171.
  @Test("A stop while an answer is sent: the requests that followed on the connection are answered")
  func requestsBehindAnAnswerAreAnswered() async throws {
    // The next request is there with the first one, comes later, or does not come.
    for (first, second) in [("/b", ""), ("", "/b"), ("", "")] {
      try await ServerHarness.run { harness in
        let client = try harness.client(receiveBuffer: 65536)
        await client.send(harness.get("/big") + (first.isEmpty ? "" : harness.get(first)))
        try await client.waitForBytes()
        let stopped = harness.stop()
        while await !harness.server.core.isStopping { await Task.yield() }
        if !second.isEmpty { await client.send(harness.get(second)) }
        let big = try await client.answer()
        #expect(big.body == ServerHarness.bigBody && !big.closes)
        if first + second == "/b" {
          let answer = try await client.answer()
          #expect(answer.text == "GET /b" && answer.closes)
        }
        #expect(await client.end() == .closed)
        await stopped.wait()
      }
    }
  }

  @Test("After the drain time handlers are cancelled and awaited, and connections are closed")
  func drainTimeoutCancelsHandlers() async throws {
    try await ServerHarness.run { harness in
      let waiting = try await harness.clientWaiting(harness.get("/stubborn"))
      let partial = try harness.client()
      await partial.send(harness.get("/a") + "GET /b")
      _ = try await partial.answer()
      await harness.settled()
      let server = harness.server
      let stopped = harness.stop()
      while await !server.core.isStopping { await Task.yield() }
      await harness.clock.pass(.seconds(4))
      #expect(server.connectionCount == 2 && !harness.cancelled.hasFired)
      await harness.clock.pass(.seconds(1))
      await harness.cancelled.wait()
      #expect(await partial.end() != .timedOut)
      await harness.reach(connections: 1)
      await harness.clock.pass(.seconds(1))
      #expect(await waiting.end() == .closed)
      await harness.reach(connections: 0)
      // The handler is still there, and so is the server.
      #expect(!stopped.hasFired)
      harness.release.fire()
      await stopped.wait()
    }
  }

  @Test("An unreferenced server stops")
  func anUnreferencedServerStops() async throws {
    let cancelled = Signal()
    let started = Signal()
    var server: HTTPServer? = try HTTPServer(HTTPServerOptions(clock: SimulatedClock())) { _ in
      .accept(bodyBytes: 0)
    } handler: { _ in
      await withTaskCancellationHandler {
        started.fire()
        await cancelled.wait()
      } onCancel: {
        cancelled.fire()
      }
      return HTTPResponse(200)
    }
    weak var core: HTTPServerCore?
    core = server?.core
    let client = try TestClient(port: server?.port ?? 0)
    await client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await started.wait()
    server = nil
    await cancelled.wait()
    #expect(await client.end() == .closed)
    let start = ContinuousClock.now
    while core != nil, start.duration(to: .now) < .seconds(20) { await Task.yield() }
    #expect(core == nil)
  }
}

extension ServerHarness {
  /// Connects a client, sends `requests`, and waits until the handler of one has started.
  fileprivate func clientWaiting(_ requests: String) async throws -> TestClient {
    let client = try client()
    await client.send(requests)
    await started.wait()
    return client
  }

  /// Waits until the server has read the end of a client's side, or a handler was cancelled.
  fileprivate func waitForEndedSide() async {
    while await !server.core.hasEndedSide, !cancelled.hasFired { await Task.yield() }
  }
}

extension HTTPServerCore {
  /// Whether the server has read the end of a client's side.
  fileprivate var hasEndedSide: Bool { connections.values.contains { $0.hasEndedSide } }
}
