import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import Testing

@Suite("Predicates: asked of a server")
struct PredicateServerTests {
  /// Proves CS-71, CS-76, E8.
  @Test("For each predicate the server finds the same records as the handwritten condition")
  func serverFindsPredicateMatches() async throws {
    let transport = LoopbackServer().device("phone", signedInAs: "alice")
    let connection = CloudConnection(container: "iCloud.predicates", transport: transport)
    let container = CKContainer(identifier: "iCloud.predicates", transport: transport)
    let records = PredicateFixture.records.map { given in
      let record = CKRecord(recordType: given.recordType, recordID: given.recordID)
      for (key, value) in given { record[key] = value }
      return record
    }
    for (_, result) in try await container.privateCloudDatabase.modifyRecords(
      saving: records, deleting: []
    ).saveResults { _ = try result.get() }
    // The server stamps records itself, so predicates on its stamps are left out.
    let stamped = ["creat", "odif", "%K > %@"]
    let cases = PredicateQueryCases.all.filter { one in
      !stamped.contains { one.format.contains($0) }
    }
    #expect(cases.count >= 60)
    for one in cases {
      let query = try CKQuery(recordType: "Item", predicate: one.predicate).converted()
      var found: [String] = []
      var cursor: QueryCursor?
      repeat {
        let reply = try await connection.send(
          .queryRecords(QueryRecords(query: query, cursor: cursor)), to: .private)
        guard case .queried(let page) = reply else {
          Issue.record("\(one.format): \(reply)")
          return
        }
        found += page.records.map(\.id.name)
        cursor = page.cursor
      } while cursor != nil
      #expect(Set(found) == Set(one.expected()), "\(one.format): \(query.filters)")
    }
  }
}
