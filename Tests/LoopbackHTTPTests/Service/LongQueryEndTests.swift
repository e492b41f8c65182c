import CloudProtocol
import CloudSyncTesting
import LoopbackServer
import Records
import Synchronization
import Testing

@testable import LoopbackHTTP

/// A long query whose client goes, and what a server says to a query that is too large.
@Suite("Long queries over HTTP", .timeLimit(.minutes(10)))
struct LongQueryEndTests {
  private static let container = "iCloud.mine"
  private static let query =
    #"{"zoneID":{"zoneName":"Notes"},"query":{"recordType":"Note","sortBy":[{"fieldName":"n"}]}}"#

  /// How often a query paused, and that its task was cancelled.
  private final class Pauses: Sendable {
    let count = Atomic<Int>(0)
    let begun = Signal()
    let release = Signal()
    let cancelled = Signal()

    /// Waits until the query is released or its task is cancelled.
    func pause() async {
      count.add(1, ordering: .relaxed)
      begun.fire()
      await withTaskCancellationHandler {
        await release.wait()
      } onCancel: {
        cancelled.fire()
        release.fire()
      }
    }
  }

  private func makeRecords(_ server: LoopbackServer) async throws {
    let zone = ZoneID(name: "Notes")
    let saves = (0..<400).map { number in
      RecordSave(
        Record(
          id: RecordID(name: "note-\(number)", zone: zone), type: "Note",
          fields: ["n": .int64(Int64(number))]))
    }
    let requests: [CloudRequest] = [
      .modifyZones(ModifyZones(save: [zone])), .modifyRecords(ModifyRecords(save: saves)),
    ]
    let device = server.device("setup", signedInAs: "bob")
    for (number, request) in requests.enumerated() {
      _ = try await device.send(
        CloudCall(
          container: Self.container, database: .private, requestID: "\(number)", request: request))
    }
  }

  private func request(
    _ web: LoopbackWebServer, _ body: String, _ endpoint: String = "records/query"
  ) throws -> String {
    let target =
      "/database/1/\(Self.container)/development/private/\(endpoint)?ckAPIToken=\(web.apiToken())"
      + "&ckWebAuthToken=\(try web.webAuthToken(for: "bob"))"
    return
      "POST \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(web.port)\r\nContent-Length: \(body.utf8.count)"
      + "\r\n\r\n\(body)"
  }

  /// Stops a server and lets the time pass until `isDone`, and less than a second more; its end can
  /// be waited for afterwards.
  private func stop(
    _ web: LoopbackWebServer, _ clock: SimulatedClock, until isDone: () -> Bool
  ) async -> Task<Void, Never> {
    let stopping = Task { await web.stop() }
    while !isDone() {
      clock.advance(by: .milliseconds(500))
      await Task.yield()
    }
    return stopping
  }

  /// The next answer that is not an interim response.
  private func lastAnswer(_ client: TestClient) async throws -> TestClient.Answer {
    while true {
      let answer = try await client.answer()
      if answer.status != 100 { return answer }
    }
  }

  /// Proves WS-151.
  @Test("A client that closes its connection ends its query at the next slice")
  func aClientThatGoesEndsItsQuery() async throws {
    let pauses = Pauses()
    let server = LoopbackServer { await pauses.pause() }
    try await makeRecords(server)
    let clock = SimulatedClock()
    let web = try LoopbackWebServer(server, options: .init(), http: HTTPServerOptions(clock: clock))
    let client = try TestClient(port: web.port)
    await client.send(try request(web, Self.query))
    await pauses.begun.wait()
    await client.close()
    while !pauses.cancelled.hasFired { await clock.pass(.milliseconds(100)) }
    await web.stop()
    let entry = server.controls.requests.last { $0.kind == .queryRecords }
    #expect(entry?.outcome == .failed(.operationCancelled))
    #expect(pauses.count.load(ordering: .relaxed) == 1)
    server.close()
  }

  /// Proves WS-160.
  @Test("A client that only ends its side of the connection gets the answer to a long query")
  func aClientThatEndsItsSideGetsItsQuery() async throws {
    let pauses = Pauses()
    let server = LoopbackServer { await pauses.pause() }
    try await makeRecords(server)
    let clock = SimulatedClock()
    let web = try LoopbackWebServer(server, options: .init(), http: HTTPServerOptions(clock: clock))
    let client = try TestClient(port: web.port)
    await client.send(try request(web, Self.query))
    await pauses.begun.wait()
    await client.endWriting()
    for _ in 0..<20 { await clock.pass(.seconds(1)) }
    #expect(!pauses.cancelled.hasFired)
    pauses.release.fire()
    let answer = try await lastAnswer(client)
    #expect(answer.status == 200 && answer.text.contains("note-199"), "\(answer.status)")
    #expect(await client.end() == .closed)
    await web.stop()
    server.close()
  }

