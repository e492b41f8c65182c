import SimulationSupport
import Testing

@Suite("The situations that a full run must reach")
struct SituationTests {
  @Test("There are more than 120, each with a name and a sentence of its own")
  func areNamed() {
    let required = Situation.required
    #expect(required.count >= 120)
    #expect(Set(required.map(\.name)).count == required.count, "a situation is listed twice")
    #expect(Set(required.map(\.sentence)).count == required.count, "two situations read alike")
  }
}
