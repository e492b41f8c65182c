import CloudSyncTesting
import Testing

@Suite("Whole engines in seeded worlds")
struct EngineSimulationTests {
  @Test("Every promise holds, and a seed takes the same course twice")
  func keepsPromises() throws {
    var tally = EngineTally()
    for seed in UInt64(0)..<20 {
      let report = try EngineSimulation.runTwice(seed: seed)
      #expect(report.violation == nil, "\(report.violation?.description ?? "")")
      tally.add(report.tally)
    }
    #expect(tally.kills > 20 && tally.requests > 1_000, "the worlds are too quiet: \(tally)")
  }
}
