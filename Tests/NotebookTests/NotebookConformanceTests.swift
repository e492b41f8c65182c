import CloudKit
import CloudSyncTesting
import Notebook
import Testing

@Suite("The notebook in the suite for delegates")
struct NotebookConformanceTests {
  /// Proves PB-5.
  @Test("The notebook passes every case; only what Apple's API can't do is advice")
  func notebookPassesTheWholeSuite() async throws {
    let suite = DelegateConformance("Notebook", zone: CKRecordZone.ID(zoneName: "Notes")) {
      try TestedNotebook($0)
    }
    let report = await suite.run()
    try report.check()
    #expect(report.findings.isEmpty && report.crashCount > 50, "\(report)")
    #expect(report.passed == ConformanceCase.allCases)
    #expect(report.advice.map(\.defect) == [.expiredTokenKeepsDeletedItems], "\(report)")
  }
}
