import CloudSyncTesting
import Testing

@Suite("Conformance of delegates")
struct ConformanceTests {
  @Test("A good delegate conforms")
  func notes() async throws {
    let suite = DelegateConformance("Notes", zone: Notes.zone.zoneID) { try TestedNotes($0) }
    try await suite.run().check()
  }

  @Test("Each mistake of a hurried delegate is found by name")
  func hurried() async throws {
    let suite = DelegateConformance("Hurried", zone: Notes.zone.zoneID) { try HurriedNotes($0) }
    let report = await suite.run()
    print(report)
    let mistakes: Set<DelegateDefect> = [
      .otherFailuresIgnored, .failedDeletionsIgnored, .batchFailuresNotQueuedAgain,
      .accountSwitchKeepsData,
    ]
    #expect(report.defects.isSuperset(of: mistakes), "\(report)")
  }

  @Test("The example stores conform", arguments: ["tabs", "clipboard", "results"])
  func stores(_ name: String) async throws {
    let items = CKRecordZone.ID(zoneName: "ItsypadData")
    let results = CKRecordZone.ID(zoneName: "UserDataZone")
    let suites = [
      "tabs": DelegateConformance("TabStore", zone: items) { try TestedTabs($0) },
      "clipboard": DelegateConformance("ClipboardStore", zone: items, canEdit: false) {
        try TestedClipboard($0)
      },
      "results": DelegateConformance("GameResultStore", zone: results, canEdit: false) {
        try TestedResults($0)
      },
    ]
    let report = try #require(await suites[name]?.run())
    print(report)
    try report.check()
  }
}
