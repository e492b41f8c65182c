import CloudProtocol
import Records
import Testing

@testable import Differential

/// Differences that random requests found, each as the shortest script that shows it.
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

  /// Found by tape 2410: the person was in the share twice, could not write, and the owner could
  /// not save the share any more.
  ///
  /// Proves CS-231.
  @Test("a participant without permission who joins by the URL is in the share once")
  func aParticipantWithoutPermissionWhoJoinsByTheURLIsInTheShareOnce() async throws {
    let stage = try Stage()
    for member in stage.members {
      let script = Script(cloud: member.cloud)
      let zone = ZoneID(name: "A")
      let root = RecordID(name: "root", zone: zone)
      let shareID = RecordID(name: "share", zone: zone)
      _ = await script.send(.modifyZones(ModifyZones(save: [zone])), id: "1")
      var details = ShareDetails(root: root)
      details.participants = [
        ShareParticipant(
          id: "p", identity: UserIdentity(lookup: .email("bob@example.com")),
          permission: .readWrite)
      ]
      let made = await script.save(
        [
          RecordSave(id: root, type: "Note", changes: []),
          RecordSave(
            id: shareID, type: ShareDetails.recordType, changes: [], sharing: details),
        ], id: "2")
      let url = try #require(made.last?.value?.sharing?.url, "\(member.name)")
      let invited = try #require(await script.accept(url, id: "3"), "\(member.name)")

      details.participants[0].permission = .none
      details.publicPermission = .readWrite
      let opened = await script.save(
        [
          RecordSave(
            id: shareID, type: ShareDetails.recordType, changeTag: invited.changeTag, changes: [],
            sharing: details)
        ], id: "4")
      #expect(opened.map(\.error?.code) == [nil], "\(member.name)")
      let joined = try #require(await script.accept(url, id: "5"), "\(member.name)")
      let people = joined.sharing?.participants ?? []
      #expect(people.map(\.role) == [.owner, .publicUser], "\(member.name)")
      #expect(people.map(\.permission) == [.readWrite, .readWrite], "\(member.name)")

      let seen = RecordID(name: root.name, zone: joined.id.zone)
      var write = RecordSave(id: seen, type: "Note", changes: [])
      write.policy = .changedKeys
      let written = await script.save([write], id: "6", from: Device.all[2], in: .shared)
      #expect(written.map(\.error?.code) == [nil], "\(member.name)")
      details.participants = people
      let again = await script.save(
        [
          RecordSave(
            id: shareID, type: ShareDetails.recordType, changeTag: joined.changeTag, changes: [],
            sharing: details)
        ], id: "7")
      #expect(again.map(\.error?.code) == [nil], "\(member.name)")
    }
    await stage.close()
  }

  /// Found by tape 1: over HTTP the body is refused before the service reads it.
  @Test("a file above the limit is refused with limitExceeded")
  func aFileAboveTheLimitIsRefusedWithLimitExceeded() async throws {
    let stage = try Stage()
    for member in stage.members {
      let content = [UInt8](repeating: 1, count: Limits.assetBytes + 1)
      let upload = UploadAsset(recordType: "Note", key: "f", content: content)
      let answer = await Script(cloud: member.cloud).send(.uploadAsset(upload), id: "1")
      guard case .failure(let error) = answer else {
        Issue.record("\(member.name) takes the file")
        continue
      }
      #expect(error.code == .limitExceeded, "\(member.name)")
    }
    await stage.close()
  }
}

/// Requests of devices, each under a name of its own.
private struct Script {
  let cloud: any Cloud

  func send(
    _ request: CloudRequest, id: String, from device: Device = Device.all[0],
    in scope: DatabaseScope = .private
  ) async -> Result<CloudReply, CloudError> {
    let call = CloudCall(
      container: "iCloud.example.finding", database: scope, requestID: id, request: request)
    return await cloud.send(call, from: device)
  }

  func save(
    _ saves: [RecordSave], id: String, from device: Device = Device.all[0],
    in scope: DatabaseScope = .private
  ) async -> [ItemResult<RecordID, Record>] {
    let request = ModifyRecords(save: saves, isAtomic: false)
    let answer = await send(.modifyRecords(request), id: id, from: device, in: scope)
    guard case .success(.recordsModified(let saved, _)) = answer else { return [] }
    return saved
  }

  /// Joins a share as another account.
  func accept(_ url: String, id: String) async -> Record? {
    let answer = await send(.acceptShares([url]), id: id, from: Device.all[2])
    guard case .success(.sharesAccepted(let results)) = answer else { return nil }
    return results.first?.value
  }
}
