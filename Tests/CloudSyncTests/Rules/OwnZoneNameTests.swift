import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import Synchronization
import Testing

/// A zone of one's own under the user's own name, through the calls of apps and through the engine.
@Suite("The user's own name as the owner of a zone", .timeLimit(.minutes(20)))
struct OwnZoneNameTests {
  /// The transports from a device to the server.
  enum Route: CaseIterable, Sendable {
    case inProcess, overHTTP, overHTTPWithoutExtras
  }

  private func app(_ name: String, in world: WebWorld, _ route: Route) throws -> NotesApp {
    switch route {
    case .inProcess: NotesApp(world.server, name, starts: false)
    case .overHTTP: try world.app(name)
    case .overHTTPWithoutExtras: try world.app(name, understandsExtras: false)
    }
  }

  /// Proves CS-178, CE-154.
  @Test(arguments: Route.allCases)
  func anEngineSendsAndSettlesChangesUnderEitherName(_ route: Route) async throws {
    let world = try WebWorld()
    let app = try app("phone", in: world, route)
    app.start()
    let user = try await CKContainer(identifier: NotesApp.container, transport: app.transport)
      .userRecordID()
    let named = CKRecordZone.ID(zoneName: "Notes", ownerName: user.recordName)
    let plain = NotesApp.zone.zoneID
    let state = try app.engine.state
    try await app.engine.fetchChanges()
    app.contents.withLock { $0.notes = ["a": .init(text: "1"), "b": .init(text: "2")] }
    state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: named))])
    state.add(pendingRecordZoneChanges: [
      .saveRecord(CKRecord.ID(recordName: "a", zoneID: named))
    ])
    // A scope means its zones under both names.
    try await app.engine.sendChanges(.init(scope: .zoneIDs([plain])))
    #expect(state.pendingRecordZoneChanges.isEmpty && state.pendingDatabaseChanges.isEmpty)
    state.add(pendingRecordZoneChanges: [.saveRecord(NotesApp.id("b"))])
    try await app.engine.sendChanges(.init(scope: .zoneIDs([named])))
    #expect(state.pendingRecordZoneChanges.isEmpty)
    #expect(try stored(world.server) == ["a": "1", "b": "2"])
    // The zone is known under one name: a listing from the start reports none as gone.
    try world.server.controls.expireTokens(
      of: nil, container: NotesApp.container, account: "alice")
    try await app.engine.fetchChanges(.init(scope: .zoneIDs([named])))
    #expect(app.texts == ["a": "1", "b": "2"])
    app.contents.withLock { $0.notes["a"]?.text = "3" }
    state.add(pendingRecordZoneChanges: [
      .saveRecord(CKRecord.ID(recordName: "a", zoneID: named)),
      .deleteRecord(CKRecord.ID(recordName: "b", zoneID: named)),
    ])
    try await app.engine.sendChanges()
    #expect(state.pendingRecordZoneChanges.isEmpty)
    #expect(try stored(world.server) == ["a": "3"])
    state.add(pendingDatabaseChanges: [.deleteZone(named)])
    try await app.engine.sendChanges()
    #expect(state.pendingDatabaseChanges.isEmpty)
    app.stop()
    #expect(await world.end())
  }

  /// Proves CS-179.
  @Test(arguments: Route.allCases)
  func resultsAreKeyedByTheIDsThatWereAskedFor(_ route: Route) async throws {
    let world = try WebWorld()
    let app = try app("phone", in: world, route)
    let container = CKContainer(identifier: NotesApp.container, transport: app.transport)
    let database = container.privateCloudDatabase
    let user = try await container.userRecordID()
    let named = CKRecordZone.ID(zoneName: "Notes", ownerName: user.recordName)
    let a = CKRecord.ID(recordName: "a", zoneID: named)
    let b = CKRecord.ID(recordName: "b", zoneID: NotesApp.zone.zoneID)
    let zones = try await database.modifyRecordZones(
      saving: [CKRecordZone(zoneID: named)], deleting: [])
    #expect(Array(zones.saveResults.keys) == [named])
    #expect(try await database.recordZone(for: named).zoneID == named)
    let saved = try await database.modifyRecords(
      saving: [a, b].map { CKRecord(recordType: "Note", recordID: $0) }, deleting: [])
    #expect(Set(saved.saveResults.keys) == [a, b])
    #expect(try saved.saveResults[a]?.get().recordID == a)
    let read = try await database.records(for: [a, b])
    #expect(try read[a]?.get().recordID == a && read[b]?.get().recordID == b)
    let page = try await database.recordZoneChanges(inZoneWith: named, since: nil)
    #expect(Set(page.modificationResultsByID.keys.map(\.recordName)) == ["a", "b"])
    let conflict = CKModifyRecordsOperation(
      recordsToSave: [CKRecord(recordType: "Note", recordID: a)])
    let error: CKError? = await withCheckedContinuation { continuation in
      conflict.modifyRecordsCompletionBlock = { _, _, error in
        continuation.resume(returning: error as? CKError)
      }
      database.add(conflict)
    }
    #expect(error?.code == .partialFailure)
    #expect(error?.partialErrorsByItemID?[a] != nil)
    #expect(try await database.deleteRecord(withID: a) == a)
    #expect(try await database.deleteRecordZone(withID: named) == named)
    #expect(await world.end())
  }

  /// Proves CS-180, CS-181.
  @Test(arguments: [Route.inProcess, .overHTTP])
  func theUserRecordIsFetchedAndSavedAndOwnRecordsNameTheCurrentUser(_ route: Route) async throws {
    let world = try WebWorld()
    let app = try app("phone", in: world, route)
    let container = CKContainer(identifier: NotesApp.container, transport: app.transport)
    for database in [container.publicCloudDatabase, container.privateCloudDatabase] {
      let operation = CKFetchRecordsOperation.fetchCurrentUserRecordOperation()
      let records: [CKRecord.ID: CKRecord]? = await withCheckedContinuation { continuation in
        operation.fetchRecordsCompletionBlock = { records, _ in
          continuation.resume(returning: records)
        }
        database.add(operation)
      }
      let user = try await container.userRecordID()
      let record = try #require(records?[user])
      #expect(record.recordType == CKRecord.SystemType.userRecord && record.allKeys().isEmpty)
      record["nickname"] = "al"
      try await database.save(record)
      let again = try await database.record(for: user)
      #expect(again["nickname"] as? String == "al")
      #expect(again.creatorUserRecordID?.recordName == CKCurrentUserDefaultName)
      #expect(again.lastModifiedUserRecordID?.recordName == CKCurrentUserDefaultName)
      let creator = try #require(again.creatorUserRecordID)
      #expect(try await database.record(for: creator)["nickname"] as? String == "al")
      await #expect(throws: CKError.self) { try await database.deleteRecord(withID: user) }
    }
    #expect(await world.end())
  }
}
