import CloudProtocol
import Records
import Testing

@testable import cloudsync_differential

/// What random tapes found in the server, each as the shortest script that shows it.
@Suite("Requests that clouds once answered differently")
struct DifferentialFindingTests {
  /// Proves CS-230.
  @Test("a new share is refused when the save of its root is refused")
  func aNewShareIsRefusedWhenTheSaveOfItsRootIsRefused() async throws {
    let stage = try Stage()
    for member in stage.members {
      let script = Script(cloud: member.cloud)
      let zone = ZoneID(name: "A")
      let root = RecordID(name: "root", zone: zone)
      let share = RecordID(name: "share", zone: zone)
      _ = await script.send(.modifyZones(ModifyZones(save: [zone])), id: "1")
      _ = await script.save([RecordSave(id: root, type: "Note", changes: [])], id: "2")
      // The root is there by now, so a save without its tag is a conflict.
      let results = await script.save(
        [
          RecordSave(id: root, type: "Note", changes: []),
          RecordSave(
            id: share, type: ShareDetails.recordType, changes: [],
            sharing: ShareDetails(root: root)),
        ], id: "3")
      #expect(
        results.map(\.error?.code) == [.serverRecordChanged, .referenceViolation],
        "\(member.name)")
      let read = await script.send(.fetchRecords(FetchRecords(ids: [share])), id: "4")
      guard case .success(.records(let found)) = read else {
        Issue.record("\(member.name) answers \(read)")
        continue
      }
      #expect(found.map(\.error?.code) == [.unknownItem], "\(member.name)")
    }
    await stage.close()
  }
}

/// Requests of one device, each under a name of its own.
private struct Script {
  let cloud: any Cloud

  func send(_ request: CloudRequest, id: String) async -> Result<CloudReply, CloudError> {
    let call = CloudCall(
      container: "iCloud.example.finding", database: .private, requestID: id, request: request)
    return await cloud.send(call, from: Device.all[0])
  }

  func save(_ saves: [RecordSave], id: String) async -> [ItemResult<RecordID, Record>] {
    let answer = await send(.modifyRecords(ModifyRecords(save: saves, isAtomic: false)), id: id)
    guard case .success(.recordsModified(let saved, _)) = answer else { return [] }
    return saved
  }
}
