/// One side of a comparison: something that can be timed again and again.
struct Side: Sendable {
  /// A short description.
  let name: String
  /// The number of operations in one turn; times are given for one.
  let operations: Int
  /// Prepares a turn, does it, and says how long the doing took.
  let turn: @Sendable () async throws -> Duration

  /// A side whose every turn starts from a fresh `setUp()`, which is not timed.
  init<Context>(
    _ name: String, operations: Int, setUp: @escaping @Sendable () async throws -> Context,
    body: @escaping @Sendable (inout Context) async throws -> Void
  ) {
    self.name = name
    self.operations = operations
    turn = {
      var context = try await setUp()
      let start = Stopwatch.now
      try await body(&context)
      let time = Stopwatch.now - start
      keep(context)
      return time
    }
  }

  /// A side whose turns say themselves how long they took, or, in a benchmark of memory, how many
  /// bytes, as nanoseconds.
  init(
    _ name: String, operations: Int = 1, turn: @escaping @Sendable () async throws -> Duration
  ) {
    self.name = name
    self.operations = operations
    self.turn = turn
  }

  /// A side that needs nothing prepared.
  init(_ name: String, operations: Int, body: @escaping @Sendable () async throws -> Void) {
    self.init(name, operations: operations, setUp: {}, body: { _ in try await body() })
  }
}

/// A comparison: what something costs, in units of something else that runs in turn with it.
///
/// A ratio means the same on a slow machine and on a fast one; a time does not.
struct Benchmark: Sendable {
  /// The name, such as `P3 add one at 1,000,000`.
  let name: String
  /// The ratio not to be above, where there is a goal.
  let goal: Double?
  /// The measured side.
  let subject: Side
  /// The side that it is compared with.
  let reference: Side
  /// The maximum number of pairs, for long benchmarks; `nil` for the requested number.
  var rounds: Int? = nil
  /// The measured side.
  var unit: MeasuredUnit = .nanoseconds
  /// Whether each side takes a turn that is not counted first.
  var warmsUp = true

  /// The row of the table of goals it belongs to, which its name begins with, such as `P10`.
  var row: String? {
    let start = name.prefix { $0 != " " }
    return start.wholeMatch(of: /P\d+/) == nil ? nil : String(start)
  }

  /// The name without the row.
  var question: String { row.map { String(name.dropFirst($0.count + 1)) } ?? name }
}

/// The unit of a benchmark's numbers.
enum MeasuredUnit: String, Codable, Sendable {
  case nanoseconds
  case bytes
}

/// Keeps the optimiser from leaving out work whose result nobody reads.
@inline(never)
func keep<Value>(_ value: Value) {
  withExtendedLifetime(value) {}
}
