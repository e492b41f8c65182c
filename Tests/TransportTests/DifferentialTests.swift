import Testing

@testable import Differential

/// Random tapes on four clouds; `make differential` plays thousands.
@Suite("A reference, the server in memory, on a file and over HTTP answer alike")
struct DifferentialTests {
  /// Proves I2, WS-96.
  @Test("The reference and three servers answer 24 sequences of random requests alike")
  func randomRequestsAnswerAlike() async throws {
    let outcome = try await Comparison(seeds: 0..<24, jobs: 2).run()
    #expect(outcome.tapes == 24)
    #expect(outcome.steps > 24 * 40)
    #expect(outcome.missed.count < Situation.required.count / 2)
    for difference in outcome.differences { Issue.record("\(difference)") }
  }

  /// The first tape that shows each planted difference.
  private static let seeds: [Plant: UInt64] = [
    .staleTag: 0,
    .keptOwned: 11,
    .lostDeletion: 11,
    .wrongDevice: 0,
    .revokedReader: 95,
    .tightQuota: 21,
    .shortIn: 87,
    .anyCreator: 1,
    .lostPush: 1,
    .wrongAsset: 10,
  ]

  /// Proves PB-8.
  @Test("A planted difference between transports is found", arguments: Plant.allCases)
  func plantedDifferenceIsFound(_ plant: Plant) async throws {
    let seed = try #require(DifferentialTests.seeds[plant])
    let outcome = try await Comparison(seeds: seed..<seed + 1, plant: plant).run()
    #expect(!outcome.differences.isEmpty)
  }

  @Test("the same seed takes the same course")
  func theSameSeedTakesTheSameCourse() async throws {
    let first = try await Comparison(seeds: 0..<4).run()
    let second = try await Comparison(seeds: 0..<4, jobs: 2).run()
    #expect(first.steps == second.steps)
    #expect(first.situations == second.situations)
  }
}
