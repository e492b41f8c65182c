import CommandLineKit
import Foundation

/// The whole job at three sizes in every place, once each: how the cost of a record grows with the
/// number of records, and what a change of one in a hundred costs.
///
/// Times of one run, beside no reference: the table is for growth, and the ratios of the other rows
/// for judging.
enum Scale {
  private static let counts = [10_000, 100_000, 1_000_000]
  private static let places: [(place: Job.Place, name: String)] = [
    (.memory, "in process, in memory"), (.file, "in process, on SQLite"),
    (.web, "over HTTP, on SQLite"),
  ]

  /// The names of the columns.
  static let header = line([
    "where", "records", "push", "a record", "pull", "a record", "push of 1 %", "pull of 1 %",
  ])

  /// Measures everything and hands on each line when it is known.
  static func measure(_ show: (String) -> Void) async throws {
    for (place, name) in places {
      for count in counts { show(try await measure(place, name, count)) }
    }
  }

  private static func measure(
    _ place: Job.Place, _ name: String, _ count: Int
  ) async throws -> String {
    let job = try Job(place)
    let phone = JobDevice(try job.transport("phone"), sending: Job.notes(count))
    let desk = JobDevice(try job.transport("desk"))
    let push = try await phone.sendAll()
    let pull = try await desk.fetchAll(count)
    let some = stride(from: 0, to: count, by: 100).map { phone.ids[$0] }
    let pushOfSome = try await phone.send(some)
    let pullOfSome = try await desk.fetchAll(count)
    guard desk.doneCount == some.count else {
      throw ToolError("\(desk.doneCount) of \(some.count) changes came")
    }
    await job.stop()
    return line([
      name, "\(count)", seconds(push), each(push, count), seconds(pull), each(pull, count),
      milliseconds(pushOfSome), milliseconds(pullOfSome),
    ])
  }

  private static func seconds(_ time: Duration) -> String {
    String(format: "%.2f s", time / .seconds(1))
  }

  private static func milliseconds(_ time: Duration) -> String {
    String(format: "%.1f ms", time / .milliseconds(1))
  }

  private static func each(_ time: Duration, _ count: Int) -> String {
    String(format: "%.2f us", time / .microseconds(1) / Double(count))
  }

  private static func line(_ cells: [String]) -> String {
    cells.enumerated().map { column, text in
      let gap = String(repeating: " ", count: max(0, (column == 0 ? 22 : 11) - text.count))
      return column == 0 ? text + gap : gap + text
    }
    .joined(separator: "  ")
  }
}
