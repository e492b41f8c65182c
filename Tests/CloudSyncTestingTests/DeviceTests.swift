import CloudSyncTesting
import Foundation
import Testing

@Suite("Simulated devices")
struct DeviceTests {
  @Test("The clock of an engine that works by itself moves when the test says so")
  func virtualTime() async throws {
    let cloud = SimulatedCloud()
    let phone = try cloud.device("phone", automaticallySync: true) { try Notes($0.folder) }
    await phone.events.wait(for: "didFetchChanges")
    try phone.app.write("Bread", as: "shopping", phone.engine)
    await cloud.clock.waitForSleepers()
    #expect(try cloud.contents().records.isEmpty, "nothing is sent before the clock moves")
    cloud.clock.advance(by: .seconds(60))
    await phone.events.wait(for: "sentRecordZoneChanges")
    #expect(try cloud.contents().records.map(\.recordID.recordName) == ["shopping"])
    #expect(cloud.clock.date.timeIntervalSince1970 == 1_767_225_660)
  }

  @Test("Every scripted fault does what its line says")
  func faults() async throws {
    let cloud = SimulatedCloud()
    let phone = try cloud.device("phone") { try Notes($0.folder) }
    let app = try phone.app
    try app.write("1", as: "a", phone.engine)
    try app.write("1", as: "b", phone.engine)

    cloud.refuseSaves(of: "a", with: .batchRequestFailed)
    await #expect(throws: CKError.self) { try await phone.engine.sendChanges() }
    #expect(
      try cloud.contents().records.map(\.recordID.recordName) == ["b"], "the other save was made")
    try await phone.sync()

    cloud.loseAnswers()
    try app.write("2", as: "a", phone.engine)
    await #expect(throws: CKError.self) { try await phone.engine.sendChanges() }
    #expect(try app.texts == ["a": "2", "b": "1"] && stored(cloud) == ["a": "2", "b": "1"])
    try await phone.sync()

    try cloud.setQuota(0, of: "alice")
    try app.write("more", as: "a", phone.engine)
    await #expect(throws: CKError.self) { try await phone.sync() }
    try cloud.setQuota(nil, of: "alice")
    try await phone.sync()
    #expect(try stored(cloud) == ["a": "more", "b": "1"])

    cloud.refuseDeletions(of: "b", with: .limitExceeded)
    try app.delete("b", phone.engine)
    try await phone.sync()
    #expect(try stored(cloud) == ["a": "more"])

    try cloud.expireTokens(of: "alice")
    phone.events.forget()
    try await phone.sync()
    #expect(phone.events.all.contains { $0.text.hasSuffix("from its beginning") })

    cloud.throttle(to: 1, per: 60)
    try app.write("even more", as: "a", phone.engine)
    await #expect(throws: CKError.self) { try await phone.sync() }
    cloud.throttle(to: nil)
    cloud.clock.advance(by: .seconds(61))
    try await phone.sync()

    try cloud.removeZone(Notes.zone.zoneID, of: "alice", reason: .purged)
    try await phone.sync()
    #expect(app.texts.isEmpty)
  }

  private func stored(_ cloud: SimulatedCloud) throws -> [String: String] {
    var texts: [String: String] = [:]
    for record in try cloud.contents().records {
      texts[record.recordID.recordName] = record["text"] as? String
    }
    return texts
  }
}
