import CloudSync
import LoopbackServer
import Testing

actor Notes: CKSyncEngineDelegate {
  var texts: [String: String] = [:]

  func write(_ text: String, as name: String) { texts[name] = text }

  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    guard case .fetchedRecordZoneChanges(let changes) = event else { return }
    for modification in changes.modifications {
      let record = modification.record
      texts[record.recordID.recordName] = record["text"] as? String
    }
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    let pending = syncEngine.state.pendingRecordZoneChanges.filter(context.options.scope.contains)
    return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: pending) { id in
      let record = CKRecord(recordType: "Note", recordID: id)
      record["text"] = await self.texts[id.recordName]
      return record
    }
  }
}

@Suite("The example of the README")
struct ReadmeExampleTests {
  @Test("A note goes from one device to the other")
  func example() async throws {
    let server = LoopbackServer()
    let phone = CKContainer(
      identifier: "iCloud.example", transport: server.device("phone", signedInAs: "alice"))
    let laptop = CKContainer(
      identifier: "iCloud.example", transport: server.device("laptop", signedInAs: "alice"))

    let written = Notes()
    let sender = CKSyncEngine(
      .init(database: phone.privateCloudDatabase, stateSerialization: nil, delegate: written))
    let zone = CKRecordZone(zoneName: "Notes")
    await written.write("Bread, milk", as: "shopping")
    sender.state.add(pendingDatabaseChanges: [.saveZone(zone)])
    sender.state.add(
      pendingRecordZoneChanges: [
        .saveRecord(CKRecord.ID(recordName: "shopping", zoneID: zone.zoneID))
      ])
    try await sender.sendChanges()

    let read = Notes()
    let receiver = CKSyncEngine(
      .init(database: laptop.privateCloudDatabase, stateSerialization: nil, delegate: read))
    try await receiver.fetchChanges()
    let text = await read.texts["shopping"]  // "Bread, milk"
    #expect(text == "Bread, milk")
  }
}
