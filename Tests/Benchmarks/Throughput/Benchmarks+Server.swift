import CloudProtocol
import CloudSync
import CommandLineKit
import Foundation
import LoopbackServer
import Records
import SQLite
import VerificationSupport

/// What the server costs, without the engines.
enum ServerBenchmarks {
  private static let batch = 400
  private static let batches = 25
  private static let million = 1_000_000

  /// P13, P12 and P17: a durable commit against bare inserts, growth against itself, and memory.
  static func all() -> [Benchmark] {
    [durable, growth, bigUp, bigDown, memory]
  }

  // MARK: P13

  private static var durable: Benchmark {
    let notes = Once { SpikeNote.samples(batch * batches) }
    return Benchmark(
      name: "P13 durable commit of a request of 400 records", goal: 6,
      subject: Side(
        "modifyRecords on a file", operations: batches,
        setUp: {
          let server = try BenchServer(.file)
          try await server.makeZone()
          return (server, records(try await notes.value))
        },
        body: { context in try await context.0.save(context.1) }),
      reference: inserts(notes), rounds: 9)
  }

  /// The same bytes with one prepared statement, as many rows in a transaction, each on the disk.
  private static func inserts(_ notes: Once<[SpikeNote]>) -> Side {
    Side(
      "bare prepared inserts", operations: batches,
      setUp: {
        let folder = try TemporaryFolder("bench")
        let connection = try Connection(path: folder.path("raw.db"))
        try connection.useWriteAheadLog()
        try connection.execute(
          "CREATE TABLE rows (name TEXT PRIMARY KEY, body BLOB NOT NULL) STRICT")
        let rows = records(try await notes.value).map { save -> (String, [UInt8]) in
          var writer = ByteWriter()
          let fields = save.changes.compactMap { change in
            change.field.map { Fields.Element(key: change.key, field: $0) }
          }
          writer.write(Record(id: save.id, type: save.type, fields: Fields(fields)))
          return (save.id.name, writer.bytes)
        }
        return Bare(folder: folder, connection: connection, rows: rows)
      },
      body: { bare in
        for start in stride(from: 0, to: bare.rows.count, by: batch) {
          try bare.connection.transaction {
            for row in bare.rows[start..<min(start + batch, bare.rows.count)] {
              try bare.connection.run(
                "INSERT INTO rows (name, body) VALUES (?, ?)", [.text(row.0), .blob(row.1)])
            }
          }
        }
      })
  }

  private struct Bare {
    let folder: TemporaryFolder
    let connection: Connection
    let rows: [(String, [UInt8])]
  }

  private static func records(_ notes: [SpikeNote]) -> [RecordSave] {
    notes.map { RecordSave($0.record) }
  }

  // MARK: P12

  private static var growth: Benchmark {
    func saving(_ count: Int) -> Side {
      Side(
        "\(count) on a file", operations: 1,
        setUp: {
          let server = try BenchServer(.file)
          try await server.makeZone()
          return (server, records(SpikeNote.samples(count)))
        },
        body: { context in try await context.0.save(context.1) })
    }
    return Benchmark(
      name: "P12 push of 100000 against 10000, on SQLite", goal: 13,
      subject: saving(100_000), reference: saving(10_000), rounds: 3, warmsUp: false)
  }

  /// Two servers that stay for several rows, since filling them takes long.
  private static let filled = [million, 100_000].reduce(into: [Int: Once<BenchServer>]()) {
    servers, count in servers[count] = Once { try await BenchServer.holding(count) }
  }

  private static func server(_ count: Int) async throws -> BenchServer {
    guard let server = try await filled[count]?.value else { throw ToolError("no such server") }
    return server
  }

  /// 1,000 different notes below `limit`.
  private static func someNotes(below limit: Int) -> [SpikeNote] {
    var numbers = Set<Int>()
    while numbers.count < 1_000 { numbers.insert(Int.random(in: 0..<limit)) }
    return numbers.sorted().map { SpikeNote.sample($0) }
  }

  private static func changing(_ count: Int) -> Side {
    Side("1000 of \(count)", operations: 1) {
      let server = try await server(count)
      let saves = records(someNotes(below: count)).map { save in
        var save = save
        save.changes = save.changes.map { change in
          var change = change
          if change.key == "isDone" {
            change.field = Field(.int64(Int64.random(in: 1...1_000_000)))
          }
          return change
        }
        return save
      }
      let start = ContinuousClock.now
      try await server.save(saves, policy: .allKeys)
      return ContinuousClock.now - start
    }
  }

  private static func fetching(_ count: Int) -> Side {
    Side("1000 of \(count)", operations: 1) {
      let server = try await server(count)
      let token = try await server.token()
      try await server.save(records(someNotes(below: count)), policy: .allKeys)
      let start = ContinuousClock.now
      let found = try await server.fetch(since: token)
      guard found == 1_000 else { throw ToolError("\(found) of 1000 changes came") }
      return ContinuousClock.now - start
    }
  }

  private static var bigUp: Benchmark {
    Benchmark(
      name: "P12 push of 1000 changes at 1000000, on SQLite", goal: 1.5,
      subject: changing(million), reference: changing(100_000), rounds: 9)
  }

  private static var bigDown: Benchmark {
    Benchmark(
      name: "P12 pull of 1000 changes at 1000000, on SQLite", goal: 1.2,
      subject: fetching(million), reference: fetching(100_000), rounds: 9)
  }

  // MARK: P17

  private static var memory: Benchmark {
    Benchmark(
      name: "P17 memory of a server of 1000000 records on SQLite", goal: 1,
      subject: Side("the server, after a pull of 1000 changes") {
        _ = try await server(million)
        let before = try await Memory.settledBytesInUse()
        // What it holds is what goes with it; reopening it says the rest.
        for server in filled.values { await server.forget() }
        let after = try await Memory.settledBytesInUse()
        return .nanoseconds(before - after)
      },
      reference: Side("400 MB") { .nanoseconds(400_000_000) }, rounds: 1, unit: .bytes,
      warmsUp: false)
  }
}
