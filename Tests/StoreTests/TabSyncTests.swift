import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import Testing

@testable import ClipboardStore
@testable import SyncSupport
@testable import SyncedStore
@testable import TabStore

@Suite("Rows T and C: two devices and a server")
struct TabSyncTests {
  private func pair() throws -> (server: LoopbackServer, phone: TabDevice, desk: TabDevice) {
    let server = LoopbackServer()
    return (server, try TabDevice(server, "phone"), try TabDevice(server, "desk"))
  }

  private func expectConverged(
    _ server: LoopbackServer, _ devices: [TabDevice], account: String = "anna",
    _ what: String = ""
  ) async throws {
    let content = try await server.content(of: account)
    for device in devices {
      #expect(device.content == content, "\(device.link.name) \(what)")
      #expect(device.tabs.unsentCount + device.clipboard.unsentCount == 0, "\(what)")
      #expect(device.sync.status.activity.problems.isEmpty, "\(what)")
    }
  }

  /// Proves SC-41.
  @Test("T: C: Tabs and clipboard entries are created, changed and deleted in both directions")
  func changesSyncInBothDirections() async throws {
    let (server, phone, desk) = try pair()
    try phone.tabs.add((1...3).map { testTab($0) })
    try phone.clipboard.add(
      (11...13).map { ClipboardEntry(id: testID($0), text: "c", timestamp: testDate(1)) })
    try await phone.sync.sync()
    try await desk.sync.sync()
    #expect(desk.tabs.tabs.count == 3 && desk.clipboard.entries.count == 3)
    try await expectConverged(server, [phone, desk])

    try desk.tabs.updateContent(testID(1), "from the desk", now: testDate(5))
    try desk.tabs.close(testID(2))
    try desk.clipboard.delete(testID(11))
    try await desk.sync.sync()
    #expect(desk.sync.status.activity.conflicts.isEmpty, "an edit of a received tab was a conflict")
    try await phone.sync.sync()
    #expect(phone.tabs.tab(testID(1))?.content == "from the desk")
    #expect(phone.tabs.tabs.count == 2 && phone.clipboard.entries.count == 2)
    try await expectConverged(server, [phone, desk])
  }

  /// Proves SC-77.
  @Test("T: The merge matrix holds over the real engine and server")
  func mergeMatrixHoldsOverRealServer() async throws {
    for cell in MergeCell.all {
      for first in 0...1 {
        let (server, phone, desk) = try pair()
        let devices = [phone, desk]
        try phone.tabs.add(testTab(1, "base"))
        try await phone.sync.sync()
        try await desk.sync.sync()
        let dates: [Double] =
          switch cell.newer {
          case .server: [20, 10]
          case .client: [10, 20]
          case .neither: [10, 10]
          }
        try phone.tabs.edit(testID(1), now: testDate(dates[0])) { $0.content = "zero" }
        try desk.tabs.edit(testID(1), now: testDate(dates[1])) { tab in
          if cell.editsSameField { tab.content = "one" } else { tab.name = "one" }
        }
        let (early, late) = (devices[first], devices[1 - first])
        try await early.engine?.sendChanges()
        switch cell.discovery {
        case .onSend:
          await #expect(throws: CKError.self) { try await late.engine?.sendChanges() }
        case .onFetch: try await late.engine?.fetchChanges()
        }
        switch cell.order {
        case .fetchBeforeRetry:
          try await late.engine?.fetchChanges()
          try await late.engine?.sendChanges()
        case .retryBeforeFetch:
          try await late.engine?.sendChanges()
          try await late.engine?.fetchChanges()
        }
        try await early.engine?.fetchChanges()
        try await expectConverged(server, devices, "\(cell), first \(first)")
        let end = try #require(try await server.content().tabs.first)
        switch cell.newer {
        case .server: #expect(end.content == "zero", "\(cell)")
        case .client:
          #expect((cell.editsSameField ? end.content : end.name) == "one", "\(cell)")
        case .neither: #expect(end.content == "zero", "\(cell)")
        }
      }
    }
  }

  /// Proves SC-140.
  @Test("444 tabs and 300 entries are sent through one call and fetched through one")
  func manyItemsSyncInOneCall() async throws {
    let (server, phone, desk) = try pair()
    try phone.tabs.add((1...444).map { testTab($0, "\($0)") })
    try phone.clipboard.add(
      (1_000..<1_300).map {
        ClipboardEntry(id: testID($0), text: "\($0)", timestamp: testDate(Double($0)))
      })
    try await phone.sync.sync()
    try await desk.sync.sync()
    #expect(desk.tabs.tabs.count == 444 && desk.clipboard.entries.count == 300)
    try await expectConverged(server, [phone, desk])
  }

