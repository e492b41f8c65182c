import CloudSyncTesting
import Testing

/// What Docs/Testing.md prints; a test of the house compares them.
@Suite("The examples of the documentation")
struct DocumentedTests {
  @Test func aNoteWaitsToBeSent() async throws {
    let phone = try SimulatedCloud().device("phone") { try Notes($0.folder) }
    try phone.app.write("Bread, milk", as: "shopping", phone.engine)
    try assertSnapshot(
      of: phone.engine.state,
      matches: """
        save zone Notes
        save Notes/shopping
        """)
  }

  @Test func bothDevicesEndUpWithTheSameNotes() async throws {
    let cloud = SimulatedCloud()
    let phone = try cloud.device("phone") { try Notes($0.folder) }
    let desk = try cloud.device("desk") { try Notes($0.folder) }

    try phone.app.write("Bread, milk", as: "shopping", phone.engine)
    cloud.fail(next: 2, with: .zoneBusy)
    try await phone.sync()
    try desk.restart()
    try await desk.sync()
    #expect(try desk.app.texts == ["shopping": "Bread, milk"])

    desk.isOnline = false
    try desk.app.write("Bread, tea", as: "shopping", desk.engine)
    await #expect(throws: CKError.self) { try await desk.sync() }
    desk.isOnline = true
    try await desk.sync()
    try await phone.sync()
    #expect(try phone.app.texts == ["shopping": "Bread, tea"])
  }

  @Test func notesConform() async throws {
    let suite = DelegateConformance("Notes", zone: Notes.zone.zoneID) { try TestedNotes($0) }
    try await suite.run().check()
  }

  @Test(arguments: [
    DelegateConformance(
      "TabStore", zone: CKRecordZone.ID(zoneName: "ItsypadData"),
      tolerating: [.expiredTokenKeepsDeletedItems]
    ) { try TestedTabs($0) },
    DelegateConformance(
      "ClipboardStore", zone: CKRecordZone.ID(zoneName: "ItsypadData"), canEdit: false,
      tolerating: [.expiredTokenKeepsDeletedItems]
    ) { try TestedClipboard($0) },
    DelegateConformance(
      "GameResultStore", zone: CKRecordZone.ID(zoneName: "UserDataZone"), canEdit: false
    ) { try TestedResults($0) },
  ])
  func theExampleStoresConform(_ suite: DelegateConformance) async throws {
    try await suite.run().check()
  }
}
