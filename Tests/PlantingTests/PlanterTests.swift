import Planted
import Testing

@Suite("Planting into texts")
struct PlanterTests {
  private let path = "Sources/A/B.swift"

  private func fault(_ name: String, _ original: String, _ replacement: String) -> PlantedFault {
    var fault = PlantedFault(name: name)
    fault.edits = [PlantedFault.Edit(path: path)]
    fault.edits[0].original = original
    fault.edits[0].replacement = replacement
    return fault
  }

  @Test("Each fault has a separate switch")
  func eachFaultHasSeparateSwitch() throws {
    let planter = Planter([
      fault("a", "if x {", "if x || PLANTED {"), fault("b", "y()", "if !PLANTED { y() }"),
    ])
    #expect(
      try planter.planted("if x {\n  y()\n}", at: path)
        == "if x || planted(1) {\n  if !planted(2) { y() }\n}")
    #expect(try planter.planted("if x { y() }", at: "Sources/A/C.swift") == "if x { y() }")
    #expect(planter.paths == [path])
    #expect(Planter.target(of: "Examples/A/B/C.swift") == "A")
    #expect(Planter.target(of: "Tests/A/B.swift") == nil)
  }

  @Test(
    "A fault that cannot be planted is refused",
    arguments: [
      ([("z", "PLANTED")], "0 times"), ([("x", "PLANTED")], "2 times"),
      ([("if x", "if y")], "does not contain"), ([("", "PLANTED")], "not once"),
      ([("if x", "PLANTED"), ("x {", "PLANTED")], "the same text"),
    ])
  func impossibleFaultIsRefused(_ edits: [(String, String)], _ reason: String) {
    let planter = Planter(edits.enumerated().map { fault("f\($0)", $1.0, $1.1) })
    let error = #expect(throws: PlantingError.self) {
      try planter.planted("if x { x() }", at: path)
    }
    #expect(error?.description.contains(reason) == true)
  }
}
