import SimulationSupport
import Testing

@Suite("The situations that a full run must reach")
struct SituationTests {
  @Test("There are at least 120 situations, each with a unique name and sentence")
  func requiredSituationsHaveUniqueNames() {
    let required = Situation.required
    #expect(required.count == 738)
    #expect(Set(required.map(\.name)).count == required.count, "a situation is listed twice")
    #expect(Set(required.map(\.sentence)).count == required.count, "two situations read alike")
  }
}
