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
  private static let many = 100_000
  private static let few = 10_000
  private static let delta = 1_000

  /// P10 and P11 against the spike, P12 against itself.
  static func all() -> [Benchmark] {
    pair(
      "P10", "in process, in memory", many,
      { try await Job.run(.memory, $0) }, "the bare spike", spikeInMemory)
      + pair(
        "P11", "over HTTP, on SQLite", many,
        { try await Job.run(.web, $0) }, "the bare spike over HTTP on SQLite", spikeOnSocket)
  }

  private static func pair(
    _ row: String, _ how: String, _ count: Int,
    _ ours: @escaping @Sendable ([SpikeNote]) async throws -> (Duration, Duration),
    _ reference: String,
    _ theirs: @escaping @Sendable ([SpikeNote]) async throws -> (Duration, Duration)
  ) -> [Benchmark] {
    let notes = Once { Job.notes(count) }
    let subject = Turns { try await list(ours(try await notes.value)) }
    let spike = Turns { try await list(theirs(try await notes.value)) }
    return [
      Benchmark(
        name: "\(row) push \(count) \(how)", goal: 2.5,
        subject: Side("engine to server", operations: count) { try await subject.stage(0) },
        reference: Side(reference, operations: count) { try await spike.stage(0) },
        rounds: 5, warmsUp: false),
      Benchmark(
        name: "\(row) pull \(count) \(how)", goal: 2.5,
        subject: Side("server to engine", operations: count) { try await subject.stage(1) },
        reference: Side(reference, operations: count) { try await spike.stage(1) },
        rounds: 5, warmsUp: false),
    ]
  }

  private static func list(_ times: (Duration, Duration)) -> [Duration] { [times.0, times.1] }

  @Sendable private static func spikeInMemory(
    _ notes: [SpikeNote]
  ) async throws -> (Duration, Duration) {
    let server = SpikeServer()
    return try timed(notes, push: server.push, pull: server.pull)
  }

  @Sendable private static func spikeOnSocket(
    _ notes: [SpikeNote]
  ) async throws -> (Duration, Duration) {
    let folder = try TemporaryFolder("bench")
    let socket = try SpikeSocket { try SpikeServer(path: folder.path("notes.db")) }
    let connection = try LocalClient(port: socket.port)
    return try timed(
      notes, push: { try connection.post("/push", $0) },
      pull: { try connection.post("/pull", Array(String($0).utf8)) })
  }

  private static func timed(
    _ notes: [SpikeNote], push: ([UInt8]) throws -> [UInt8], pull: (Int) throws -> [UInt8]
  ) throws -> (Duration, Duration) {
    let records = notes.map { SpikeRecord($0) }
    let start = Stopwatch.now
    try SpikeClient.push(records, push)
    let middle = Stopwatch.now
    let count = try SpikeClient.pull(pull)
    guard count == notes.count else { throw ToolError("the spike lost notes") }
    return (middle - start, Stopwatch.now - middle)
  }
}
