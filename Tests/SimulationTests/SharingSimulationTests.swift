import SimulationSupport
import Testing

@Suite("Accounts that share in engine worlds")
struct SharingSimulationTests {
  /// Proves SC-200.
  @Test
  func ownersAndParticipantsAgree() throws {
    var tally = WorldTally()
    for seed in UInt64(100)..<120 {
      let report = try EngineSimulation().runTwice(seed: seed)
      #expect(report.violation == nil, "\(report.violation?.description ?? "")")
      tally.add(report.tally)
    }
    #expect(tally.situations["participant saves: done", default: 0] > 0)
    let accepted = tally.situations.filter { $0.key.hasPrefix("accept ") }
    #expect(!accepted.isEmpty, "no world has a share that was accepted")
  }
}
