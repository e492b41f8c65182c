import SimulationSupport
import Testing

@Suite("Simulated worlds")
struct SimulationTests {
  /// Proves CE-12, CE-81, E2, FB-8, I1, I2, I3, I4, I5, I6, I7, I8, I9, I10, I11, I12, I13, I14,
  /// I16, I17, I24, SC-147.
  @Test("Healthy worlds keep every invariant and run identically twice")
  func healthyWorldsRunIdenticallyTwice() throws {
    for seed in UInt64(1)...40 {
      let report = try MachineSimulation().runTwice(seed: seed)
      #expect(report.violation == nil, "\(report.violation.map(String.init(describing:)) ?? "")")
      #expect(report.tally.steps > 1_000, "seed \(seed) did next to nothing")
    }
  }

  /// Proves PB-1.
  @Test("Each planted bug is found", arguments: PlantedBug.allCases)
  func eachPlantedBugIsFound(_ bug: PlantedBug) throws {
    let seeds = UInt64(1)...200
    let found = try seeds.first { try MachineSimulation(bug: bug).run(seed: $0).violation != nil }
    #expect(found != nil, "\(bug.rawValue) was not seen in \(seeds.count) seeds")
  }
}
