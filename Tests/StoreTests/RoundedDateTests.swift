import CloudSync
import Foundation
import LoopbackHTTP
import LoopbackServer
import SimulationSupport
import SyncedStore
import Testing

@Suite("Dates in whole milliseconds", .timeLimit(.minutes(20)))
struct RoundedDateTests {
  @Test("A rounded date comes back from a server without extras as the same number, bit for bit")
  func roundedDateSurvivesTheConnection() async throws {
    let server = LoopbackServer()
    let web = try LoopbackWebServer(server)
    let transport = WebServicesTransport(
      WebServicesSession.Settings(
        url: URL(string: web.url), apiToken: web.apiToken(), device: "phone",
        understandsExtras: false),
      webAuthToken: try web.webAuthToken(for: "anna"), signIn: nil, clock: ContinuousClock())
    let database = CKContainer(identifier: "iCloud.example.dates", transport: transport)
      .privateCloudDatabase
    var random = SeededRandom(seed: 1)
    let dates = (0..<1_000).map { number in
      Date(
        timeIntervalSinceReferenceDate: Double(random.below(4_000_000_000_000)) / 1_000
          - 2_000_000_000 + Double(number) / 1_000_000
      ).roundedToMilliseconds
    }
    let record = CKRecord(recordType: "Dates", recordID: CKRecord.ID(recordName: "a"))
    record["dates"] = dates
    try await database.save(record)
    let found = try await database.record(for: record.recordID)["dates"] as? [Date]
    let bits = { (date: Date) in date.timeIntervalSinceReferenceDate.bitPattern }
    #expect(found?.map(bits) == dates.map(bits))
    #expect(dates.map(\.roundedToMilliseconds) == dates)
    await web.stop()
  }
}
