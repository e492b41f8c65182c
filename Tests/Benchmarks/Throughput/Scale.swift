import CommandLineKit
import Foundation
import VerificationSupport

/// The whole job at three sizes in every place, once each: how the cost of a record grows with the
/// number of records, and what a change of one in a hundred costs.
///
/// Times of one run, beside no reference: the table is for growth, and the ratios of the other rows
/// for judging.
enum Scale {
  private static let counts = [10_000, 100_000, 1_000_000]
  private static let places: [(place: BenchServer.Place, name: String)] = [
    (.memory, "in process, in memory"), (.file, "in process, on SQLite"),
    (.web, "over HTTP, on SQLite"),
  ]

  /// Measures everything and prints a line for each size.
  static func measure() async throws {
    for (place, name) in places {
      for count in counts { say(try await measure(place, name, count)) }
    }
    try await IndexBenchmarks.measureScale()
  }

  private static func measure(
    _ place: BenchServer.Place, _ name: String, _ count: Int
  ) async throws -> String {
    let server = try BenchServer(place)
    let phone = JobDevice(try server.transport("phone"), sending: SpikeNote.samples(count))
    let desk = JobDevice(try server.transport("desk"))
    let push = try await phone.sendAll()
    let pull = try await desk.fetchAll(count)
    let some = stride(from: 0, to: count, by: 100).map { phone.ids[$0] }
    let pushOfSome = try await phone.complete(some)
    let pullOfSome = try await desk.fetchAll(count)
    guard desk.doneCount == some.count else {
      throw ToolError("\(desk.doneCount) of \(some.count) changes came")
    }
    await server.stop()
    func each(_ time: Duration) -> Double { time / .microseconds(1) / Double(count) }
    return String(
      format: "%@, %d records: push %.2f s, %.1f µs each, pull %.2f s, %.1f µs each; "
        + "of 1 %% push %.1f ms, pull %.1f ms",
      name, count, push / .seconds(1), each(push), pull / .seconds(1), each(pull),
      pushOfSome / .milliseconds(1), pullOfSome / .milliseconds(1))
  }
}
