import Foundation
import Planted
import Testing

@Suite("Planted faults")
struct CatalogueTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// Proves PB-4.
  @Test("Every fault matches the code at one position that no other fault uses")
  func faultsMatchUniqueCodePositions() throws {
    let planter = Planter(try FaultCatalogue.faults(of: Self.root))
    for path in planter.paths {
      let text = try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
      #expect(throws: Never.self) { try planter.planted(text, at: path) }
    }
  }

  /// Proves PB-4.
  @Test("There are more faults than required, each with a name, a description and a detector")
  func catalogueIsLargeAndDescribed() throws {
    let faults = try FaultCatalogue.faults(of: Self.root)
    #expect(faults.count >= 97)
    #expect(Set(faults.map(\.name)).count == faults.count)
    #expect(Set(faults.map(\.story)).count == faults.count)
    for fault in faults {
      #expect(
        fault.story.hasSuffix(".") && !fault.edits.isEmpty && !fault.detectors.isEmpty
          && fault.edits.allSatisfy { Planter.target(of: $0.path) != nil }, "\(fault.name)")
    }
  }

  @Test(
    "A catalogue with a mistake is refused",
    arguments: [
      ("story: A story.", "begins with"), ("fault: a\nfound by: dice", "no run called dice"),
      ("fault: a\n- x", "no line of a fault"), ("fault: a\nwords", "no line of a fault"),
    ])
  func invalidCatalogueIsRefused(_ text: String, _ reason: String) {
    let error = #expect(throws: PlantingError.self) { try FaultCatalogue.faults(in: text) }
    #expect(error?.description.contains(reason) == true)
  }
}
