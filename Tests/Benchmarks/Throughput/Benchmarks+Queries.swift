import CloudMachine
import CloudProtocol
import CommandLineKit
import Foundation
import LoopbackHTTP
import LoopbackServer
import Records
import VerificationSupport

/// The cost of a long query, and its effect on other accounts.
enum QueryBenchmarks {
  private static let count = 100_000
  private static let zone = BenchServer.zone

  /// P19: a query of 100,000 records with 10,000 values in `IN`, and another account's lookup
  /// during the heaviest query that is allowed, in memory and on SQLite.
  static func all() -> [Benchmark] {
    [("in memory", BenchServer.Place.webInMemory), ("on SQLite", .web)].flatMap { name, place in
      let server = Once { try await filledServer(place) }
      return [largeFilter(name, server), lookup(name, server)]
    }
  }

  /// A server over HTTP where alice has many records and bob has one.
  private static func filledServer(_ place: BenchServer.Place) async throws -> BenchServer {
    var limits = ServerLimits()
    // The row of 10,000 values needs them; the heaviest query keeps to the limits.
    limits.filterValues = 10_000
    let server = try BenchServer(place, limits: limits)
    for (account, records) in [("alice", count), ("bob", 1)] {
      try await server.makeZone(as: account)
      let saves = SpikeNote.samples(records).map { RecordSave($0.record) }
      try await server.save(saves, as: account)
      // The first query by type makes the index.
      _ = try await server.send(
        .queryRecords(QueryRecords(query: Query(recordType: "Note"), zone: zone, limit: 1)),
        as: account)
    }
    return server
  }

  // MARK: Many values

  private static func largeFilter(_ place: String, _ server: Once<BenchServer>) -> Benchmark {
    Benchmark(
      name: "P19 query of \(count) records with 10000 values in IN, \(place)", goal: 1,
      subject: Side("the query") {
        let server = try await server.value
        // Values that no record has: every record is examined.
        let values = (0..<10_000).map { FieldValue.int64(-1 - Int64($0)) }
        let filter = Query.Filter(key: "position", comparator: .isIn, value: .list(values))
        let query = Query(recordType: "Note", filters: [filter])
        let start = Stopwatch.now
        let reply = try await server.send(.queryRecords(QueryRecords(query: query, zone: zone)))
        let time = Stopwatch.now - start
        guard case .queried(let page) = reply, page.records.isEmpty else {
          throw ToolError("the query was not answered")
        }
        return time
      },
      reference: Side("1 s") { .seconds(1) }, rounds: 5)
  }

  // MARK: Another account's lookup

  private static let lookups = 2_000

  private static func lookup(_ place: String, _ server: Once<BenchServer>) -> Benchmark {
    Benchmark(
      name: "P19 99th percentile of a lookup beside the heaviest query, \(place)", goal: 3,
      subject: Side("beside another account's heaviest query") {
        let made = try await server.value
        let heavy = Task { try await askHeavily(made) }
        let time = try await slowLookup(made)
        heavy.cancel()
        guard try await heavy.value > 0 else { throw ToolError("no query ran beside the lookups") }
        return time
      },
      reference: Side("the same lookup in peace") {
        try await slowLookup(try await server.value)
      }, rounds: 5)
  }

  /// Runs the heaviest allowed query again and again until the task is cancelled.
  ///
  /// It has all filters, each with all the values that it may have, and every record has to be
  /// examined for all of them.
  ///
  /// - Returns: How often a query was begun.
  private static func askHeavily(_ server: BenchServer) async throws -> Int {
    let limits = CloudLimits()
    let values = (0..<limits.filterValues).map { FieldValue.int64(-1 - Int64($0)) }
    let filter = Query.Filter(key: "position", comparator: .isNotIn, value: .list(values))
    let query = Query(
      recordType: "Note", filters: Array(repeating: filter, count: limits.queryTerms - 1),
      sorts: [Query.Sort(key: "text", ascending: true)])
    var count = 0
    while !Task.isCancelled {
      count += 1
      do {
        _ = try await server.send(.queryRecords(QueryRecords(query: query, zone: zone)))
      } catch {
        guard error.code == .operationCancelled else { throw error }
      }
    }
    return count
  }

  /// The time below which 99 of 100 of bob's lookups over HTTP are answered.
  private static func slowLookup(_ made: BenchServer) async throws -> Duration {
    let request = try made.lookupRequest(of: PendingSample.name(0), "bob")
    let times = try await askOnThread(request, lookups, port: made.port)
    return .nanoseconds(Int(quantile(0.99, of: times)))
  }
}
