import CloudSyncTesting
import Testing

@Suite("Simulated worlds")
struct SimulationTests {
  /// Proves CE-12, CE-81.
  @Test("Healthy worlds keep every promise, and run the same twice")
  func healthy() {
    for seed in UInt64(1)...40 {
      let report = Simulation.runTwice(seed: seed)
      #expect(report.violation == nil, "\(report.violation.map(String.init(describing:)) ?? "")")
      #expect(report.steps > 1_000, "seed \(seed) did next to nothing")
    }
  }

  @Test("Each planted bug is found", arguments: PlantedBug.allCases)
  func plantedBug(_ bug: PlantedBug) {
    let seeds = UInt64(1)...200
    let found = seeds.first { Simulation.run(seed: $0, bug: bug).violation != nil }
    #expect(found != nil, "\(bug.rawValue) was not seen in \(seeds.count) seeds")
  }
}
