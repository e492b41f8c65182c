import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import Testing

/// Saves and deletes with both families of blocks (CS-55 to CS-58).
@Suite("Operations that modify")
struct OperationsModifyTests {
  private typealias World = OperationsWorld

  private static func listen(
    _ operation: CKModifyRecordsOperation, _ world: OperationsWorld, newItems: Bool = true
  ) {
    operation.perRecordProgressBlock = { world.note("progress \($0.recordID.recordName) \($1)") }
    if newItems {
      operation.perRecordSaveBlock = { world.note("save \($0.recordName)", $1) }
    }
    operation.perRecordDeleteBlock = { world.note("delete \($0.recordName)", $1) }
    operation.perRecordCompletionBlock = { world.note("old \($0.recordID.recordName)", $1) }
    operation.modifyRecordsResultBlock = { world.note("result", $0) }
    operation.modifyRecordsCompletionBlock = { saved, deleted, error in
      let saved = saved.map { $0.map(\.recordID.recordName) }
      let deleted = deleted.map { $0.map(\.recordName) }
      world.note("completion \(saved ?? ["nil"]) \(deleted ?? ["nil"])", error)
    }
  }

  static let stories = [
    OperationStory(
      "all goes well",
      expect: [
        "progress a 1.0", "save a", "progress b 1.0", "save b", "delete old", "result",
        "completion [\"a\", \"b\"] [\"old\"]",
      ]
    ) { world in
      try await world.save("old")
      let record = World.record("a")
      let operation = CKModifyRecordsOperation(
        recordsToSave: [record, World.record("b")], recordIDsToDelete: [World.id("old")])
      listen(operation, world)
      await world.run(operation)
      #expect(record.recordChangeTag != nil && record.changedKeys() == [])
    },
    OperationStory(
      "single failures: the result is a success, the older block gets a partial failure",
      expect: [
        "save a: serverRecordChanged", "progress b 1.0", "save b", "result",
        "completion [\"b\"] []: partialFailure [a serverRecordChanged]",
      ]
    ) { world in
      try await world.save("a")
      let operation = CKModifyRecordsOperation(
        recordsToSave: [World.record("a", "new"), World.record("b")])
      operation.isAtomic = false
      listen(operation, world)
      await world.run(operation)
    },
    OperationStory(
      "an atomic zone: the culprit keeps its error, the others failed with it",
      expect: [
        "old a: serverRecordChanged", "old b: batchRequestFailed",
        "delete old: batchRequestFailed", "result",
        "completion [] []: partialFailure [a serverRecordChanged, b batchRequestFailed,"
          + " old batchRequestFailed]",
      ]
    ) { world in
      try await world.save("a", "old")
      let operation = CKModifyRecordsOperation(
        recordsToSave: [World.record("a", "new"), World.record("b")],
        recordIDsToDelete: [World.id("old")])
      listen(operation, world, newItems: false)
      await world.run(operation)
    },
    OperationStory("a save policy that checks nothing", expect: ["result"]) { world in
      try await world.save("a")
      let operation = CKModifyRecordsOperation(recordsToSave: [World.record("a", "new")])
      operation.savePolicy = .changedKeys
      operation.modifyRecordsResultBlock = { world.note("result", $0) }
      await world.run(operation)
      #expect(try await world.database.record(for: World.id("a"))["text"] as? String == "new")
    },
    OperationStory(
      "what fails the whole: no item is told",
      expect: ["result: networkFailure", "completion [\"nil\"] [\"nil\"]: networkFailure"]
    ) { world in
      world.server.controls.fail(with: .networkFailure)
      let operation = CKModifyRecordsOperation(recordsToSave: [World.record("a")])
      listen(operation, world)
      await world.run(operation)
    },
    OperationStory(
      "what is wrong by itself is refused before anything is sent",
      expect: [
        "limitExceeded: limitExceeded", "same twice: invalidArguments",
        "saved and deleted: invalidArguments", "nothing to do", "0 requests",
      ]
    ) { world in
      let same = World.record("a")
      let rows: [(String, CKModifyRecordsOperation)] = [
        (
          "limitExceeded",
          CKModifyRecordsOperation(
            recordsToSave: [same], recordIDsToDelete: (0..<400).map { World.id("r\($0)") })
        ),
        ("same twice", CKModifyRecordsOperation(recordsToSave: [same, same])),
        (
          "saved and deleted",
          CKModifyRecordsOperation(recordsToSave: [same], recordIDsToDelete: [same.recordID])
        ),
        ("nothing to do", CKModifyRecordsOperation()),
      ]
      for (name, operation) in rows {
        operation.modifyRecordsResultBlock = { world.note(name, $0) }
        await world.run(operation)
      }
      world.note("\(world.server.controls.requestCount()) requests")
    },
    OperationStory(
      "zones",
      expect: [
        "save Y", "delete Q: zoneNotFound", "result",
        "completion [\"Y\"] []: partialFailure [Q zoneNotFound]",
      ]
    ) { world in
      let operation = CKModifyRecordZonesOperation(
        recordZonesToSave: [CKRecordZone(zoneName: "Y")],
        recordZoneIDsToDelete: [CKRecordZone.ID(zoneName: "Q")])
      operation.perRecordZoneSaveBlock = { world.note("save \($0.zoneName)", $1) }
      operation.perRecordZoneDeleteBlock = { world.note("delete \($0.zoneName)", $1) }
      operation.modifyRecordZonesResultBlock = { world.note("result", $0) }
      operation.modifyRecordZonesCompletionBlock = { saved, deleted, error in
        let saved = (saved ?? []).map(\.zoneID.zoneName)
        world.note("completion \(saved) \((deleted ?? []).map(\.zoneName))", error)
      }
      await world.run(operation)
    },
    OperationStory(
      "subscriptions",
      expect: [
        "save s", "delete t: unknownItem", "result",
        "completion [\"s\"] []: partialFailure [t unknownItem]",
      ]
    ) { world in
      let subscription = CKDatabaseSubscription(subscriptionID: "s")
      subscription.notificationInfo = .init(shouldSendContentAvailable: true)
      let operation = CKModifySubscriptionsOperation(
        subscriptionsToSave: [subscription], subscriptionIDsToDelete: ["t"])
      operation.perSubscriptionSaveBlock = { world.note("save \($0)", $1) }
      operation.perSubscriptionDeleteBlock = { world.note("delete \($0)", $1) }
      operation.modifySubscriptionsResultBlock = { world.note("result", $0) }
      operation.modifySubscriptionsCompletionBlock = { saved, deleted, error in
        world.note("completion \((saved ?? []).map(\.subscriptionID)) \(deleted ?? [])", error)
      }
      await world.run(operation)
    },
  ]

  /// Proves CS-55, CS-56, CS-57, CS-58, CS-68, CS-69, CS-114, CS-192.
  @Test("A modify operation calls its blocks with the expected values", arguments: stories)
  func modifyOperationCallsExpectedBlocks(_ story: OperationStory) async throws {
    try await story.check()
  }
}
