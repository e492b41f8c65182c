/// One side of a comparison: something that can be timed again and again.
struct Side: Sendable {
  /// What it does, in a few words.
  let name: String
  /// How many operations one turn does; times are given for one.
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
  /// What is asked, such as `add a pending change at 100,000`.
  let name: String
  /// The ratio not to be above, where there is a goal.
  let goal: Double?
  /// What is measured.
  let subject: Side
  /// What it is measured against.
  let reference: Side
  /// How many pairs at most, for what takes long; `nil` for as many as are asked for.
  var rounds: Int? = nil
  /// What is measured.
  var unit: MeasuredUnit = .nanoseconds
  /// Whether each side takes a turn that is not counted first.
  var warmsUp = true

  /// The row of the table of goals it belongs to, which its name begins with, such as `P10`.
  var row: String? {
    let start = name.prefix { $0 != " " }
    return start.wholeMatch(of: /P\d+/) == nil ? nil : String(start)
  }

  /// What is asked, without the row.
  var question: String { row.map { String(name.dropFirst($0.count + 1)) } ?? name }
}

/// What a benchmark's numbers count.
enum MeasuredUnit: String, Codable, Sendable {
  case nanoseconds
  case bytes
}

/// Keeps the optimiser from leaving out work whose result nobody reads.
@inline(never)
func keep<Value>(_ value: Value) {
  withExtendedLifetime(value) {}
}
