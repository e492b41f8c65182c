package import Foundation
package import SimulationSupport

/// Runs the real stores in worlds that a seed decides.
///
/// Two accounts and three devices, one cloud in process, one clock that only the world moves: the
/// stores are the real ones on the real engine, only time, chance and the order of tasks are the
/// seed's. First everything may go wrong, then all faults end, and every promise is checked.
package enum StoreSimulation {
  /// What became of one world.
  package struct Report: Hashable, Sendable {
    /// The kind of store.
    package var store: String
    /// The seed it was made from.
    package var seed: UInt64
    /// How many jobs the world's tasks ran.
    package var jobs = 0
    /// How many requests reached the server.
    package var requests = 0
    /// How many edits were made.
    package var edits = 0
    /// A number over everything that happened.
    package var hash: UInt64 = 0
    /// The promise that did not hold; `nil` for a healthy world.
    package var violation: StoreViolation?
  }

  /// Runs the world of `seed` with stores of a kind, on the calling thread.
  ///
  /// - Parameters:
  ///   - isShort: whether only a third as much happens; another world than the long one.
  ///   - bug: a fault to build in, to see whether it is found.
  ///   - folder: where the devices' folders are made; they are removed in the end.
  ///   - print: is given a line for everything that happens.
  /// - Throws: ``ExecutorError``.
  package static func run(
    _ kind: StoreKind, seed: UInt64, isShort: Bool = false, bug: PlantedStoreBug? = nil,
    in folder: URL,
    print: (@Sendable (String) -> Void)? = nil
  ) throws(ExecutorError) -> Report {
    let executor = SeededExecutor(seed: seed)
    let home = folder.appendingPathComponent(
      "stores-simulate-\(kind.name)-\(seed)-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: home) }
    let journal = WorldJournal(
      Report(store: kind.name, seed: seed),
      replay: "cloudsync-verify stores --store \(kind.name) --seed \(seed)"
        + (isShort ? " --short" : "") + (bug.map { " --bug \($0.rawValue)" } ?? ""),
      print: print)
    let end = try executor.run {
      let world = StoreWorld(
        kind, seed: seed, isShort: isShort, bug: bug, executor: executor, home: home,
        journal: journal)
      await world.run()
    }
    switch end {
    case .done: break
    case .standstill: journal.fail("it stands still: somebody waits for what never comes")
    case .livelock: journal.fail("livelock: tasks run without end, so the clock does not advance")
    }
    if executor.clock.sleeperCount > 0 { journal.fail("a timer runs on after the end") }
    var report = journal.report
    report.jobs = executor.jobCount
    return report
  }

  /// A folder in memory where the system has one: the devices' disks are synced very often.
  package static var defaultFolder: URL {
    let memory = "/dev/shm"
    return FileManager.default.isWritableFile(atPath: memory)
      ? URL(fileURLWithPath: memory) : FileManager.default.temporaryDirectory
  }
}
