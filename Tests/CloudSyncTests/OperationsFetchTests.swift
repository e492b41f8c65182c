import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import Testing

/// Fetches with both families of blocks (CS-46 and CS-55).
@Suite("Operations that fetch")
struct OperationsFetchTests {
  private typealias World = OperationsWorld

  static let stories = [
    OperationStory(
      "records, newer blocks",
      expect: [
        "progress a 1.0", "fetch a", "fetch x: unknownItem", "result",
        "completion [\"a\"]: partialFailure [x unknownItem]",
      ]
    ) { world in
      try await world.save("a")
      let operation = CKFetchRecordsOperation(recordIDs: [World.id("a"), World.id("x")])
      operation.perRecordProgressBlock = { world.note("progress \($0.recordName) \($1)") }
      operation.perRecordResultBlock = { world.note("fetch \($0.recordName)", $1) }
      operation.perRecordCompletionBlock = { _, _, _ in world.note("suppressed") }
      operation.fetchRecordsResultBlock = { world.note("result", $0) }
      operation.fetchRecordsCompletionBlock = { records, error in
        world.note("completion \((records ?? [:]).keys.map(\.recordName))", error)
      }
      await world.run(operation)
    },
    OperationStory(
      "records, older blocks, no fields",
      expect: [
        "a true true", "x false true: unknownItem",
        "completion 1: partialFailure ["
          + "x unknownItem]",
      ]
    ) { world in
      try await world.save("a")
      let operation = CKFetchRecordsOperation(recordIDs: [World.id("a"), World.id("x")])
      operation.desiredKeys = []
      operation.perRecordCompletionBlock = { record, id, error in
        let isEmpty = record?.allKeys().isEmpty ?? true
        world.note("\(id?.recordName ?? "nil") \(record != nil) \(isEmpty)", error)
      }
      operation.fetchRecordsCompletionBlock = { world.note("completion \($0?.count ?? -1)", $1) }
      await world.run(operation)
    },
    OperationStory(
      "the current user's record is asked for by the user's ID",
      expect: ["asked for the user: true", "result"]
    ) { world in
      let user = try await world.container.userRecordID()
      let operation = CKFetchRecordsOperation.fetchCurrentUserRecordOperation()
      operation.perRecordResultBlock = { id, _ in world.note("asked for the user: \(id == user)") }
      operation.fetchRecordsResultBlock = { world.note("result", $0) }
      await world.run(operation)
    },
    OperationStory(
      "signed out: the whole fails", expect: ["result: notAuthenticated"]
    ) { world in
      world.server.device("phone").signOut()
      let operation = CKFetchRecordsOperation.fetchCurrentUserRecordOperation()
      operation.fetchRecordsResultBlock = { world.note("result", $0) }
      await world.run(operation)
    },
    OperationStory(
      "zones by name",
      expect: [
        "Z", "Q: zoneNotFound", "result", "completion [\"Z\"]: partialFailure [Q zoneNotFound]",
      ]
    ) { world in
      let operation = CKFetchRecordZonesOperation(
        recordZoneIDs: [World.zoneID, CKRecordZone.ID(zoneName: "Q")])
      operation.perRecordZoneResultBlock = { world.note($0.zoneName, $1) }
      operation.fetchRecordZonesResultBlock = { world.note("result", $0) }
      operation.fetchRecordZonesCompletionBlock = { zones, error in
        world.note("completion \((zones ?? [:]).keys.map(\.zoneName))", error)
      }
      await world.run(operation)
    },
    OperationStory("all zones", expect: ["_defaultZone", "Y", "Z"]) { world in
      try await world.saveZones("Y")
      let operation = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
      operation.fetchRecordZonesCompletionBlock = { zones, _ in
        for name in (zones ?? [:]).keys.map(\.zoneName).sorted(by: {
          $0.lowercased() < $1.lowercased()
        }) { world.note(name) }
      }
      await world.run(operation)
    },
    OperationStory(
      "subscriptions by name and all",
      expect: ["s", "t: unknownItem", "result", "all [\"s\"]"]
    ) { world in
      let subscription = CKRecordZoneSubscription(zoneID: World.zoneID, subscriptionID: "s")
      subscription.notificationInfo = .init(shouldSendContentAvailable: true)
      try await world.database.save(subscription)
      let some = CKFetchSubscriptionsOperation(subscriptionIDs: ["s", "t"])
      some.perSubscriptionResultBlock = { world.note($0, $1) }
      some.fetchSubscriptionsResultBlock = { world.note("result", $0) }
      await world.run(some)
      let all = CKFetchSubscriptionsOperation.fetchAllSubscriptionsOperation()
      all.fetchSubscriptionCompletionBlock = { subscriptions, error in
        world.note("all \((subscriptions ?? [:]).keys.sorted())", error)
      }
      await world.run(all)
    },
    OperationStory(
      "an operation that was told nothing does nothing", expect: ["0 requests"]
    ) { world in
      for operation in [
        CKFetchRecordsOperation(), CKFetchRecordZonesOperation(), CKFetchSubscriptionsOperation(),
        CKModifyRecordZonesOperation(), CKModifySubscriptionsOperation(),
        CKFetchRecordZoneChangesOperation(),
      ] as [CKDatabaseOperation] { await world.run(operation) }
      world.note("\(world.server.controls.requestCount()) requests")
    },
  ]

  /// Proves CS-46, CS-50, CS-55.
  @Test("A fetch operation calls its blocks with the expected values", arguments: stories)
  func fetchOperationCallsExpectedBlocks(_ story: OperationStory) async throws {
    try await story.check()
  }
}
