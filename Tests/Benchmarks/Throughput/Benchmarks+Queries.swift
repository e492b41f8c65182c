import CloudMachine
import CloudProtocol
import CommandLineKit
import Foundation
import LoopbackHTTP
import LoopbackServer
import Records
import Synchronization

/// What a long query costs, and what it costs others.
enum QueryBenchmarks {
  private static let count = 100_000
  private static let container = "iCloud.bench"
  private static let zone = ZoneID(name: "Notes")

  /// P19: a query of 100,000 records with 10,000 values in `IN`, and another account's lookup
  /// during the heaviest query that is allowed, in memory and on SQLite.
  static func all() -> [Benchmark] {
    [("in memory", Server(isOnFile: false)), ("on SQLite", Server(isOnFile: true))]
      .flatMap { place, server in [largeFilter(place, server), lookup(place, server)] }
  }

  /// A server over HTTP where alice has many records and bob has one.
  private final class Server: Sendable {
    private let isOnFile: Bool
    private let made = Mutex<Made?>(nil)

    struct Made: Sendable {
      var server: LoopbackServer
      var web: LoopbackWebServer
      var folder: TemporaryFolder
    }

    init(isOnFile: Bool) { self.isOnFile = isOnFile }

    /// The server, which is made and filled when it is first asked for.
    func get() async throws -> Made {
      if let made = made.withLock({ $0 }) { return made }
      let folder = try TemporaryFolder()
      var limits = ServerLimits()
      // What the row of 10,000 values needs; the heaviest query keeps to what is allowed.
      limits.filterValues = 10_000
      let server =
        isOnFile
        ? try LoopbackServer(path: folder.path("cloud.db"), limits: limits)
        : LoopbackServer(limits: limits)
      try await QueryBenchmarks.fill(server)
      let made = Made(server: server, web: try LoopbackWebServer(server), folder: folder)
      self.made.withLock { $0 = made }
      return made
    }
  }

  private static func fill(_ server: LoopbackServer) async throws {
    for (account, records) in [("alice", count), ("bob", 1)] {
      let device = server.device(account, signedInAs: account)
      func send(_ request: CloudRequest) async throws {
        _ = try await device.send(
          CloudCall(
            container: container, database: .private, requestID: UUID().uuidString,
            request: request))
      }
      try await send(.modifyZones(ModifyZones(save: [zone])))
      for start in stride(from: 0, to: records, by: 400) {
        let saves = (start..<min(records, start + 400)).map {
          RecordSave(BareServer.record(Job.note($0)))
        }
        try await send(.modifyRecords(ModifyRecords(save: saves)))
      }
      // The first query by type makes the index.
      try await send(
        .queryRecords(QueryRecords(query: Query(recordType: "Note"), zone: zone, limit: 1)))
    }
  }

  // MARK: Many values

  private static func largeFilter(_ place: String, _ server: Server) -> Benchmark {
    Benchmark(
      name: "P19 query of \(count) records with 10000 values in IN, \(place)", goal: 1,
      subject: Side("the query") {
        let server = try await server.get().server
        let device = server.device("alice", signedInAs: "alice")
        // Values that no record has: every record is examined.
        let values = (0..<10_000).map { FieldValue.int64(-1 - Int64($0)) }
        let filter = Query.Filter(key: "position", comparator: .isIn, value: .list(values))
        let query = Query(recordType: "Note", filters: [filter])
        let start = Stopwatch.now
        let reply = try await device.send(
          CloudCall(
            container: container, database: .private, requestID: UUID().uuidString,
            request: .queryRecords(QueryRecords(query: query, zone: zone))))
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

  private static func lookup(_ place: String, _ server: Server) -> Benchmark {
    Benchmark(
      name: "P19 99th percentile of a lookup beside the heaviest query, \(place)", goal: 3,
      subject: Side("beside another account's heaviest query") {
        let made = try await server.get()
        let heavy = Task { try await askHeavily(made.server) }
        let time = try await slowLookup(made)
        heavy.cancel()
        guard try await heavy.value > 0 else { throw ToolError("no query ran beside the lookups") }
        return time
      },
      reference: Side("the same lookup in peace") {
        try await slowLookup(try await server.get())
      }, rounds: 5)
  }

  /// Runs the heaviest allowed query again and again until the task is cancelled.
  ///
  /// It has all filters, each with all the values that it may have, and every record has to be
  /// examined for all of them.
  ///
  /// - Returns: How often a query was begun.
  private static func askHeavily(_ server: LoopbackServer) async throws -> Int {
    let limits = CloudLimits()
    let values = (0..<limits.filterValues).map { FieldValue.int64(-1 - Int64($0)) }
    let filter = Query.Filter(key: "position", comparator: .isNotIn, value: .list(values))
    let query = Query(
      recordType: "Note", filters: Array(repeating: filter, count: limits.queryTerms - 1),
      sorts: [Query.Sort(key: "text", ascending: true)])
    let device = server.device("alice", signedInAs: "alice")
    var count = 0
    while !Task.isCancelled {
      count += 1
      do {
        _ = try await device.send(
          CloudCall(
            container: container, database: .private, requestID: UUID().uuidString,
            request: .queryRecords(QueryRecords(query: query, zone: zone))))
      } catch {
        guard error.code == .operationCancelled else { throw error }
      }
    }
    return count
  }

  /// The time below which 99 of 100 of bob's lookups over HTTP are answered.
  private static func slowLookup(_ made: Server.Made) async throws -> Duration {
    let name = Job.note(0).name
    let token = try made.web.webAuthToken(for: "bob")
    let body = #"{"zoneID":{"zoneName":"Notes"},"records":[{"recordName":"\#(name)"}]}"#
    let request = Array(
      ("POST /database/1/\(container)/development/private/records/lookup?"
        + "ckAPIToken=\(made.web.apiToken())&ckWebAuthToken=\(token)"
        + " HTTP/1.1\r\nhost: 127.0.0.1:\(made.web.port)\r\ncontent-type: text/plain\r\n"
        + "content-length: \(body.utf8.count)\r\n\r\n\(body)").utf8)
    let port = made.web.port
    // A client that blocks must not take a thread from the tasks of the server.
    let times: [Double]? = await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(returning: try? lookupTimes(of: request, port: port))
      }
    }
    guard let times else { throw ToolError("a lookup was not answered") }
    return .nanoseconds(Int(quantile(0.99, of: times)))
  }

  private static func lookupTimes(of request: [UInt8], port: Int) throws -> [Double] {
    let connection = try RawConnection(port: port)
    return try (0..<lookups).map { _ in
      let start = ContinuousClock.now
      guard try connection.ask(request) == 200 else { throw ToolError("a lookup was refused") }
      return (ContinuousClock.now - start) / .nanoseconds(1)
    }
  }
}
