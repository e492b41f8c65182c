import CloudKit
import CloudSyncTesting
import Foundation
import Notebook
import Testing

// The examples of Docs/Testing.md, outside of a suite so that literals are indented as on the page;
// SourceRuleTests compare them.

func openNotebook(_ surroundings: AppSurroundings) throws -> Notebook {
  try Notebook(name: "Notes", in: surroundings.folder, container: surroundings.container)
}

/// Proves X2.
@Test func bothDevicesEndUpWithTheSameNotes() async throws {
  let cloud = SimulatedCloud()
  let phone = try cloud.launch(on: "phone", app: openNotebook)
  let desk = try cloud.launch(on: "desk", app: openNotebook)

  try await phone.app.write("Bread, milk", in: "shopping")
  cloud.loseAnswers(next: 1)
  await #expect(throws: CKError.self) { try await phone.app.sync() }
  try phone.restart()
  try await phone.app.sync()
  try await desk.app.sync()
  #expect(try await desk.app.texts == ["shopping": "Bread, milk"])

  desk.isOnline = false
  try await desk.app.write("Bread, tea", in: "shopping")
  await #expect(throws: CKError.self) { try await desk.app.sync() }
  desk.isOnline = true
  try await desk.app.sync()
  try await phone.app.sync()
  #expect(try await phone.app.texts == ["shopping": "Bread, tea"])
}

/// Proves X1.
@Test func aNoteReachesTheServer() async throws {
  let cloud = SimulatedCloud()
  let phone = try cloud.launch(on: "phone", app: openNotebook)
  try await phone.app.write("Bread, milk", in: "shopping")
  try await phone.app.sync()
  try assertSnapshot(
    of: cloud.contents(of: "alice"),
    matches: """
      zone Notes
        Note Notes/shopping
          text: "Bread, milk"
      """)
}

final class TestedNotebook: ConformingApp {
  let notebook: Notebook

  init(_ surroundings: AppSurroundings) throws { notebook = try openNotebook(surroundings) }

  var items: [String: String] { get async { await notebook.texts } }

  func write(_ text: String, as name: String) async throws {
    try await notebook.write(text, in: name)
  }

  func delete(_ name: String) async throws { try await notebook.remove(name) }

  func sync() async throws { try await notebook.sync() }
}

/// Proves PB-5.
@Test func theNotebookPassesTheConformanceSuite() async throws {
  let suite = DelegateConformance("Notebook", zone: CKRecordZone.ID(zoneName: "Notes")) {
    try TestedNotebook($0)
  }
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
