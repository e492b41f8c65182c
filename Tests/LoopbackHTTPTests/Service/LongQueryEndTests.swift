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
    let cancelled = Signal()

    /// Waits until the task is cancelled.
    func pause() async {
      count.add(1, ordering: .relaxed)
      begun.fire()
      await withTaskCancellationHandler {
        await cancelled.wait()
      } onCancel: {
        cancelled.fire()
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

  private func request(_ web: LoopbackWebServer, _ body: String) throws -> String {
    let target =
      "/database/1/\(Self.container)/development/private/records/query?ckAPIToken=\(web.apiToken())"
      + "&ckWebAuthToken=\(try web.webAuthToken(for: "bob"))"
    return
      "POST \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(web.port)\r\nContent-Length: \(body.utf8.count)"
      + "\r\n\r\n\(body)"
  }

  /// Proves WS-151.
  @Test("A client that closes its connection ends its query at the next slice")
  func aClientThatGoesEndsItsQuery() async throws {
    let pauses = Pauses()
    let server = LoopbackServer { await pauses.pause() }
    try await makeRecords(server)
    let web = try LoopbackWebServer(
      server, options: .init(), http: HTTPServerOptions(clock: SimulatedClock()))
    let client = try TestClient(port: web.port)
    await client.send(try request(web, Self.query))
    await pauses.begun.wait()
    await client.close()
    await pauses.cancelled.wait()
    await web.stop()
    let entry = server.controls.requests.last { $0.kind == .queryRecords }
    #expect(entry?.outcome == .failed(.operationCancelled))
    #expect(pauses.count.load(ordering: .relaxed) == 1)
    server.close()
  }

  /// Proves WS-151.
  @Test("A server that is stopped ends its queries when the time for running requests is over")
  func aStoppedServerEndsItsQueries() async throws {
    let pauses = Pauses()
    let server = LoopbackServer { await pauses.pause() }
    try await makeRecords(server)
    let clock = SimulatedClock()
    let web = try LoopbackWebServer(server, options: .init(), http: HTTPServerOptions(clock: clock))
    let client = try TestClient(port: web.port)
    await client.send(try request(web, Self.query))
    await pauses.begun.wait()
    let stopped = Signal()
    let stopping = Task {
      await web.stop()
      stopped.fire()
    }
    while !stopped.hasFired {
      clock.advance(by: .seconds(1))
      await Task.yield()
    }
    await stopping.value
    #expect(pauses.count.load(ordering: .relaxed) == 1)
    server.close()
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
