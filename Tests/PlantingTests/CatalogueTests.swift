import Foundation
import Planted
import Testing

@Suite("Planted faults")
struct CatalogueTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// Proves PB-4.
  @Test("Every fault still fits the code: its place is there once and is no other fault's")
  func fits() throws {
    let planter = Planter(Catalogue.all)
    for path in planter.paths {
      let text = try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
      #expect(throws: Never.self) { try planter.planted(text, at: path) }
    }
  }

  /// Proves PB-4.
  @Test("There are more faults than have to be found, each with a name, a story and a finder")
  func isComplete() {
    let faults = Catalogue.all
    #expect(faults.count >= 48)
    #expect(Set(faults.map(\.name)).count == faults.count)
    #expect(Set(faults.map(\.story)).count == faults.count)
    for fault in faults {
      #expect(
        fault.story.hasSuffix(".") && !fault.edits.isEmpty && !fault.programmes.isEmpty
          && fault.edits.allSatisfy { Planter.target(of: $0.path) != nil }, "\(fault.name)")
    }
  }
}