  @Test("A crash between add and send, and one between commit and answer, lose nothing")
  func crashesBetweenSyncStepsLoseNothing() async throws {
    let (server, phone, desk) = try pair()
    try await phone.sync.sync()
    // The app is gone before the engine could save anything: only tabs.json knows.
    try phone.tabs.add(testTab(1, "added before the crash"))
    let second = try TabDevice(server, "phone", folder: phone.folder)
    try await second.sync.sync()
    try await desk.sync.sync()
    #expect(desk.tabs.tab(testID(1))?.content == "added before the crash")

    // The server takes the edit, the app never hears of it and starts again.
    try second.tabs.updateContent(testID(1), "committed", now: testDate(5))
    server.controls.dropAnswers(next: 1, in: RequestScope(kind: .modifyRecords))
    await #expect(throws: CKError.self) { try await second.engine?.sendChanges() }
    let third = try TabDevice(server, "phone", folder: phone.folder)
    #expect(third.tabs.unsentCount == 1)
    try await third.sync.sync()
    try await desk.sync.sync()
    #expect(desk.tabs.tab(testID(1))?.content == "committed")
    try await expectConverged(server, [third, desk])
  }

  /// Proves CE-51, FB-11, I4, SC-30.
  @Test("An edit during a delayed request survives the success of the older version")
  func editDuringSend() async throws {
    let (server, phone, desk) = try pair()
    try phone.tabs.add(testTab(1, "first"))
    try await phone.sync.sync()
    try phone.tabs.updateContent(testID(1), "second", now: testDate(1))
    let scope = RequestScope(kind: .modifyRecords)
    server.controls.hold(in: scope)
    async let sending: Void? = phone.engine?.sendChanges()
    await server.controls.waitForHeldRequests(1, in: scope)
    try phone.tabs.updateContent(testID(1), "third", now: testDate(2))
    server.controls.clear()
    server.controls.release()
    _ = try await sending
    try await phone.sync.sync()
    try await desk.sync.sync()
    #expect(desk.tabs.tab(testID(1))?.content == "third")
    try await expectConverged(server, [phone, desk])
  }

  /// Proves FB-10.
  @Test("T: C: Another account on the device finds no data, and the first one finds its own again")
  func firstAccountRecoversItsData() async throws {
    let (server, phone, desk) = try pair()
    try phone.tabs.add(testTab(1, "annas"))
    try await phone.sync.sync()
    try phone.tabs.add(testTab(2, "annas-unsent"))
    phone.link.signIn(as: "ben")
    try await phone.sync.sync()
    #expect(phone.content == DeviceContent(tabs: [], entries: []))
    #expect(try phone.folder.filesContaining("annas") == [])
    try phone.tabs.add(testTab(3, "bens"))
    try await phone.sync.sync()
    #expect(try await server.content(of: "ben").tabs.map(\.content) == ["bens"])
    try await desk.sync.sync()
    #expect(desk.tabs.tabs.map(\.content) == ["annas"])
    phone.link.signOut()
    await #expect(throws: CKError.self) { try await phone.sync.sync() }
    #expect(phone.tabs.tabs.isEmpty)
    phone.link.signIn(as: "anna")
    try await phone.sync.sync()
    try await expectConverged(server, [phone, desk])
    #expect(phone.tabs.tabs.map(\.content) == ["annas"])
  }

  @Test("T: C: an account switched while the app was off, with sync on or off, mixes nothing")
  func switchedWhileOff() async throws {
    for turnsOff in [false, true] {
      let server = LoopbackServer()
      let phone = try TabDevice(server, "phone")
      try phone.tabs.add(testTab(1, "annas"))
      try await phone.sync.sync()
      if turnsOff { try phone.sync.stop() } else { try await phone.sync.shutDown() }
      let again = try TabDevice(server, "phone", account: "ben", folder: phone.folder)
      try await again.sync.sync()
      #expect(again.tabs.tabs.isEmpty, "turned off: \(turnsOff)")
      #expect(try await server.content(of: "ben").tabs.isEmpty, "turned off: \(turnsOff)")
      #expect(try await server.content().tabs.count == 1)
    }
  }