  private static let save =
    #"{"zoneID":{"zoneName":"Notes"},"operations":[{"operationType":"create","record":{"#
    + #""recordName":"new","recordType":"Note","fields":{"n":{"value":1,"type":"INT64"}}}}]}"#

  private func isSaved(_ server: LoopbackServer) throws -> Bool {
    try server.changeLog(of: ZoneID(name: "Notes"), container: Self.container, account: "bob")
      .contains { $0.record.name == "new" }
  }

  /// Proves WS-160.
  @Test("A save of a client that ends its side is done and answered, wherever the end finds it")
  func aSaveOfAClientThatEndsItsSideIsAnswered() async throws {
    for point in HoldPoint.allCases {
      let server = LoopbackServer()
      try await makeRecords(server)
      let clock = SimulatedClock()
      let web = try LoopbackWebServer(
        server, options: .init(), http: HTTPServerOptions(clock: clock))
      server.controls.hold(next: 1, at: point)
      let client = try TestClient(port: web.port)
      await client.send(try request(web, Self.save, "records/modify"))
      await server.controls.waitForHeldRequests()
      await client.endWriting()
      for _ in 0..<5 { await clock.pass(.seconds(1)) }
      server.controls.release()
      let answer = try await lastAnswer(client)
      #expect(answer.status == 200 && answer.text.contains(#""recordName":"new""#), "\(point)")
      #expect(try isSaved(server), "\(point)")
      await web.stop()
      server.close()
    }
  }

  /// Proves WS-151, WS-161.
  @Test("A server that is stopped ends its queries when the time for requests is over, and says so")
  func aStoppedServerEndsItsQueries() async throws {
    let pauses = Pauses()
    let server = LoopbackServer { await pauses.pause() }
    try await makeRecords(server)
    let clock = SimulatedClock()
    let web = try LoopbackWebServer(server, options: .init(), http: HTTPServerOptions(clock: clock))
    let client = try TestClient(port: web.port)
    await client.send(try request(web, Self.query))
    await pauses.begun.wait()
    let stopping = await stop(web, clock) { pauses.cancelled.hasFired }
    let answer = try await lastAnswer(client)
    #expect(answer.status == 503 && answer.closes)
    #expect(answer.values("retry-after") == ["1"])
    #expect(answer.code == "TRY_AGAIN_LATER" && answer.text.contains("stopping"), "\(answer.text)")
    #expect(await client.end() == .closed)
    await stopping.value
    #expect(pauses.count.load(ordering: .relaxed) == 1)
    server.close()
  }

  /// Proves WS-161, WS-162.
  @Test("A save that a stopping server ends is 503 if it was not done, and unanswered if it was")
  func aStoppedServerDoesNotDenyWhatItDid() async throws {
    for point in HoldPoint.allCases {
      let server = LoopbackServer()
      try await makeRecords(server)
      let clock = SimulatedClock()
      let web = try LoopbackWebServer(
        server, options: .init(), http: HTTPServerOptions(clock: clock))
      server.controls.hold(next: 1, at: point)
      let client = try TestClient(port: web.port)
      await client.send(try request(web, Self.save, "records/modify"))
      await server.controls.waitForHeldRequests()
      let stopping = await stop(web, clock) { server.controls.heldRequests.isEmpty }
      if point == .beforeCommit {
        #expect(try await lastAnswer(client).status == 503)
      }
      #expect(await client.end() == .closed, "\(point)")
      await stopping.value
      #expect(try isSaved(server) == (point == .afterCommit), "\(point)")
      server.close()
    }
  }

  /// Proves WS-150.
  @Test("More than 250 values in one filter are refused, with the limit and the count")
  func aFilterWithTooManyValuesIsRefused() async throws {
    let server = LoopbackServer()
    try await makeRecords(server)
    let web = try LoopbackWebServer(
      server, options: .init(), http: HTTPServerOptions(clock: SimulatedClock()))
    for (count, status) in [(250, 200), (251, 400)] {
      let values = (0..<count).map { "\($0)" }.joined(separator: ",")
      let body =
        #"{"zoneID":{"zoneName":"Notes"},"#
        + #""query":{"recordType":"Note","filterBy":[{"#
        + #""fieldName":"n","comparator":"IN","#
        + #""fieldValue":{"type":"INT64_LIST","value":[\#(values)]}}]}}"#
      let client = try TestClient(port: web.port)
      let answer = try await client.ask(try request(web, body))
      #expect(answer.status == status, "\(answer.text)")
      if count > 250 {
        #expect(answer.text.contains("BAD_REQUEST") && answer.text.contains("251 values"))
        #expect(answer.text.contains("at most 250"))
      }
      await client.close()
    }
    await web.stop()
    server.close()
  }
}
