import CloudProtocol
import Foundation
import LoopbackServer
import Testing
import WebServices

@testable import LoopbackHTTP

/// The pages for programs that watch the server.
@Suite("Health, readiness and metrics")
struct StatusPageTests {
  private func get(
    _ world: AccessWorld, _ path: String, _ fields: [String] = [], method: String = "GET"
  ) async throws -> TestClient.Answer {
    try await world.ask(method, path, fields: fields)
  }

  @Test("Health needs no token, readiness tells whether the storage answers")
  func healthAndReadinessNeedNoToken() async throws {
    try await AccessWorld.run { world in
      for path in ["/healthz", "/readyz"] {
        let answer = try await get(world, path)
        #expect(answer.status == 200 && answer.text == "ok\n", "\(path)")
        #expect(try await get(world, path, method: "HEAD").status == 200)
        #expect(try await get(world, path, method: "POST").status == 405)
        let foreign = try await get(world, path, ["Origin: http://evil.example"])
        #expect(foreign.status == 403)
      }
      world.server.close()
      #expect(try await get(world, "/healthz").status == 200)
      let answer = try await get(world, "/readyz")
      #expect(answer.status == 503 && answer.text.contains("closed"), "\(answer.text)")
    }
  }

  @Test("The path of a file that is gone is for holders of the control token, and in no answer")
  func pathOfFileIsForOperators() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("status-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("place.sqlite")
    try await AccessWorld.run(path: file.path) { world in
      let query = try world.query("bob")
      try FileManager.default.moveItem(at: file, to: folder.appendingPathComponent("elsewhere"))
      let refused = try await world.post(
        .recordsLookup, query: query, #"{"records":[{"recordName":"a"}]}"#)
      for answer in [refused, try await get(world, "/readyz")] {
        #expect(answer.status == 503, "\(answer.text)")
        #expect(answer.text.contains("the server's file was moved"), "\(answer.text)")
        #expect(!answer.text.contains("place.sqlite"), "\(answer.text)")
      }
      let token = "Authorization: Bearer \(world.web.controlToken)"
      let known = try await get(world, "/readyz", [token])
      #expect(known.status == 503 && known.text.contains("place.sqlite was moved"), "\(known.text)")
    }
  }

  @Test("Browsers that ask for an icon get none, without an error")
  func iconIsEmpty() async throws {
    try await AccessWorld.run { world in
      for method in ["GET", "HEAD"] {
        let answer = try await get(world, "/favicon.ico", method: method)
        #expect(answer.status == 204 && answer.body.isEmpty)
      }
    }
  }

  @Test("Metrics need the control token, and count requests, bytes and pushes that wait")
  func metricsCountRequestsAndPushes() async throws {
    try await AccessWorld.run { world in
      for fields in [[], ["Authorization: Bearer nothing"]] {
        #expect(try await get(world, "/metrics", fields).status == 401)
      }
      let things = try await world.settle()
      _ = try await world.ask("GET", things.filePath)
      _ = try await world.ask("GET", "/nothing/\(AccessWorld.mark)")
      _ = try await world.post(.recordsLookup, query: "ckAPIToken=wrong", "{}")
      let answer = try await get(
        world, "/metrics", ["Authorization: Bearer \(world.web.controlToken)"])
      #expect(answer.status == 200)
      #expect(answer.lines.contains("content-type: text/plain; version=0.0.4; charset=utf-8"))
      let lines = answer.text.split(separator: "\n").map(String.init)
      // A metric's help and type come before its values.
      var described: Set<Substring> = []
      for line in answer.text.split(separator: "\n") {
        let words = line.split(separator: " ", maxSplits: 3)
        guard words[0] == "#" else {
          let name = line.prefix { $0 != "{" && $0 != " " }
          let family = name.replacing(/_(bucket|sum|count)$/, with: "")
          #expect(described.contains(name) || described.contains(family[...]), "\(line)")
          continue
        }
        if words[1] == "TYPE" { described.insert(words[2]) }
      }
      for line in [
        #"cloudsync_requests_total{operation="records/modify",status="200"} 1"#,
        #"cloudsync_requests_total{operation="records/lookup",status="200"} 1"#,
        #"cloudsync_requests_total{operation="records/lookup",status="401"} 1"#,
        #"cloudsync_requests_total{operation="assets/content/download",status="200"} 1"#,
        #"cloudsync_requests_total{operation="page",status="401"} 2"#,
        #"cloudsync_requests_total{operation="other",status="404"} 1"#,
        #"cloudsync_request_seconds_bucket{operation="records/modify",le="0.001"} 1"#,
        #"cloudsync_request_seconds_bucket{operation="records/modify",le="+Inf"} 1"#,
        #"cloudsync_request_seconds_count{operation="records/modify"} 1"#,
        "cloudsync_push_queues 1", "cloudsync_pushes_waiting 0", "cloudsync_open_requests 0",
      ] {
        #expect(lines.contains(line), "\(line) is missing:\n\(answer.text)")
      }
      let received = lines.first { $0.hasPrefix("cloudsync_received_bytes_total ") }
      #expect(received.flatMap { Int($0.split(separator: " ")[1]) } ?? 0 > 500)
      let storage = lines.first { $0.hasPrefix("cloudsync_storage_seconds_total ") }
      #expect(storage.flatMap { Double($0.split(separator: " ")[1]) } ?? 0 > 0)
      #expect(lines.contains("# TYPE cloudsync_storage_transactions_total counter"))
      // Every line is a comment, or a name with labels and a number.
      for line in lines where !line.hasPrefix("# ") {
        let form = /cloudsync_[a-z_]+(\{[^{}]*\})? [0-9.]+(e-[0-9]+)?/
        #expect(line.wholeMatch(of: form) != nil, "\(line)")
      }
      #expect(!answer.text.contains(AccessWorld.mark), "nothing of an account is in the metrics")
    }
  }

  @Test("The time of a request is counted in each bucket that reaches it")
  func timeIsCountedInBuckets() {
    let metrics = ServerMetrics()
    for milliseconds in [0, 5, 6, 20_000] {
      metrics.note("a", 200, .milliseconds(milliseconds), received: 1, sent: 2)
    }
    let text = metrics.text
    for line in [
      #"bucket{operation="a",le="0.001"} 1"#, #"bucket{operation="a",le="0.005"} 2"#,
      #"bucket{operation="a",le="0.01"} 3"#, #"bucket{operation="a",le="10.0"} 3"#,
      #"bucket{operation="a",le="+Inf"} 4"#, #"sum{operation="a"} 20.011"#,
      "received_bytes_total 4", "sent_bytes_total 8",
    ] {
      #expect(text.contains(line), "\(line) is missing:\n\(text)")
    }
  }
}
