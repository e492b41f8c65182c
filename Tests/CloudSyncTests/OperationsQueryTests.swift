import CloudSync
import Foundation
import LoopbackServer
import Synchronization
import Testing

/// Searches as operations and as calls, over the server in process (CS-47 and CS-59).
@Suite("Operations that search")
struct OperationsQueryTests {
  private typealias World = OperationsWorld

  private static func query(_ ascending: Bool = true) -> CKQuery {
    let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
    query.sortDescriptors = [NSSortDescriptor(key: "text", ascending: ascending)]
    return query
  }

  private static func fill(_ world: OperationsWorld) async throws {
    let records = ["a", "b", "c", "d", "e"].map { World.record($0, "text \($0)") }
    _ = try await world.database.modifyRecords(saving: records, deleting: [])
  }

  static let stories = [
    OperationStory(
      "pages in order, the cursor is the only sign of more",
      expect: [
        "e", "d", "more", "completion true", "c", "b", "more", "completion true", "a", "end",
        "completion false",
      ]
    ) { world in
      try await fill(world)
      let cursor = Mutex<CKQueryOperation.Cursor?>(nil)
      for page in 0..<3 {
        let operation =
          if page > 0, let next = cursor.withLock({ $0 }) { CKQueryOperation(cursor: next) } else {
            CKQueryOperation(query: query(false))
          }
        operation.resultsLimit = 2
        operation.recordMatchedBlock = { world.note($0.recordName, $1) }
        operation.recordFetchedBlock = { _ in world.note("suppressed") }
        operation.queryResultBlock = { result in
          let next = try? result.get()
          cursor.withLock { $0 = next }
          world.note(next == nil ? "end" : "more", result)
        }
        operation.queryCompletionBlock = { world.note("completion \($0 != nil)", $1) }
        await world.run(operation)
      }
    },
    OperationStory(
      "older blocks, one zone, no fields", expect: ["y []", "completion false"]
    ) { world in
      try await fill(world)
      try await world.saveZones("Y")
      try await world.save("y", zone: "Y")
      let operation = CKQueryOperation(query: query())
      operation.zoneID = CKRecordZone.ID(zoneName: "Y")
      operation.desiredKeys = []
      operation.recordFetchedBlock = { world.note("\($0.recordID.recordName) \($0.allKeys())") }
      operation.queryCompletionBlock = { world.note("completion \($0 != nil)", $1) }
      await world.run(operation)
    },
    OperationStory(
      "what cannot be searched for is refused before anything is sent",
      expect: [
        "result: invalidArguments", "completion false: invalidArguments",
        "result: invalidArguments", "completion false: invalidArguments", "0 requests",
      ]
    ) { world in
      let predicate = NSPredicate(format: "a ENDSWITH %@", argumentArray: ["x"])
      for operation in [
        CKQueryOperation(), CKQueryOperation(query: .init(recordType: "T", predicate: predicate)),
      ] {
        operation.queryResultBlock = { world.note("result", $0) }
        operation.queryCompletionBlock = { world.note("completion \($0 != nil)", $1) }
        await world.run(operation)
      }
      world.note("\(world.server.controls.requestCount()) requests")
    },
    OperationStory(
      "the calls: async, with results, with plain records, and an archived cursor",
      expect: ["a b true", "c d e false", "c d true", "a b c d e", "a b c d e", "5"]
    ) { world in
      try await fill(world)
      let note: @Sendable ([(CKRecord.ID, Result<CKRecord, any Error>)], Bool) -> Void = {
        world.note("\($0.map(\.0.recordName).joined(separator: " ")) \($1)")
      }
      let (first, cursor) = try await world.database.records(
        matching: query(), inZoneWith: World.zoneID, resultsLimit: 2)
      note(first, cursor != nil)
      let data = try NSKeyedArchiver.archivedData(
        withRootObject: #require(cursor), requiringSecureCoding: true)
      let back = try #require(
        try NSKeyedUnarchiver.unarchivedObject(ofClass: CKQueryOperation.Cursor.self, from: data))
      #expect(back == cursor)
      let rest = try await world.database.records(continuingMatchFrom: back)
      note(rest.matchResults, rest.queryCursor != nil)
      await withCheckedContinuation { continuation in
        world.database.fetch(withCursor: back, resultsLimit: 2) { result in
          if let page = try? result.get() { note(page.matchResults, page.queryCursor != nil) }
          continuation.resume()
        }
      }
      await withCheckedContinuation { continuation in
        world.database.perform(query(), inZoneWith: nil) { records, error in
          let names = (records ?? []).map(\.recordID.recordName).joined(separator: " ")
          world.note(names, error)
          continuation.resume()
        }
      }
      let plain: [CKRecord] = try await world.database.records(matching: query(), inZoneWith: nil)
      world.note(plain.map(\.recordID.recordName).joined(separator: " "))
      await withCheckedContinuation { continuation in
        world.database.fetch(withQuery: query()) { result in
          world.note("\((try? result.get().matchResults.count) ?? -1)")
          continuation.resume()
        }
      }
    },
  ]

  /// Proves CS-47, CS-57, CS-59, CS-72, CS-87.
  @Test("Query operations and query calls deliver the expected values", arguments: stories)
  func queryOperationCallsExpectedBlocks(_ story: OperationStory) async throws {
    try await story.check()
  }
}
