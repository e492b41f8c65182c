import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import Synchronization
import Testing

/// The two feeds with both families of blocks (CS-60 and CS-61).
@Suite("Operations that fetch changes")
struct OperationsChangesTests {
  private typealias World = OperationsWorld

  private static func smallPages(_ world: OperationsWorld) {
    var limits = ServerLimits()
    limits.zoneChangesPage = 2
    limits.databaseChangesPage = 2
    world.server.controls.setLimits(limits)
  }

  private static func listen(
    _ operation: CKFetchRecordZoneChangesOperation, _ world: OperationsWorld
  ) {
    operation.recordWasChangedBlock = { world.note("changed \($0.recordName)", $1) }
    operation.recordChangedBlock = { _ in world.note("suppressed") }
    operation.recordWithIDWasDeletedBlock = { world.note("deleted \($0.recordName) \($1)") }
    operation.recordZoneChangeTokensUpdatedBlock = { zoneID, token, data in
      world.note("token of \(zoneID.zoneName) \(token != nil) \(data == nil)")
    }
    operation.recordZoneFetchResultBlock = { zoneID, result in
      let more = (try? result.get().moreComing) ?? false
      world.note("end of \(zoneID.zoneName)\(more ? ", more" : "")", result)
    }
    operation.fetchRecordZoneChangesResultBlock = { world.note("result", $0) }
    operation.fetchRecordZoneChangesCompletionBlock = { world.note("completion", $0) }
  }

