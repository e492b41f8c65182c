import CloudProtocol
import CloudSyncTesting
import LoopbackServer
import Records
import Synchronization
import Testing
import VerificationSupport

@testable import LoopbackHTTP

/// A long query whose client goes, and what a server says to a query that is too large.
@Suite("Long queries over HTTP", .timeLimit(.minutes(20)))
struct LongQueryEndTests {
  private static let container = "iCloud.mine"
  private static let query =
    #"{"zoneID":{"zoneName":"Notes"},"query":{"recordType":"Note","sortBy":[{"fieldName":"n"}]}}"#

  /// Counts the pauses of a query and notes that its task was cancelled.
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

  /// A server with records, its HTTP interface, and a client.
  private struct World {
    let pauses = Pauses()
    let server: LoopbackServer
    let clock = SimulatedClock()
    let web: LoopbackWebServer
    let client: TestClient

    /// Starts a server whose queries pause until they are released, if `pausing` is true.
    init(pausing: Bool = false) async throws {
      server = pausing ? LoopbackServer { [pauses] in await pauses.pause() } : LoopbackServer()
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
            container: LongQueryEndTests.container, database: .private, requestID: "\(number)",
            request: request))
      }
      web = try LoopbackWebServer(server, options: .init(), http: HTTPServerOptions(clock: clock))
      client = try TestClient(port: web.port)
    }

    func request(
      _ body: String, _ endpoint: String = "records/query", isExact: Bool = false
    ) throws -> String {
      let target =
        "/database/1/\(LongQueryEndTests.container)/development/private/\(endpoint)"
        + "?ckAPIToken=\(web.apiToken())&ckWebAuthToken=\(try web.webAuthToken(for: "bob"))"
      return
        "POST \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(web.port)\r\n"
        + (isExact ? "cloudsync: 1\r\n" : "")
        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    /// Sends the query and waits until it pauses.
    func beginQuery() async throws {
      await client.send(try request(LongQueryEndTests.query))
      await pauses.begun.wait()
    }

    /// Sends a save that is held at `point`.
    func beginSave(heldAt point: HoldPoint) async throws {
      server.controls.hold(next: 1, at: point)
      await client.send(try request(LongQueryEndTests.save, "records/modify"))
      await server.controls.waitForHeldRequests()
    }

    var isSaved: Bool {
      get throws {
        try server
          .changeLog(
            of: ZoneID(name: "Notes"), container: LongQueryEndTests.container, account: "bob"
          ).contains { $0.record.name == "new" }
      }
    }
  }

  /// Stops a server and lets the time pass until `isDone`, and less than a second more; its end can
  /// be waited for afterwards.
  private func stop(
    _ world: World, until isDone: () -> Bool
  ) async -> Task<Void, Never> {
    let stopping = Task { await world.web.stop() }
    while !isDone() {
      world.clock.advance(by: .milliseconds(500))
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
    let world = try await World(pausing: true)
    try await world.beginQuery()
    await world.client.close()
    while !world.pauses.cancelled.hasFired { await world.clock.pass(.milliseconds(100)) }
    await world.web.stop()
    let entry = world.server.controls.requests.last { $0.kind == .queryRecords }
    #expect(entry?.outcome == .failed(.operationCancelled))
    #expect(world.pauses.count.load(ordering: .relaxed) == 1)
    world.server.close()
  }

  /// Proves WS-160.
  @Test("A client that only ends its side of the connection gets the answer to a long query")
  func aClientThatEndsItsSideGetsItsQuery() async throws {
    let world = try await World(pausing: true)
    try await world.beginQuery()
    await world.client.endWriting()
    for _ in 0..<20 { await world.clock.pass(.seconds(1)) }
    #expect(!world.pauses.cancelled.hasFired)
    world.pauses.release.fire()
    let answer = try await lastAnswer(world.client)
    #expect(answer.status == 200 && answer.text.contains("note-199"), "\(answer.status)")
    #expect(await world.client.end() == .closed)
    await world.web.stop()
    world.server.close()
  }

  private static let save =
    #"{"zoneID":{"zoneName":"Notes"},"operations":[{"operationType":"create","record":{"#
    + #""recordName":"new","recordType":"Note","fields":{"n":{"value":1,"type":"INT64"}}}}]}"#

  /// Proves WS-160.
  @Test("A save of a client that ends its side is done and answered, wherever the end finds it")
  func aSaveOfAClientThatEndsItsSideIsAnswered() async throws {
    for point in HoldPoint.allCases {
      let world = try await World()
      try await world.beginSave(heldAt: point)
      await world.client.endWriting()
      for _ in 0..<5 { await world.clock.pass(.seconds(1)) }
      world.server.controls.release()
      let answer = try await lastAnswer(world.client)
      #expect(answer.status == 200 && answer.text.contains(#""recordName":"new""#), "\(point)")
      #expect(try world.isSaved, "\(point)")
      await world.web.stop()
      world.server.close()
    }
  }

  /// Proves WS-151, WS-161.
  @Test("A server that is stopped ends its queries when the time for requests is over, and says so")
  func aStoppedServerEndsItsQueries() async throws {
    let world = try await World(pausing: true)
    try await world.beginQuery()
    let stopping = await stop(world) { world.pauses.cancelled.hasFired }
    let answer = try await lastAnswer(world.client)
    #expect(answer.status == 503 && answer.closes)
    #expect(answer.values("retry-after") == ["1"])
    #expect(answer.code == "TRY_AGAIN_LATER" && answer.text.contains("stopping"), "\(answer.text)")
    #expect(await world.client.end() == .closed)
    await stopping.value
    #expect(world.pauses.count.load(ordering: .relaxed) == 1)
    world.server.close()
  }

  /// Proves WS-161, WS-162.
  @Test("A save that a stopping server ends is 503 if it was not done, and unanswered if it was")
  func aStoppedServerDoesNotDenyWhatItDid() async throws {
    for point in HoldPoint.allCases {
      let world = try await World()
      try await world.beginSave(heldAt: point)
      let stopping = await stop(world) { world.server.controls.heldRequests.isEmpty }
      if point == .beforeCommit {
        #expect(try await lastAnswer(world.client).status == 503)
      }
      #expect(await world.client.end() == .closed, "\(point)")
      await stopping.value
      #expect(try world.isSaved == (point == .afterCommit), "\(point)")
      world.server.close()
    }
  }

  /// Proves WS-161.
  @Test("A request for the changes of several zones that a stopping server ends is 503 as a whole")
  func aStoppedServerEndsChangesOfZones() async throws {
    for isExact in [false, true] {
      let world = try await World()
      let zone = #"{"zoneID":{"zoneName":"Notes"}}"#
      // The first zone is answered, and the second one waits.
      world.server.controls.hold(next: 2)
      await world.client.send(
        try world.request(
          #"{"zones":[\#(zone),\#(zone)]}"#, "changes/zone", isExact: isExact))
      await world.server.controls.waitForHeldRequests()
      world.server.controls.release(1)
      await world.server.controls.waitForHeldRequests()
      let stopping = await stop(world) { world.server.controls.heldRequests.isEmpty }
      let answer = try await lastAnswer(world.client)
      #expect(answer.status == 503 && answer.closes, "\(answer.text.prefix(200))")
      #expect(answer.values("retry-after") == ["1"] && answer.code == "TRY_AGAIN_LATER")
      await stopping.value
      world.server.close()
    }
  }

  /// Proves WS-150.
  @Test("More than 250 values in one filter are refused, with the limit and the count")
  func aFilterWithTooManyValuesIsRefused() async throws {
    let world = try await World()
    for (count, status) in [(250, 200), (251, 400)] {
      let values = (0..<count).map { "\($0)" }.joined(separator: ",")
      let body =
        #"{"zoneID":{"zoneName":"Notes"},"#
        + #""query":{"recordType":"Note","filterBy":[{"#
        + #""fieldName":"n","comparator":"IN","#
        + #""fieldValue":{"type":"INT64_LIST","value":[\#(values)]}}]}}"#
      let client = try TestClient(port: world.web.port)
      let answer = try await client.ask(try world.request(body))
      #expect(answer.status == status, "\(answer.text)")
      if count > 250 {
        #expect(answer.text.contains("BAD_REQUEST") && answer.text.contains("251 values"))
        #expect(answer.text.contains("at most 250"))
      }
      await client.close()
    }
    await world.web.stop()
    world.server.close()
  }
}
