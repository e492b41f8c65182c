import Records
import SyncMachine

/// What pending changes cost, in units of what a user would keep them in: a set.
enum PendingBenchmarks {
  private static let many = 1_000_000
  private static let few = 100_000
  /// How much of what pending changes take is the name itself; a set shares it with the app.
  private static let bytesOfName = PendingSample.nameLength

  /// P1 to P4: adding, de-duplicating, removing, and memory at 1,000,000; the cost of one change
  /// at 1,000,000 against 100,000.
  static func all() -> [Benchmark] {
    stages() + [draining, memory] + growth
  }

  private static func pending(_ count: Int) -> PendingChanges<RecordID> {
    PendingSample.pending(count == many ? manyChanges : PendingSample.changes(count))
  }

  // What every turn reads and none changes.
  private static let manyChanges = PendingSample.changes(many)
  private static let manyKeys = PendingSample.keys(many)
  private static let mixedOrder = PendingSample.shuffled(many)
  private static let mixedChanges = mixedOrder.map { manyChanges[$0] }
  private static let mixedKeys = mixedOrder.map { manyKeys[$0] }

  /// Adding, adding again and removing are stages of one run: building what the later ones need
  /// takes longer than they do.
  private static func stages() -> [Benchmark] {
    let ours = Turns {
      let (changes, mixed) = (manyChanges, mixedChanges)
      var pending = PendingChanges<RecordID>()
      return [
        timed(&pending) { for change in changes { $0.add(change) } },
        timed(&pending) { for change in mixed { $0.add(change) } },
        timed(&pending) { for change in mixed { $0.remove(change) } },
      ]
    }
    let theirs = Turns {
      let (keys, mixed) = (manyKeys, mixedKeys)
      var set = Set<PendingSample.Key>()
      return [
        timed(&set) { for key in keys { $0.insert(key) } },
        timed(&set) { for key in mixed { $0.insert(key) } },
        timed(&set) { for key in mixed { $0.remove(key) } },
      ]
    }
    let rows = [
      ("P1 add 1,000,000 pending changes", 1.3, "PendingChanges.add", "Set.insert"),
      ("P2 add them again, in any order", 1.5, "PendingChanges.add", "Set.insert"),
      ("P2 remove them, in any order", 1.5, "PendingChanges.remove", "Set.remove"),
    ]
    return rows.enumerated().map { number, row in
      Benchmark(
        name: row.0, goal: row.1,
        subject: Side(row.2, operations: many) { try await ours.stage(number) },
        reference: Side(row.3, operations: many) { try await theirs.stage(number) },
        rounds: 5, warmsUp: false)
    }
  }

  private static func timed<Value>(
    _ value: inout Value, _ body: (inout Value) -> Void
  ) -> Duration {
    let start = Stopwatch.now
    body(&value)
    return Stopwatch.now - start
  }

  private static var draining: Benchmark {
    Benchmark(
      name: "P2 send them in batches from the front", goal: 1.5,
      subject: Side(
        "prefix(250), take, settle", operations: many, setUp: { pending(many) },
        body: { changes in while drainBatch(of: &changes) {} }),
      reference: Side(
        "Set.remove in the order added", operations: many,
        setUp: { (manyKeys, Set(manyKeys)) },
        body: { context in for key in context.0 { context.1.remove(key) } }),
      rounds: 5, warmsUp: false)
  }

  /// Sends a batch as an engine does; answers whether there was one.
  private static func drainBatch(of changes: inout PendingChanges<RecordID>) -> Bool {
    let batch = changes.prefix(250, in: .all)
    for change in batch { keep(changes.take(change)) }
    for change in batch { changes.settle(change.id, returns: false) }
    return !batch.isEmpty
  }

  private static var memory: Benchmark {
    Benchmark(
      name: "P4 memory of a pending change, beside its name", goal: 1.8,
      subject: Side(
        "PendingChanges", bytesFor: many, excess: many * bytesOfName,
        setUp: { PendingSample.changes(many) }, make: { PendingSample.pending($0) }),
      reference: Side(
        "Set", bytesFor: many, setUp: { PendingSample.keys(many) },
        make: { keys in
          var set = Set<PendingSample.Key>()
          for key in keys { set.insert(key) }
          return set
        }),
      rounds: 1, unit: .bytes)
  }

  private static var growth: [Benchmark] {
    let added = 10_000
    return [
      growth("add one", operations: added) { count in
        let changes = (0..<added).map {
          PendingChange(.save, RecordID(name: "new-\($0)", zone: PendingSample.zone))
        }
        return (pending(count), changes)
      } body: { context in
        for change in context.1 { context.0.add(change) }
      },
      growth("remove one", operations: added) { count in
        let changes = PendingSample.changes(count)
        return (
          PendingSample.pending(changes),
          PendingSample.shuffled(count).prefix(added).map { changes[$0] }
        )
      } body: { context in
        for change in context.1 { context.0.remove(change) }
      },
      growth("build and acknowledge a batch", operations: 40 * 250) {
        pending($0)
      } body: { changes in
        for _ in 0..<40 { keep(drainBatch(of: &changes)) }
      },
    ]
  }

  /// What something costs at 1,000,000 pending changes, against 100,000.
  private static func growth<Context>(
    _ name: String, operations: Int, setUp: @escaping @Sendable (Int) -> Context,
    body: @escaping @Sendable (inout Context) -> Void
  ) -> Benchmark {
    func side(_ count: Int) -> Side {
      Side("with \(count) pending", operations: operations, setUp: { setUp(count) }, body: body)
    }
    return Benchmark(
      name: "P3 \(name) at 1,000,000", goal: 2.5, subject: side(many), reference: side(few),
      rounds: 5, warmsUp: false)
  }
}
