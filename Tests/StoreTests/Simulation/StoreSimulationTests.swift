import Foundation
import SimulationSupport
import StoreSimulation
import Testing

@Suite("Simulated stores", .timeLimit(.minutes(20)))
struct StoreSimulationTests {
  /// Proves I1, I17.
  @Test(
    "Two accounts, three devices, offline edits and faults: every store converges byte for byte",
    arguments: StoreKind.all.map(\.name))
  func storesConvergeExactly(_ name: String) async throws {
    let kind = try #require(StoreKind.all.first { $0.name == name })
    let seeds = Array(UInt64(0)..<20)
    let reports = try await SimulationThreads.run(kind, seeds, isShort: true)
    let violations = reports.compactMap(\.violation)
    #expect(violations.isEmpty, "\(violations.map(\.description).joined(separator: "\n"))")
    // A world in which nothing happens proves nothing.
    #expect(reports.allSatisfy { $0.requests > 10 })
    #expect(reports.map(\.edits).reduce(0, +) > 10 * seeds.count)
  }

  /// The leaderboards' requests may come in another order, so their course is not compared.
  static let repeating = StoreKind.all.map(\.name).filter { $0 != "leaderboards" }

  @Test("A standstill and a livelock of a world are distinguished from its end")
  func worldsWithoutEndAreReported() throws {
    #expect(try SeededExecutor(seed: 0).run { await Task.yield() } == .done)
    #expect(
      try SeededExecutor(seed: 0).run {
        let (updates, continuation) = AsyncStream<Void>.makeStream()
        continuation.yield()
        // An observer whose answer calls it again.
        for await _ in updates { continuation.yield() }
      } == .livelock)
    #expect(
      try SeededExecutor(seed: 0).run {
        let (silence, continuation) = AsyncStream<Void>.makeStream()
        for await _ in silence {}
        continuation.finish()
      } == .standstill)
  }

  /// Proves I24.
  @Test("A seed runs the same way every time", arguments: repeating)
  func seedRunsIdentically(_ name: String) async throws {
    let kind = try #require(StoreKind.all.first { $0.name == name })
    let seeds = Array(UInt64(0)..<3)
    let first = try await SimulationThreads.run(kind, seeds, isShort: true)
    #expect(
      try await SimulationThreads.run(kind, seeds.reversed(), isShort: true).reversed() == first)
    #expect(Set(first.map(\.hash)).count == seeds.count)
  }

  /// Proves PB-3.
  @Test("Each planted mistake is found", arguments: PlantedStoreBug.allCases)
  func plantedStoreBugIsFound(_ bug: PlantedStoreBug) async throws {
    var found: StoreViolation?
    for first in stride(from: UInt64(0), to: 400, by: 4) where found == nil {
      let reports = try await SimulationThreads.run(.tabs, Array(first..<first + 4), bug: bug)
      found = reports.compactMap(\.violation).first
    }
    let violation = try #require(found, "\(bug.rawValue) was not seen in 400 seeds")
    #expect(violation.replay.contains("--seed \(violation.seed) --bug \(bug.rawValue)"))
  }
}
