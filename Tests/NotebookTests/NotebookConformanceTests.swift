import CloudKit
import CloudSyncTesting
import Notebook
import Testing

/// The notebook as the suite for delegates uses it.
private final class TestedNotebook: ConformingApp {
  let notebook: Notebook

  init(_ surroundings: AppSurroundings) throws {
    notebook = try Notebook(
      name: "Notebook", in: surroundings.folder, container: surroundings.container)
  }

  var items: [String: String] { get async { await notebook.texts } }

  func write(_ text: String, as name: String) async throws {
    try await notebook.write(text, in: name)
  }

  func delete(_ name: String) async throws { try await notebook.remove(name) }

  func sync() async throws { try await notebook.sync() }
}

@Suite("The notebook in the suite for delegates")
struct NotebookConformanceTests {
  /// Proves PB-5.
  @Test("The notebook passes every case; only what Apple's API can't do is advice")
  func notebookPassesTheWholeSuite() async throws {
    let suite = DelegateConformance("Notebook", zone: CKRecordZone.ID(zoneName: "Notebook")) {
      try TestedNotebook($0)
    }
    let report = await suite.run()
    try report.check()
    #expect(report.findings.isEmpty && report.crashCount > 50, "\(report)")
    #expect(report.passed == ConformanceCase.allCases)
    #expect(report.advice.map(\.defect) == [.expiredTokenKeepsDeletedItems], "\(report)")
  }
}
