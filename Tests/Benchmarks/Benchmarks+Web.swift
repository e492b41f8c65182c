import CloudProtocol
import CloudSync
import Foundation
import LoopbackHTTP
import LoopbackServer
import Records
import SQLite
import VerificationSupport

/// The cost of a server over HTTP.
enum WebBenchmarks {
  private static let clients = 16
  private static let requests = 200

  /// P14 and P15: from one save to another device, and a small lookup against the same sockets with
  /// a constant response.
  static func all() -> [Benchmark] { [push(), lookup()] }

  // MARK: P14

  private struct World: Sendable {
    let (phone, desk): (JobDevice, JobDevice)
    let raw: Raw
    private let server: BenchServer

    init() async throws {
      server = try BenchServer(.web)
      phone = JobDevice(try server.transport("phone"), syncsAutomatically: true)
      desk = JobDevice(try server.transport("desk"), syncsAutomatically: true)
      raw = try Raw()
      _ = try await phone.sendAll()
    }
  }

  /// The floor: sockets with a constant response, and a table.
  // Guarded by the bench: one turn after the other uses it, never two at once.
  private final class Raw: @unchecked Sendable {
    private let folder: TemporaryFolder
    private let server: HTTPServer
    private let client: LocalClient
    private let database: Connection

    init() throws {
      folder = try TemporaryFolder("bench")
      database = try Connection(path: folder.path("raw.db"))
      try database.useWriteAheadLog()
      try database.execute("CREATE TABLE rows (name TEXT PRIMARY KEY, body BLOB NOT NULL) STRICT")
      server = try constantServer(bodyBytes: 400)
      client = try LocalClient(port: server.port)
    }

    /// A round trip, and one small commit that is on the disk when it returns.
    func turn() throws -> Duration {
      let start = ContinuousClock.now
      keep(try client.post("/", Array(repeating: 0x78, count: 400)))
      try database.run(
        "INSERT INTO rows (name, body) VALUES (?, ?)",
        [.text(UUID().uuidString), .blob(Array(repeating: 0x78, count: 300))])
      return ContinuousClock.now - start
    }
  }

  /// One save, sent at once, until the app of another device has the record, by push, against a
  /// bare round trip and a bare commit.
  private static func push() -> Benchmark {
    let world = Once { try await World() }
    return Benchmark(
      name: "P14 one save until another device has it by push", goal: 4,
      subject: Side("from sendChanges() to the other app") {
        let world = try await world.value
        // Pushes that follow each other within 100 ms are answered together; this is one save.
        try await Task.sleep(for: .milliseconds(150))
        let start = ContinuousClock.now
        let name = UUID().uuidString
        _ = try await world.phone.send([SpikeNote.sample(0, name: name)])
        return try await world.desk.arrival(of: name) - start
      },
      reference: Side("bare round trip + one durable commit") { try await world.value.raw.turn() },
      rounds: 41)
  }

  // MARK: P15

  private static func constantServer(bodyBytes: Int) throws -> HTTPServer {
    let body = Array(repeating: UInt8(ascii: "x"), count: bodyBytes)
    return try HTTPServer(
      admission: { _ in .accept(bodyBytes: 1 << 16) },
      handler: { _ in HTTPResponse(200, body: body) })
  }

  /// Sends requests on many connections at once.
  private static func ask(_ port: Int, _ request: [UInt8]) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<clients {
        group.addTask { _ = try await askOnThread(request, requests, port: port) }
      }
      try await group.waitForAll()
    }
  }

  private static func lookup() -> Benchmark {
    Benchmark(
      name: "P15 look a small record up, 16 connections (0.6x of the rate)", goal: 1 / 0.6,
      subject: Side(
        "lookup", operations: clients * requests,
        setUp: {
          let server = try BenchServer(.webInMemory)
          try await server.makeZone()
          var record = SpikeNote.sample(0, name: "note-0").record
          record.fields["text"] = Field(
            .string(String(repeating: "Bread, milk, apples. ", count: 10)))
          try await server.save([RecordSave(record)])
          return (server, try server.lookupRequest(of: "note-0", "alice"))
        },
        body: { context in
          try await ask(context.0.port, context.1)
          await context.0.stop()
        }),
      reference: Side(
        "a constant response of the same sockets", operations: clients * requests,
        setUp: { (try constantServer(bodyBytes: 700), [UInt8](repeating: 0x78, count: 70)) },
        body: { context in
          try await ask(
            context.0.port,
            HTTPMessage.request(
              "POST", "/", host: "127.0.0.1:\(context.0.port)",
              fields: "content-type: text/plain\r\n", body: context.1))
          await context.0.stop()
        }))
  }
}
