import Testing

@testable import cloudsync_differential

/// Random tapes on four clouds; `make differential` plays thousands.
@Suite("A reference, the server in memory, on a file and over HTTP answer alike")
struct DifferentialTests {
  /// Proves I2, WS-96.
  @Test("24 tapes of random requests")
  func tapes() async throws {
    let outcome = try await Comparison(seeds: 0..<24, jobs: 2).run()
    #expect(outcome.tapes == 24)
    #expect(outcome.steps > 24 * 40)
    for difference in outcome.differences { Issue.record("\(difference)") }
  }

  /// Proves PB-8.
  @Test("a planted difference is found", arguments: Plant.allCases)
  func planted(_ plant: Plant) async throws {
    // Few tapes draw along what is owned; number 30 does.
    let seeds: Range<UInt64> = plant == .keptOwned ? 30..<31 : 0..<3
    let outcome = try await Comparison(seeds: seeds, plant: plant).run()
    #expect(!outcome.differences.isEmpty)
  }
}
