import CloudProtocol
import CloudSync
import CommandLineKit
import Foundation
import LoopbackHTTP
import LoopbackServer
import Records
import SQLite
import Synchronization

/// What a server over HTTP costs.
enum WebBenchmarks {
  private static let container = "iCloud.bench"
  private static let zone = ZoneID(name: "Notes")

  /// A small lookup against the same sockets answering a constant; records up and down over HTTP
  /// into SQLite against bare inserts of the same bytes.
  static func all() -> [Benchmark] {
    [lookup(), PushBenchmark.latency()] + [10_000, 100_000].flatMap { [up($0), down($0)] }
  }

  /// A server on a file of its own, behind HTTP, with one device.
  private final class Place: Sendable {
    let folder: TemporaryFolder
    let server: LoopbackServer
    let web: LoopbackWebServer
    let transport: WebServicesTransport

    init() throws {
      folder = try TemporaryFolder()
      server = try LoopbackServer(path: folder.path("cloud.db"))
      web = try LoopbackWebServer(server)
      transport = WebServicesTransport(
        url: URL(string: web.url), apiToken: web.apiToken(),
        webAuthToken: try web.webAuthToken(for: "alice"), device: "bench")
    }

    deinit { server.close() }

    func send(_ request: CloudRequest) async throws -> CloudReply {
      try await transport.send(
        CloudCall(
          container: container, database: .private, requestID: UUID().uuidString,
          request: request))
    }

    func upload(_ records: [RecordSave]) async throws {
      _ = try await send(.modifyZones(ModifyZones(save: [zone])))
      for start in stride(from: 0, to: records.count, by: 400) {
        let batch = Array(records[start..<min(start + 400, records.count)])
        guard
          case .recordsModified(let saved, _) = try await send(
            .modifyRecords(ModifyRecords(save: batch))),
          saved.allSatisfy({ $0.error == nil })
        else { throw ToolError("records were not saved") }
      }
    }

    func download() async throws -> Int {
      var token: ChangeToken?
      var count = 0
      while true {
        let request = FetchZoneChanges(zone: zone, since: token, limit: 400)
        guard case .zoneChanges(let page) = try await send(.fetchZoneChanges(request)) else {
          throw ToolError("no page came")
        }
        count += page.modified.count
        token = page.token
        if !page.moreComing { return count }
      }
    }

    func stop() async {
      await web.stop()
      server.close()
    }
  }

  private static func saves(_ count: Int) -> [RecordSave] {
    (0..<count).map { number in
      RecordSave(
        Record(
          id: RecordID(name: "note-\(number)", zone: zone), type: "Note",
          fields: [
            "text": .string(String(repeating: "Bread, milk, apples. ", count: 10)),
            "position": .int64(Int64(number)), "isDone": .int64(0),
            "lastModified": .date(
              Timestamp(secondsSinceReferenceDate: 700_000_000.123 + Double(number))),
          ]))
    }
  }

  // MARK: Requests

  private static let clients = 4
  private static let requests = 500

  private final class Failures: Sendable {
    let count = Atomic<Int>(0)
  }

