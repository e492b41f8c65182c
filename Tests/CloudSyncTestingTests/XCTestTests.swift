import CloudSyncTesting
import XCTest

/// The kit from XCTest: a throwing test shows the difference.
final class XCTestTests: XCTestCase {
  func testSnapshot() async throws {
    let cloud = SimulatedCloud()
    let phone = try cloud.device("phone") { try Notes($0.folder) }
    try phone.app.write("Bread, milk", as: "shopping", phone.engine)
    try await phone.sync()
    try assertSnapshot(
      of: cloud.contents(),
      matches: """
        zone Notes
          Note Notes/shopping
            text: "Bread, milk"
        """)
    XCTAssertThrowsError(try assertSnapshot(of: "a", matches: "b")) { error in
      XCTAssertTrue("\(error)".contains("- b\n+ a"))
    }
  }
}