  /// Proves CE-101, I21.
  @Test("Deleted and purged zones empty every device, and reset keys refill the cloud")
  func deletedZonesEmptyDevicesAndResetsRefill() async throws {
    let zone = CKRecordZone.ID(zoneName: "ItsypadData", ownerName: CKCurrentUserDefaultName)
    for reason in ["deleted", "purged", "reset"] {
      let (server, phone, desk) = try pair()
      try phone.tabs.add([testTab(1), testTab(2)])
      try await phone.sync.sync()
      try await desk.sync.sync()
      switch reason {
      case "deleted":
        let container = CKContainer(
          identifier: TabDevice.container, transport: server.device("web", signedInAs: "anna"))
        _ = try await container.privateCloudDatabase.deleteRecordZone(withID: zone)
      case "purged":
        try server.controls.purgeZone(
          ZoneID(name: "ItsypadData"), container: TabDevice.container, account: "anna")
      default:
        try server.controls.resetEncryptedData(
          ZoneID(name: "ItsypadData"), container: TabDevice.container, account: "anna")
      }
      try desk.tabs.updateContent(testID(2), "edited", now: testDate(9))
      for device in [desk, phone, desk] { try await device.sync.sync() }
      try await expectConverged(server, [phone, desk], reason)
      #expect(phone.tabs.tabs.count == (reason == "reset" ? 2 : 0), "\(reason)")
      try phone.tabs.add(testTab(3))
      for device in [phone, desk] { try await device.sync.sync() }
      try await expectConverged(server, [phone, desk], reason)
      #expect(desk.tabs.tab(testID(3)) != nil, "\(reason)")
    }
  }

  /// Proves CE-103.
  @Test("T: C: Despite expired tokens, full storage and transient failures everything arrives")
  func allItemsArriveDespiteFailures() async throws {
    let (server, phone, desk) = try pair()
    try phone.tabs.add(testTab(1))
    try await phone.sync.sync()
    try await desk.sync.sync()
    try server.controls.expireTokens(
      of: ZoneID(name: "ItsypadData"), container: TabDevice.container, account: "anna")
    try phone.tabs.updateContent(testID(1), "after expiry", now: testDate(1))
    for device in [phone, desk] { try await device.sync.sync() }
    try await expectConverged(server, [phone, desk], "expiry")

    try server.controls.setQuota(10, of: "anna")
    try phone.tabs.add(testTab(2, String(repeating: "x", count: 10_000)))
    await #expect(throws: SyncedStoreError.self) { try await phone.sync.sync() }
    #expect(phone.sync.status.activity.problems.map(\.code) == [CKError.Code.quotaExceeded])
    try server.controls.setQuota(nil, of: "anna")
    for device in [phone, desk] { try await device.sync.sync() }
    try await expectConverged(server, [phone, desk], "quota")

    for code in [CKError.Code.networkFailure, .serviceUnavailable, .zoneBusy] {
      let cloudCode = try #require(CloudError.Code(rawValue: code.rawValue))
      server.controls.fail(next: 1, with: cloudCode, in: RequestScope(kind: .modifyRecords))
      try phone.tabs.updateContent(testID(1), "\(code)", now: testDate(Double(code.rawValue)))
      await #expect(throws: CKError.self) { try await phone.sync.sync() }
      #expect(phone.tabs.unsentCount == 1, "\(code)")
      for device in [phone, desk] { try await device.sync.sync() }
      try await expectConverged(server, [phone, desk], "\(code)")
    }
  }

  @Test("T: With automatic sync an edit reaches the other device without a request")
  func automaticSyncDeliversEdit() async throws {
    let server = LoopbackServer()
    let phone = try TabDevice(server, "phone", automaticallySync: true)
    let desk = try TabDevice(server, "desk", automaticallySync: true)
    let changes = desk.sync.changes
    try phone.tabs.add(testTab(1, "pushed"))
    for await change in changes {
      #expect(
        change.recordID.recordName == testID(1).uuidString && change.recordType == "ScratchTab")
      break
    }
    #expect(desk.tabs.tab(testID(1))?.content == "pushed")
    withExtendedLifetime((phone, desk)) {}
  }

  /// Proves FB-11, SC-57.
  @Test("T: C: sync turned off and on again: nothing doubles, what was closed meanwhile goes")
  func syncOffAndOnDuplicatesNothing() async throws {
    let (server, phone, desk) = try pair()
    try phone.tabs.add([testTab(1), testTab(2), testTab(3)])
    try await phone.sync.sync()
    try await desk.sync.sync()
    try phone.sync.setEnabled(false)
    await #expect(throws: SyncedStoreError.self) { try await phone.sync.sync() }
    try phone.tabs.close(testID(1))
    try phone.tabs.updateContent(testID(2), "while off", now: testDate(5))
    try phone.sync.setEnabled(true)
    for device in [phone, desk, phone] { try await device.sync.sync() }
    try await expectConverged(server, [phone, desk])
    #expect(desk.tabs.tabs.map(\.content).sorted() == ["text", "while off"])
  }
}
