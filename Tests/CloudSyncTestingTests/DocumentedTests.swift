import CloudSyncTesting
import Foundation
import Testing

// The examples of Docs/Testing.md, outside of a suite so that literals are indented as on the page;
// SourceRuleTests compare them.

/// Proves X1.
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

/// Proves X2.
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

@Test func notesPassTheConformanceSuite() async throws {
  let suite = DelegateConformance("Notes", zone: Notes.zone.zoneID) { try TestedNotes($0) }
  try await suite.run().check()
}

@Test(arguments: [
  DelegateConformance(
    "TabStore", zone: CKRecordZone.ID(zoneName: "ItsypadData")
  ) { try TestedTabs($0) },
  DelegateConformance(
    "ClipboardStore", zone: CKRecordZone.ID(zoneName: "ItsypadData"), canEdit: false
  ) { try TestedClipboard($0) },
  DelegateConformance(
    "GameResultStore", zone: CKRecordZone.ID(zoneName: "UserDataZone"), canEdit: false
  ) { try TestedResults($0) },
  DelegateConformance("IdeaStore", zone: CKRecordZone.ID.default) { try TestedIdeas($0) },
  DelegateConformance(
    "AnnotationStore", zone: CKRecordZone.ID(zoneName: "AnnotationsZone")
  ) { try TestedAnnotations($0) },
  DelegateConformance(
    "AchievementStore", zone: CKRecordZone.ID(zoneName: "AchievementsZone"), canDelete: false
  ) { try TestedAchievements($0) },
  DelegateConformance(
    "LeaderboardStore", zone: CKRecordZone.ID(zoneName: "SocialZone"), canDelete: false
  ) { try TestedLeaderboards($0) },
])
func theExampleStoresConform(_ suite: DelegateConformance) async throws {
  try await suite.run().check()
}

@Test func aSessionIsReplayed() async throws {
  let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).jsonl")
  defer { try? FileManager.default.removeItem(at: file) }
  let live = SimulatedCloud().server.device("phone", signedInAs: "alice")
  let recorder = try SessionRecorder(live, file: file)
  let zones = try await CKContainer(identifier: "iCloud.com.example.app", transport: recorder)
    .privateCloudDatabase.allRecordZones()
  try recorder.finish()

  let replay = try SessionReplay(file)
  let again = try await CKContainer(identifier: "iCloud.com.example.app", transport: replay)
    .privateCloudDatabase.allRecordZones()
  #expect(again.map(\.zoneID) == zones.map(\.zoneID))
  try replay.check()
}