  static let stories = [
    OperationStory(
      "all pages: a token after each but the last, one end for each zone, in succession",
      expect: [
        "changed a", "changed b", "token of Z true true", "changed c", "end of Z", "changed y",
        "end of Y", "result", "completion",
      ]
    ) { world in
      try await world.saveZones("Y")
      try await world.save("a", "b", "c")
      try await world.save("y", zone: "Y")
      smallPages(world)
      let operation = CKFetchRecordZoneChangesOperation(
        recordZoneIDs: [World.zoneID, CKRecordZone.ID(zoneName: "Y"), World.zoneID])
      listen(operation, world)
      await world.run(operation)
    },
    OperationStory(
      "page by page: no token on the way, the caller goes on with the one at the end",
      expect: [
        "changed a", "changed b", "end of Z, more", "result", "completion", "changed c",
        "end of Z", "result", "completion",
      ]
    ) { world in
      try await world.save("a", "b", "c")
      let token = Mutex<CKServerChangeToken?>(nil)
      for limit in [2, 0] {
        let configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration(
          previousServerChangeToken: token.withLock { $0 }, resultsLimit: limit)
        let operation = CKFetchRecordZoneChangesOperation(
          recordZoneIDs: [World.zoneID],
          configurationsByRecordZoneID: [World.zoneID: configuration])
        operation.fetchAllChanges = false
        listen(operation, world)
        let told = operation.recordZoneFetchResultBlock
        operation.recordZoneFetchResultBlock = { zoneID, result in
          told?(zoneID, result)
          token.withLock { $0 = try? result.get().serverChangeToken }
        }
        await world.run(operation)
      }
    },
    OperationStory(
      "deletions, the fields wanted, the older blocks",
      expect: [
        "record b []", "deleted a Note", "zone Z true false", "completion",
      ]
    ) { world in
      try await world.save("a")
      let token = try await world.database.recordZoneChanges(inZoneWith: World.zoneID, since: nil)
        .changeToken
      try await world.save("b")
      try await world.database.deleteRecord(withID: World.id("a"))
      let options = CKFetchRecordZoneChangesOperation.ZoneOptions()
      options.previousServerChangeToken = token
      options.desiredKeys = []
      let operation = CKFetchRecordZoneChangesOperation(
        recordZoneIDs: [World.zoneID], optionsByRecordZoneID: [World.zoneID: options])
      operation.recordChangedBlock = {
        world.note("record \($0.recordID.recordName) \($0.allKeys())")
      }
      operation.recordWithIDWasDeletedBlock = { world.note("deleted \($0.recordName) \($1)") }
      operation.recordZoneFetchCompletionBlock = { zoneID, token, _, more, error in
        world.note("zone \(zoneID.zoneName) \(token != nil) \(more)", error)
      }
      operation.fetchRecordZoneChangesCompletionBlock = { world.note("completion", $0) }
      await world.run(operation)
    },
    OperationStory(
      "a zone that is gone does not keep the others",
      expect: [
        "end of Q: zoneNotFound", "changed a", "end of Z", "result",
        "completion: partialFailure [Q zoneNotFound]",
      ]
    ) { world in
      try await world.save("a")
      let operation = CKFetchRecordZoneChangesOperation(
        recordZoneIDs: [CKRecordZone.ID(zoneName: "Q"), World.zoneID])
      listen(operation, world)
      await world.run(operation)
    },
    OperationStory(
      "an expired token: the zone's own failure, and wrapped for the older block",
      expect: [
        "end of Z: changeTokenExpired", "result",
        "completion: partialFailure [Z changeTokenExpired]",
      ]
    ) { world in
      let token = try await world.database.recordZoneChanges(inZoneWith: World.zoneID, since: nil)
        .changeToken
      try world.server.controls.expireTokens(
        of: World.zoneID.value, container: world.container.containerIdentifier ?? "",
        account: "alice")
      let operation = CKFetchRecordZoneChangesOperation(
        recordZoneIDs: [World.zoneID],
        configurationsByRecordZoneID: [World.zoneID: .init(previousServerChangeToken: token)])
      listen(operation, world)
      await world.run(operation)
    },
    OperationStory(
      "a failure on the way: what was told stays, and the whole fails",
      expect: [
        "changed a", "changed b", "token of Z true true", "result: serviceUnavailable",
        "completion: serviceUnavailable",
      ]
    ) { world in
      try await world.save("a", "b", "c")
      smallPages(world)
      world.server.controls.runAfterCommit(in: RequestScope(kind: .fetchZoneChanges)) { _ in
        world.server.controls.fail(with: .serviceUnavailable)
      }
      let operation = CKFetchRecordZoneChangesOperation(
        recordZoneIDs: [World.zoneID, CKRecordZone.ID(zoneName: "Y")])
      listen(operation, world)
      await world.run(operation)
    },
    OperationStory(
      "the database feed, all pages",
      expect: [
        "changed Z", "changed A", "token", "changed B", "token", "end", "end false",
      ]
    ) { world in
      try await world.saveZones("A", "B")
      smallPages(world)
      await world.run(databaseChanges(world))
    },
    OperationStory(
      "the database feed, cancelled from a block: nothing more but the end",
      expect: [
        "changed Z", "end: operationCancelled", "end false: operationCancelled", "deleted A",
        "end: operationCancelled", "end false: operationCancelled",
      ]
    ) { world in
      try await world.saveZones("A", "B")
      let whole = databaseChanges(world)
      whole.recordZoneWithIDChangedBlock = { [weak whole] in
        world.note("changed \($0.zoneName)")
        whole?.cancel()
      }
      await world.run(whole)
      let token = try await world.database.databaseChanges(since: nil).changeToken
      for name in ["A", "B"] {
        try await world.database.deleteRecordZone(withID: CKRecordZone.ID(zoneName: name))
      }
      let later = databaseChanges(world)
      later.previousServerChangeToken = token
      later.recordZoneWithIDWasDeletedBlock = { [weak later] in
        world.note("deleted \($0.zoneName)")
        later?.cancel()
      }
      await world.run(later)
    },
    OperationStory(
      "the feed of a zone, cancelled from the block of a deletion",
      expect: ["deleted a", "result: operationCancelled"]
    ) { world in
      try await world.save("a", "b")
      let token = try await world.database.recordZoneChanges(inZoneWith: World.zoneID, since: nil)
        .changeToken
      for name in ["a", "b"] { try await world.database.deleteRecord(withID: World.id(name)) }
      let operation = CKFetchRecordZoneChangesOperation(
        recordZoneIDs: [World.zoneID],
        configurationsByRecordZoneID: [World.zoneID: .init(previousServerChangeToken: token)])
      operation.recordWithIDWasDeletedBlock = { [weak operation] id, _ in
        world.note("deleted \(id.recordName)")
        operation?.cancel()
      }
      operation.recordZoneFetchResultBlock = { _, _ in world.note("too much") }
      operation.fetchRecordZoneChangesResultBlock = { world.note("result", $0) }
      await world.run(operation)
    },
    OperationStory(
      "the feeds, cancelled before they were added",
      expect: [
        "result: operationCancelled", "end: operationCancelled", "end false: operationCancelled",
        "0 requests",
      ]
    ) { world in
      let zones = CKFetchRecordZoneChangesOperation(recordZoneIDs: [World.zoneID])
      zones.fetchRecordZoneChangesResultBlock = { world.note("result", $0) }
      zones.cancel()
      await world.run(zones)
      let database = databaseChanges(world)
      database.cancel()
      await world.run(database)
      world.note("\(world.server.controls.requestCount()) requests")
    },
    OperationStory(
      "the database feed, page by page",
      expect: ["changed Z", "changed A", "token", "end, more", "end true"]
    ) { world in
      try await world.saveZones("A", "B")
      let operation = databaseChanges(world)
      operation.resultsLimit = 2
      operation.fetchAllChanges = false
      await world.run(operation)
    },
    OperationStory(
      "why a zone went, with and without a block of its own",
      expect: [
        "purged A", "reset B", "token", "end", "end false", "deleted A", "deleted B", "token",
        "end", "end false",
      ]
    ) { world in
      try await world.saveZones("A", "B")
      let token = try await world.database.databaseChanges(since: nil).changeToken
      let container = world.container.containerIdentifier ?? ""
      try world.server.controls.purgeZone(
        CKRecordZone.ID(zoneName: "A").value, container: container, account: "alice")
      try world.server.controls.resetEncryptedData(
        CKRecordZone.ID(zoneName: "B").value, container: container, account: "alice")
      for isSpecial in [true, false] {
        let operation = databaseChanges(world)
        operation.previousServerChangeToken = token
        if isSpecial {
          operation.recordZoneWithIDWasPurgedBlock = { world.note("purged \($0.zoneName)") }
          operation.recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock = {
            world.note("reset \($0.zoneName)")
          }
        }
        await world.run(operation)
      }
    },
    OperationStory(
      "the database feed with a token that is too old",
      expect: ["end: changeTokenExpired", "end false: changeTokenExpired"]
    ) { world in
      world.server.controls.fail(with: .changeTokenExpired)
      await world.run(databaseChanges(world))
    },
  ]

