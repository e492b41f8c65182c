import CloudProtocol
import CloudSync
import CommandLineKit
import Foundation
import LoopbackHTTP
import LoopbackServer
import Records
import Synchronization

/// What a server over HTTP costs.
enum WebBenchmarks {
  private static let container = "iCloud.bench"
  private static let zone = ZoneID(name: "Notes")

  /// P14 and P15: from one save to another device, and a small lookup against the same sockets
  /// answering a constant.
  static func all() -> [Benchmark] {
    [PushBenchmark.latency(), lookup()]
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

  private static let clients = 16
  private static let requests = 200

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
      name: "P15 look a small record up, 16 connections (0.6x of the rate)", goal: 1 / 0.6,
      subject: Side(
        "lookup", operations: clients * requests,
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