  /// Asks from threads of its own: a client that blocks must not take one from the server's tasks.
  private static func asking(_ port: Int, _ request: [UInt8]) async throws {
    let failures = Failures()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<clients {
        group.addTask {
          await withCheckedContinuation { continuation in
            Thread.detachNewThread {
              let connection = try? RawConnection(port: port)
              for _ in 0..<requests where (try? connection?.ask(request)) != 200 {
                failures.count.add(1, ordering: .relaxed)
                break
              }
              continuation.resume()
            }
          }
        }
      }
    }
    guard failures.count.load(ordering: .relaxed) == 0 else { throw ToolError("not answered") }
  }

  private static func lookup() -> Benchmark {
    Benchmark(
      name: "look a small record up over HTTP", goal: nil,
      subject: Side(
        "lookup, 4 connections", operations: clients * requests,
        setUp: {
          let server = LoopbackServer()
          let web = try LoopbackWebServer(server)
          let transport = server.device("setup", signedInAs: "alice")
          _ = try await transport.send(
            CloudCall(
              container: container, database: .private, requestID: "1",
              request: .modifyZones(ModifyZones(save: [zone]))))
          _ = try await transport.send(
            CloudCall(
              container: container, database: .private, requestID: "2",
              request: .modifyRecords(ModifyRecords(save: saves(1)))))
          return (web, request(web, try web.webAuthToken(for: "alice")))
        },
        body: { context in
          try await asking(context.0.port, context.1)
          await context.0.stop()
        }),
      reference: Side(
        "a constant answer of the same sockets", operations: clients * requests,
        setUp: {
          let body = Array(repeating: UInt8(ascii: "x"), count: 700)
          return try HTTPServer(
            admission: { _ in .accept(bodyBytes: 1 << 16) },
            handler: { _ in HTTPResponse(200, body: body) })
        },
        body: { server in
          try await asking(
            server.port, post("/", host: "127.0.0.1:\(server.port)", lookupBody))
          await server.stop()
        }))
  }

  private static let lookupBody =
    #"{"zoneID":{"zoneName":"Notes"},"records":[{"recordName":"note-0"}]}"#

  private static func request(_ web: LoopbackWebServer, _ token: String) -> [UInt8] {
    post(
      "/database/1/\(container)/development/private/records/lookup?ckAPIToken=\(web.apiToken())"
        + "&ckWebAuthToken=\(token)", host: "127.0.0.1:\(web.port)", lookupBody)
  }

  private static func post(_ target: String, host: String, _ body: String) -> [UInt8] {
    Array(
      ("POST \(target) HTTP/1.1\r\nhost: \(host)\r\ncontent-type: text/plain\r\n"
        + "content-length: \(body.utf8.count)\r\n\r\n\(body)").utf8)
  }

  // MARK: Records

  private static func up(_ count: Int) -> Benchmark {
    let records = saves(count)
    return Benchmark(
      name: "\(count) records up over HTTP into SQLite", goal: nil,
      subject: Side(
        "400 a request", operations: count, setUp: { try Place() },
        body: { place in
          try await place.upload(records)
          await place.stop()
        }), reference: inserts(records), rounds: count > 10_000 ? 1 : 5)
  }

  private static func down(_ count: Int) -> Benchmark {
    let records = saves(count)
    return Benchmark(
      name: "\(count) records down over HTTP from SQLite", goal: nil,
      subject: Side(
        "pages of the server's size", operations: count,
        setUp: {
          let place = try Place()
          try await place.upload(records)
          return place
        },
        body: { place in
          guard try await place.download() == count else { throw ToolError("some are missing") }
          await place.stop()
        }), reference: inserts(records), rounds: count > 10_000 ? 1 : 5)
  }

  /// The same bytes into a bare table, 400 rows a transaction, each on the disk when it ends.
  private static func inserts(_ records: [RecordSave]) -> Side {
    let rows = records.map { save -> (String, [UInt8]) in
      var writer = ByteWriter()
      writer.write(
        Record(
          id: save.id, type: save.type,
          fields: Fields(
            save.changes.compactMap { change in
              change.field.map { Fields.Element(key: change.key, field: $0) }
            })))
      return (save.id.name, writer.bytes)
    }
    return Side(
      "bare SQLite inserts", operations: records.count, setUp: { try TemporaryFolder() },
      body: { folder in
        let connection = try Connection(path: folder.path("raw.db"))
        try connection.useWriteAheadLog()
        try connection.execute(
          "CREATE TABLE rows (name TEXT PRIMARY KEY, body BLOB NOT NULL) STRICT")
        for start in stride(from: 0, to: rows.count, by: 400) {
          try connection.transaction {
            for row in rows[start..<min(start + 400, rows.count)] {
              try connection.run(
                "INSERT INTO rows (name, body) VALUES (?, ?)", [.text(row.0), .blob(row.1)])
            }
          }
        }
        try connection.close()
      })
  }
}

/// A folder that goes when nobody holds it.
final class TemporaryFolder: Sendable {
  private let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("bench-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// The path of a file in it.
  func path(_ name: String) -> String { url.appendingPathComponent(name).path }
}
