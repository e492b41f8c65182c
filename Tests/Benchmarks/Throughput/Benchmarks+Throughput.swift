import CloudProtocol
import CloudSync
import CommandLineKit
import Foundation
import LoopbackServer
import Records
import SQLite
import VerificationSupport

/// The cost of the whole job: from one app's change to the other app's store.
enum ThroughputBenchmarks {
  private static let count = 100_000

  /// P10 and P11 against the spike.
  static func all() -> [Benchmark] {
    rows("P10", "in process, in memory", .memory, "the bare spike") { notes in
      let server = SpikeServer()
      return try timed(notes, push: server.push, pull: server.pull)
    }
      + rows("P11", "over HTTP, on SQLite", .web, "the bare spike over HTTP on SQLite") { notes in
        let folder = try TemporaryFolder("bench")
        let socket = try SpikeSocket { try SpikeServer(path: folder.path("notes.db")) }
        let connection = try LocalClient(port: socket.port)
        return try timed(
          notes, push: { try connection.post("/push", $0) },
          pull: { try connection.post("/pull", Array(String($0).utf8)) })
      }
  }

  /// Sending and fetching are stages of one run.
  private static func rows(
    _ row: String, _ how: String, _ place: BenchServer.Place, _ reference: String,
    _ runSpike: @escaping @Sendable ([SpikeNote]) throws -> [Duration]
  ) -> [Benchmark] {
    let notes = Once { SpikeNote.samples(count) }
    let subject = Turns { try await BenchServer.run(place, try await notes.value) }
    let spike = Turns { try runSpike(try await notes.value) }
    return [("push", "engine to server"), ("pull", "server to engine")].enumerated().map {
      stage, names in
      Benchmark(
        name: "\(row) \(names.0) \(count) \(how)", goal: 2.5,
        subject: Side(names.1, operations: count) { try await subject.stage(stage) },
        reference: Side(reference, operations: count) { try await spike.stage(stage) },
        rounds: 5, warmsUp: false)
    }
  }

  private static func timed(
    _ notes: [SpikeNote], push: ([UInt8]) throws -> [UInt8], pull: (Int) throws -> [UInt8]
  ) throws -> [Duration] {
    let records = notes.map { SpikeRecord($0) }
    let start = Stopwatch.now
    try SpikeClient.push(records, push)
    let middle = Stopwatch.now
    let found = try SpikeClient.pull(pull)
    guard found == notes.count else { throw ToolError("the spike lost notes") }
    return [middle - start, Stopwatch.now - middle]
  }
}