  private static func databaseChanges(
    _ world: OperationsWorld
  ) -> CKFetchDatabaseChangesOperation {
    let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: nil)
    operation.recordZoneWithIDChangedBlock = { world.note("changed \($0.zoneName)") }
    operation.recordZoneWithIDWasDeletedBlock = { world.note("deleted \($0.zoneName)") }
    operation.changeTokenUpdatedBlock = { _ in world.note("token") }
    operation.fetchDatabaseChangesResultBlock = { result in
      let more = (try? result.get().moreComing) ?? false
      world.note(more ? "end, more" : "end", result)
    }
    operation.fetchDatabaseChangesCompletionBlock = { world.note("end \($1)", $2) }
    return operation
  }

  /// Proves CS-56, CS-60, CS-61, CS-62.
  @Test(
    "An operation that fetches changes calls its blocks with the expected values",
    arguments: stories)
  func changeOperationCallsExpectedBlocks(_ story: OperationStory) async throws {
    try await story.check()
  }

  @Test("A zone's configuration survives its archive, and a copy is independent")
  func zoneConfigurationSurvivesArchiveAndCopy() async throws {
    let world = try await OperationsWorld()
    let token = try await world.database.recordZoneChanges(inZoneWith: World.zoneID, since: nil)
      .changeToken
    for keys in [nil, [], ["a", "b"]] as [[String]?] {
      let original = CKFetchRecordZoneChangesOperation.ZoneConfiguration(
        previousServerChangeToken: token, resultsLimit: 7, desiredKeys: keys)
      let data = try NSKeyedArchiver.archivedData(
        withRootObject: original, requiringSecureCoding: true)
      let back = try #require(
        try NSKeyedUnarchiver.unarchivedObject(
          ofClass: CKFetchRecordZoneChangesOperation.ZoneConfiguration.self, from: data))
      let copy = original.copy() as? CKFetchRecordZoneChangesOperation.ZoneConfiguration
      original.resultsLimit = 8
      for read in [back, copy] {
        #expect(
          read?.previousServerChangeToken == token && read?.resultsLimit == 7
            && read?.desiredKeys == keys)
      }
    }
    world.close()
  }

  @Test(
    "An error about a zone leaves the other zones to the operation, and any other one ends it",
    arguments: [
      (.zoneNotFound, true), (.userDeletedZone, true), (.changeTokenExpired, true),
      (.zoneBusy, true), (.unknownItem, true), (.permissionFailure, true),
      (.invalidArguments, true), (.serverRejectedRequest, true), (.badDatabase, true),
      (.networkFailure, false), (.quotaExceeded, false), (.internalError, false),
    ] as [(CloudError.Code, Bool)])
  func zoneErrorsDoNotEndOperation(_ code: CloudError.Code, isOfZone: Bool) async throws {
    let world = try await OperationsWorld()
    try await world.saveZones("Y")
    world.server.controls.fail(with: code, in: RequestScope(kind: .fetchZoneChanges))
    let operation = CKFetchRecordZoneChangesOperation(
      recordZoneIDs: [CKRecordZone.ID(zoneName: "Y"), OperationsWorld.zoneID])
    operation.recordZoneFetchResultBlock = { world.note("end of \($0.zoneName)", $1) }
    operation.fetchRecordZoneChangesResultBlock = { world.note("result", $0) }
    await world.run(operation)
    let others = ["end of Y: \(code)", "end of Z", "result"]
    #expect(world.journal == (isOfZone ? others : ["result: \(code)"]))
    world.close()
  }

  @Test("The settings of zones are the same under their older name, and begin without a limit")
  func zoneSettingsHaveTwoNames() {
    let zoneID = OperationsWorld.zoneID
    let configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration(desiredKeys: ["a"])
    #expect(configuration.resultsLimit == 0)
    #expect(CKFetchRecordZoneChangesOperation.ZoneConfiguration().resultsLimit == 0)
    let operation = CKFetchRecordZoneChangesOperation()
    #expect(operation.fetchAllChanges && operation.optionsByRecordZoneID == nil)
    operation.optionsByRecordZoneID = [zoneID: configuration]
    #expect(operation.configurationsByRecordZoneID?[zoneID] === configuration)
    #expect(operation.optionsByRecordZoneID?[zoneID] === configuration)
    let feed = CKFetchDatabaseChangesOperation()
    #expect(feed.fetchAllChanges && feed.resultsLimit == 0)
  }
}
