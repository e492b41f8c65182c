import CloudSync
import CloudSyncTesting
import Testing

// The examples of doc comments that use the apps of these tests. A rule compares them with the
// comments.

@Test func aSimulatedDeviceMeetsFaults() async throws {
  let cloud = SimulatedCloud()
  let phone = try cloud.device("phone") { try Notes($0.folder) }
  cloud.fail(next: 2, with: .zoneBusy)
  await #expect(throws: CKError.self) { try await phone.sync(rounds: 1) }
  try await phone.sync()
}

@Test func aDelegateIsTestedAsAWholeAndInOneScenario() async throws {
  let suite = DelegateConformance("Notes", zone: Notes.zone.zoneID) { try TestedNotes($0) }
  try await suite.run().check()
  let report = try await suite.run(only: "refusedSaves/limitExceeded")
  try report.check()
}
