import CloudProtocol
import Records
import Synchronization
import Testing

@testable import LoopbackServer

/// Queries over so many records that they take several slices.
@Suite("Long queries", .timeLimit(.minutes(20)))
struct LongQueryTests {
  /// A server of 1,000 records, and what it does between the slices of a query.
  private final class Paused: Sendable {
    typealias Work = @Sendable (Int) async -> Void

    /// The number of pauses of a query, and the action at each.
    private final class Pauses: Sendable {
      let count = Atomic<Int>(0)
      let work = Mutex<Work>({ _ in })
    }

    let server: LoopbackServer
    let phone: LoopbackDevice
    let other: LoopbackDevice
    private let pauses: Pauses

    var count: Int { pauses.count.load(ordering: .relaxed) }

    init() async throws {
      let pauses = Pauses()
      self.pauses = pauses
      server = LoopbackServer {
        let work = pauses.work.withLock { $0 }
        await work(pauses.count.add(1, ordering: .relaxed).newValue)
      }
      phone = server.device("phone", signedInAs: "alice")
      other = server.device("other", signedInAs: "bob")
      for device in [phone, other] {
        _ = try await device.send(call("z", .modifyZones(ModifyZones(save: [zoneA]))))
        _ = try await device.send(saving("first"))
      }
      for start in stride(from: 0, to: 1_000, by: 250) {
        let saves = (start..<start + 250).map { number in
          RecordSave(
            Record(
              id: RecordID(name: "r\(number)", zone: zoneA), type: "T",
              fields: ["n": .int64(Int64(number))]))
        }
        _ = try await phone.send(
          call("s\(start)", .modifyRecords(ModifyRecords(save: saves))))
      }
    }

    /// Asks for what no record is, so that all are examined.
    func query(_ work: @escaping Work) async -> String {
      pauses.work.withLock { $0 = work }
      let filter = Query.Filter(key: "n", comparator: .equals, value: .int64(-1))
      let request = QueryRecords(query: Query(recordType: "T", filters: [filter]), zone: zoneA)
      return await outcome(of: call("q", .queryRecords(request)), on: phone)
    }
  }

  /// Proves CS-215.
  @Test("Another account's lookup, a save and a query are answered between two slices of a query")
  func otherRequestsAreAnsweredBetweenSlices() async throws {
    let paused = try await Paused()
    let answers = Mutex<[String]>([])
    let (phone, other) = (paused.phone, paused.other)
    let lookup = CloudRequest.fetchRecords(
      FetchRecords(ids: [RecordID(name: "first", zone: zoneA)]))
    let end = await paused.query { number in
      guard number == 2 else { return }
      let found = [
        await outcome(of: call("l", lookup), on: other),
        await outcome(of: saving("between"), on: phone),
        await outcome(
          of: call("o", .queryRecords(QueryRecords(query: Query(recordType: "T")))), on: other),
      ]
      answers.withLock { $0 = found }
    }
    #expect(end == "ok" && paused.count >= 15)
    #expect(answers.withLock { $0 } == ["ok", "ok", "ok"])
    paused.server.close()
  }

  /// Proves CS-216.
  @Test("A query whose caller is cancelled stops before its end")
  func aCancelledQueryStops() async throws {
    let paused = try await Paused()
    let end = await Task {
      await paused.query { number in
        if number == 3 { withUnsafeCurrentTask { $0?.cancel() } }
      }
    }.value
    #expect(end == "operationCancelled" && paused.count == 3)
    #expect(paused.server.controls.openRequestCount == 0)
    paused.server.close()
  }

  /// Proves CS-216.
  @Test("A server that is closed during a query ends it at the next slice")
  func aClosedServerEndsAQuery() async throws {
    let paused = try await Paused()
    let server = paused.server
    let end = await paused.query { number in if number == 2 { server.close() } }
    #expect(end == "networkFailure" && paused.count == 2)
  }
}
