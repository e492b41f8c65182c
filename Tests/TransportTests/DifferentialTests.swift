import Testing

@testable import cloudsync_differential

/// Random tapes on four clouds; `make differential` plays thousands.
@Suite("A reference, the server in memory, on a file and over HTTP answer alike")
struct DifferentialTests {
  @Test("24 tapes of random requests")
  func tapes() async throws {
    let outcome = try await Comparison(seeds: 0..<24, jobs: 2).run()
    #expect(outcome.tapes == 24)
    #expect(outcome.steps > 24 * 40)
    for difference in outcome.differences { Issue.record("\(difference)") }
  }

  @Test("a planted difference is found", arguments: Plant.allCases)
  func planted(_ plant: Plant) async throws {
    let outcome = try await Comparison(seeds: 0..<12, jobs: 2, plant: plant).run()
    #expect(!outcome.differences.isEmpty)
  }
}
