import CloudProtocol
import LoopbackServer
import Testing
import WebServices

@testable import LoopbackHTTP

/// What the request log, the event feed and the metrics say about items that were refused in a
/// response with status 200.
@Suite("Refused items of answered requests")
struct RefusedItemTests {
  private static func operation(_ type: String, _ name: String, _ more: String = "") -> String {
    #"{"operationType":"\#(type)","record":{"recordName":"\#(name)","recordType":"Note"\#(more)}}"#
  }

  private func get(_ world: AccessWorld, _ path: String) async throws -> TestClient.Answer {
    try await world.ask(
      "GET", path, fields: ["Authorization: Bearer \(world.web.controlToken)"])
  }

  /// Saves records of bob's, one by one.
  private func modify(_ world: AccessWorld, _ operations: [String]) async throws {
    let answer = try await world.post(
      .recordsModify, query: try world.query("bob"),
      #"{"atomic":false,"operations":[\#(operations.joined(separator: ","))]}"#)
    #expect(answer.status == 200, "\(answer.text)")
  }

  /// The latest request, as the request log and the event feed have it.
  private func latest(_ world: AccessWorld) async throws -> JSON {
    let log = try JSON(parsing: try await get(world, "/cloudsync/1/requests").body)
    let feed = try JSON(parsing: try await get(world, "/cloudsync/1/events").body)
    let request = try #require(log["requests"]?.array?.last)
    let events = feed["events"]?.array?.compactMap { $0["request"] }
    #expect(events?.last?.text == request.text)
    return request
  }

  @Test("The log names the codes of refused saves, deletions and acceptances")
  func logNamesCodesOfRefusedItems() async throws {
    try await AccessWorld.run { world in
      let big = #","fields":{"text":{"value":"\#(String(repeating: "x", count: 4_000))"}}"#
      try await modify(world, [Self.operation("create", "a")])
      var request = try await latest(world)
      #expect(request["outcome"]?.string == "answered" && request["refusedItems"] == nil)
      try world.server.controls.setQuota(1_000, of: "bob")
      try await modify(
        world,
        [
          Self.operation("create", "a"), Self.operation("forceUpdate", "b"),
          Self.operation("create", "c", big),
        ])
      request = try await latest(world)
      #expect(request["outcome"]?.string == "2 of 3 refused: CONFLICT, QUOTA_EXCEEDED")
      #expect(request["refusedItems"]?.text == #"["CONFLICT","QUOTA_EXCEEDED"]"#)
      #expect(request["code"] == nil)
      for (operations, outcome) in [
        ([Self.operation("create", "d", #","fields":{"1":{"value":1}}"#)], "BAD_REQUEST"),
        ([Self.operation("delete", "a", #","recordChangeTag":"x""#)], "CONFLICT"),
      ] {
        try await modify(world, operations)
        #expect(try await latest(world)["outcome"]?.string == "1 of 1 refused: \(outcome)")
      }
      let things = try await world.settle()
      let accepted = try await world.post(
        .recordsAccept, .public, query: try world.query("bob"),
        #"{"shortGUIDs":[{"value":"\#(things.shareName)"}]}"#)
      #expect(accepted.status == 200 && accepted.text.contains("ACCESS_DENIED"))
      #expect(try await latest(world)["outcome"]?.string == "1 of 1 refused: ACCESS_DENIED")
      let metrics = try await get(world, "/metrics").text.split(separator: "\n")
      for (code, count) in [("CONFLICT", 2), ("QUOTA_EXCEEDED", 1), ("ACCESS_DENIED", 1)] {
        let line = #"cloudsync_refused_items_total{code="\#(code)"} \#(count)"#
        #expect(metrics.contains { $0 == line }, "\(line)")
      }
    }
  }

  @Test("Refused items of zones, subscriptions, shares and users are named, too")
  func refusedItemsOfEveryKindAreNamed() async throws {
    try await AccessWorld.run { world in
      for (endpoint, body) in [
        (Endpoint.zonesLookup, #"{"zones":[{"zoneName":"none"}]}"#),
        (
          .zonesModify,
          #"{"operations":[{"operationType":"delete","zone":{"zoneID":{"zoneName":"none"}}}]}"#
        ),
        (.recordsLookup, #"{"records":[{"recordName":"none"}]}"#),
        (.subscriptionsLookup, #"{"subscriptions":[{"subscriptionID":"none"}]}"#),
        (
          .subscriptionsModify,
          #"{"operations":[{"operationType":"delete","subscription":{"subscriptionID":"none"}}]}"#
        ),
        (.recordsResolve, #"{"shortGUIDs":[{"value":"none"}]}"#),
        (.usersLookupEmail, #"{"users":[{"emailAddress":"none@nowhere.example"}]}"#),
      ] {
        let database: DatabaseScope =
          [.recordsResolve, .usersLookupEmail].contains(endpoint) ? .public : .private
        let answer = try await world.post(endpoint, database, query: try world.query("bob"), body)
        #expect(answer.status == 200, "\(endpoint): \(answer.text)")
        let refused = answer.text.contains("serverErrorCode")
        let outcome = try await latest(world)["outcome"]?.string
        #expect(outcome?.hasPrefix("1 of 1 refused: ") == refused, "\(endpoint) \(outcome ?? "")")
      }
    }
  }
}
