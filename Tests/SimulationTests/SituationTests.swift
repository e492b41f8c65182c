import SimulationSupport
import Testing

@Suite("The situations that a full run must reach")
struct SituationTests {
  @Test("There are 738, each with a name and a sentence of its own")
  func areNamed() {
    let required = Situation.required
    #expect(required.count == 738)
    #expect(Set(required.map(\.name)).count == required.count, "a situation is listed twice")
    #expect(Set(required.map(\.sentence)).count == required.count, "two situations read alike")
  }
}
