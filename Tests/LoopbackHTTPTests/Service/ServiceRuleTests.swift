import CloudProtocol
import LoopbackServer
import Records
import Testing
import WebServices

@testable import LoopbackHTTP

/// The protocol's rules as any client of it sees them, by its own words over a socket.
@Suite("CloudKit Web Services, in its own words")
struct ServiceRuleTests {
  static let zone = #""zoneID":{"zoneName":"Notes"}"#

  /// Runs a test on a server where bob has the zones Notes and Other.
  func run(_ test: @escaping (AccessWorld) async throws -> Void) async throws {
    try await AccessWorld.run { world in
      let zones = ["Notes", "Other"].map {
        #"{"operationType":"create","zone":{"zoneID":{"zoneName":"\#($0)"}}}"#
      }
      let body = #"{"operations":[\#(zones.joined(separator: ","))]}"#
      #expect(codes(try await ask(world, .zonesModify, body), "zones") == ["ok", "ok"])
      try await test(world)
    }
  }

  /// The response to bob, or another account, with status 200.
  func ask(
    _ world: AccessWorld, _ endpoint: Endpoint, _ body: String,
    in database: DatabaseScope = .private, as account: String = "bob"
  ) async throws -> JSON {
    let answer = try await world.post(endpoint, database, query: try world.query(account), body)
    #expect(answer.status == 200, "\(endpoint): \(answer.text)")
    return try JSON(parsing: answer.body)
  }

  /// The outcome of each item.
  func codes(_ answer: JSON, _ list: String = "records") -> [String] {
    (answer[list]?.array ?? []).map { $0["serverErrorCode"]?.string ?? "ok" }
  }

  func operation(
    _ type: String, _ name: String, tag: String? = nil, _ fields: String = "",
    zone: String? = nil
  ) -> String {
    let tag = tag.map { #","recordChangeTag":"\#($0)""# } ?? ""
    let zone = zone.map { #","zoneID":{"zoneName":"\#($0)"}"# } ?? ""
    return #"{"operationType":"\#(type)","record":{"recordName":"\#(name)","recordType":"Note""#
      + #"\#(tag)\#(zone),"fields":{\#(fields)}}}"#
  }

  func modify(
    _ world: AccessWorld, _ operations: [String], _ extra: String = #","atomic":false"#
  ) async throws -> JSON {
    try await ask(
      world, .recordsModify,
      #"{\#(ServiceRuleTests.zone),"operations":[\#(operations.joined(separator: ","))]\#(extra)}"#)
  }

  /// Proves TH-3, WS-5.
  @Test("A body is read as JSON whatever its content type")
  func bodyIsJSONForEveryContentType() async throws {
    try await run { world in
      let types = [
        "text/plain", "application/json; charset=utf-8", "application/x-www-form-urlencoded",
        "image/png", "nonsense",
      ]
      for type in types {
        let answer = try await world.post(
          .zonesLookup, query: try world.query("bob"), #"{"zones":[{"zoneName":"Notes"}]}"#,
          fields: ["Content-Type: \(type)"])
        #expect(answer.status == 200 && answer.text.contains("Notes"), "\(type): \(answer.text)")
      }
    }
  }

  /// Proves WS-7.
  @Test("Extra parameters from clients are ignored, except the one that requests a token")
  func extraQueryParametersAreIgnored() async throws {
    try await run { world in
      let extra =
        "&ckjsBuildVersion=1&ckjsVersion=2.6.1&clientId=x&clientBuildNumber=1&dsid=7"
        + "&clientMasteringNumber=1&remapEnums=true"
      let body = #"{\#(ServiceRuleTests.zone),"query":{"recordType":"Note"}}"#
      for (more, hasToken) in [("", false), ("&getCurrentSyncToken=true", true)] {
        let answer = try await world.post(
          .recordsQuery, query: try world.query("bob") + extra + more, body)
        #expect(answer.status == 200, "\(answer.text)")
        #expect(try (JSON(parsing: answer.body)["syncToken"] != nil) == hasToken)
      }
    }
  }

  @Test("The token of a query does not cover what is saved after the query was read")
  func tokenOfAQueryIsNotNewer() async throws {
    try await run { world in
      let query = try world.query("bob")
      let save =
        #"{\#(ServiceRuleTests.zone),"operations":[{"operationType":"create","record":"#
        + #"{"recordName":"late","recordType":"Note","fields":{}}}]}"#
      world.server.controls.runAfterCommit(in: RequestScope(kind: .queryRecords)) { _ in
        _ = try? await world.post(.recordsModify, query: query, save)
      }
      let found = try await world.post(
        .recordsQuery, query: query + "&getCurrentSyncToken=true",
        #"{\#(ServiceRuleTests.zone),"query":{"recordType":"Note"}}"#)
      #expect(!found.text.contains("late"), "\(found.text)")
      let token = try JSON(parsing: found.body).text("syncToken")
      let changes = try await world.post(
        .changesZone, query: query,
        #"{"zones":[{\#(ServiceRuleTests.zone),"syncToken":"\#(token)"}]}"#)
      #expect(changes.text.contains("late"), "\(changes.text)")
    }
  }

  /// Proves WS-12.
  @Test("A request that is signed with an unknown key is refused")
  func unknownKeysAreRefused() async throws {
    try await run { world in
      let fields = [
        "X-Apple-CloudKit-Request-KeyID: \(String(repeating: "a", count: 64))",
        "X-Apple-CloudKit-Request-ISO8601Date: 2026-11-21T12:00:00Z",
        "X-Apple-CloudKit-Request-SignatureV1: AAAA",
      ]
      let path = world.path(.recordsQuery, .public)
      let body = Array(#"{"query":{"recordType":"Note"}}"#.utf8)
      let answer = try await world.ask("POST", path, fields: fields, body: body)
      #expect(answer.status == 401 && answer.code == "AUTHENTICATION_FAILED", "\(answer.text)")
    }
  }

  /// Proves S2, WS-33, WS-34, WS-35, WS-37.
  @Test("Seven operations use tags, merge, clear and force; failed items are in a 200 answer")
  func recordOperationsReportFailuresPerItem() async throws {
    try await run { world in
      let first = try await modify(
        world, [operation("create", "n", #""a":{"value":1},"b":{"value":2}"#)])
      let old = try #require(first["records"]?.array?.first?["recordChangeTag"]?.string)
      #expect(codes(try await modify(world, [operation("create", "n")])) == ["CONFLICT"])
      func fields(_ answer: JSON) -> [String] {
        let fields = answer["records"]?.array?.first?["fields"]
        return ["a", "b", "c"].filter { fields?[$0] != nil }
      }
      let update = try await modify(
        world, [operation("update", "n", tag: old, #""c":{"value":3}"#)])
      #expect(codes(update) == ["ok"] && fields(update) == ["a", "b", "c"], "an update merges")
      let tag = try #require(update["records"]?.array?.first?["recordChangeTag"]?.string)
      for type in ["update", "replace", "delete"] {
        let stale = try await modify(world, [operation(type, "n", tag: old)])
        #expect(codes(stale) == ["CONFLICT"], "\(type)")
        #expect(stale["records"]?.array?.first?["recordName"]?.string == "n")
      }
      let replaced = try await modify(
        world, [operation("replace", "n", tag: tag, #""a":{"value":9}"#)])
      #expect(codes(replaced) == ["ok"] && fields(replaced) == ["a"], "a replacement clears")
      let forced = try await modify(
        world,
        [
          operation("forceUpdate", "n", #""b":{"value":1}"#),
          operation("forceUpdate", "new1"), operation("forceReplace", "new2"),
        ])
      #expect(codes(forced) == ["ok", "ok", "ok"] && fields(forced) == ["a", "b"])
      let last = try await modify(
        world, [operation("forceDelete", "n"), operation("forceDelete", "never")])
      #expect(codes(last) == ["ok", "ok"])
      #expect(last["records"]?.array?.first?["deleted"] == .bool(true))
    }
  }

  /// Proves WS-39, WS-40.
  @Test("A failed atomic batch writes nothing: failing items have their codes, others ATOMIC_ERROR")
  func failedAtomicBatchWritesNothing() async throws {
    try await run { world in
      _ = try await modify(world, [operation("create", "a")])
      let batch = [operation("create", "a"), operation("create", "b")]
      for extra in ["", #","atomic":true"#] {
        #expect(codes(try await modify(world, batch, extra)) == ["CONFLICT", "ATOMIC_ERROR"])
      }
      let missing = try await ask(
        world, .recordsLookup, #"{\#(ServiceRuleTests.zone),"records":[{"recordName":"b"}]}"#)
      #expect(codes(missing) == ["NOT_FOUND"])
      #expect(codes(try await modify(world, batch)) == ["CONFLICT", "ok"])
    }
  }

  /// Proves WS-194.
  @Test("An atomic request for the default zone is refused; otherwise its changes are separate")
  func atomicRequestForDefaultZoneIsRefused() async throws {
    try await run { world in
      let batch = operation("create", "a") + "," + operation("update", "b", tag: "1")
      for database in [DatabaseScope.private, .public] {
        let query = try world.query("bob")
        func answer(_ extra: String) async throws -> TestClient.Answer {
          try await world.post(
            .recordsModify, database, query: query, #"{"operations":[\#(batch)]\#(extra)}"#)
        }
        let refused = try await answer(#","atomic":true"#)
        #expect(refused.status == 400 && refused.text.contains("default zone"), "\(refused.text)")
        let single = try await answer("")
        #expect(single.status == 200 && single.text.contains("NOT_FOUND"), "\(single.text)")
        let again = try await answer(#","atomic":false"#)
        #expect(again.text.contains("CONFLICT"), "the record of the second request is there")
      }
    }
  }

  /// Proves WS-42.
  @Test("Several zones in one request are separate batches")
  func zonesInRequestAreSeparateBatches() async throws {
    try await run { world in
      _ = try await modify(world, [operation("create", "a")])
      let batch = [
        operation("create", "a"), operation("create", "b"),
        operation("create", "c", zone: "Other"),
      ]
      #expect(codes(try await modify(world, batch, "")) == ["CONFLICT", "ATOMIC_ERROR", "ok"])
    }
  }

  /// Proves WS-87, WS-88.
  @Test(
    "A foreign client sends at most 200 items a request, this package's up to the server limit")
  func foreignClientsSendAtMost200Items() async throws {
    try await run { world in
      let most = world.server.limits.itemsPerRequest
      #expect(most > 200)
      let zone = ServiceRuleTests.zone
      let lists: [(Endpoint, String, (Int) -> String)] = [
        (.recordsModify, "operations", { operation("forceUpdate", "r\($0)") }),
        (.recordsLookup, "records", { #"{"recordName":"r\#($0)"}"# }),
        (.zonesLookup, "zones", { #"{"zoneName":"z\#($0)"}"# }),
        (
          .zonesModify, "operations",
          { #"{"operationType":"delete","zone":{"zoneID":{"zoneName":"z\#($0)"}}}"# }
        ),
        (.subscriptionsLookup, "subscriptions", { #"{"subscriptionID":"s\#($0)"}"# }),
        (
          .subscriptionsModify, "operations",
          { #"{"operationType":"delete","subscription":{"subscriptionID":"s\#($0)"}}"# }
        ),
        (.usersLookupID, "users", { #"{"userRecordName":"u\#($0)"}"# }),
        (.usersDiscover, "lookupInfos", { #"{"userRecordName":"u\#($0)"}"# }),
        (.recordsResolve, "shortGUIDs", { #"{"value":"g\#($0)"}"# }),
        (.recordsAccept, "shortGUIDs", { #"{"value":"g\#($0)"}"# }),
      ]
      for (endpoint, list, item) in lists {
        for (fields, limit) in [([], 200), (["cloudsync: 1"], most)] {
          for count in [limit, limit + 1] {
            let items = (0..<count).map(item).joined(separator: ",")
            let answer = try await world.post(
              endpoint, query: try world.query("bob"), #"{\#(zone),"\#(list)":[\#(items)]}"#,
              fields: fields)
            #expect(answer.status == (count == limit ? 200 : 400), "\(endpoint) \(count)")
            if count > limit { #expect(answer.code == "BAD_REQUEST", "\(endpoint) \(count)") }
          }
        }
      }
    }
  }

  /// Proves WS-59, WS-60, WS-62.
  @Test("Tokens work again and in any order, and an invalid one is its zone's error in a 200")
  func tokensWorkAgainInAnyOrder() async throws {
    try await run { world in
      func page(_ token: String?, limit: Int = 200) async throws -> JSON? {
        let since = token.map { #","syncToken":"\#($0)""# } ?? ""
        let answer = try await ask(
          world, .changesZone,
          #"{"zones":[{\#(ServiceRuleTests.zone),"resultsLimit":\#(limit)\#(since)}]}"#)
        return answer["zones"]?.array?.first
      }
      func names(_ page: JSON?) -> [String] {
        (page?["records"]?.array ?? []).compactMap { $0["recordName"]?.string }
      }
      let names = names
      _ = try await modify(world, ["a", "b", "c"].map { operation("create", $0) })
      let first = try await page(nil, limit: 2)
      let token = try #require(first?["syncToken"]?.string)
      let end = try #require(try await page(token)?["syncToken"]?.string)
      for _ in 0..<2 {
        #expect(names(try await page(end)) == [])
        #expect(names(try await page(token)) == ["c"])
        #expect(names(try await page(token, limit: 1)) == ["c"])
        #expect(try await page(end)?["syncToken"]?.string == end, "at the end it stays the same")
      }
      let database = try await ask(world, .changesDatabase, "{}")["syncToken"]?.string
      for bad in ["bm9uc2Vuc2U=", "", String(token.dropLast(8)), try #require(database)] {
        let zone = try await page(bad)
        #expect(zone?["serverErrorCode"]?.string == "BAD_REQUEST", "\(bad)")
        #expect(zone?["reason"]?.string == "Unknown sync continuation type", "\(bad)")
      }
    }
  }

  /// Proves WS-172.
  @Test("A response with many bytes of changes gives no record of a further zone")
  func changesOfManyZonesAreBounded() async throws {
    try await run { world in
      let third = #"{"operationType":"create","zone":{"zoneID":{"zoneName":"Third"}}}"#
      _ = try await ask(world, .zonesModify, #"{"operations":[\#(third)]}"#)
      let text = String(repeating: "x", count: 900_000)
      for (zone, count) in [("Notes", 5), ("Other", 5), ("Third", 2)] {
        for number in 0..<count {
          let fields = zone == "Third" ? "" : #""text":{"value":"\#(text)"}"#
          let record = operation("create", "\(zone) \(number)", fields, zone: zone)
          let answer = try await ask(
            world, .recordsModify,
            #"{"zoneID":{"zoneName":"\#(zone)"},"operations":[\#(record)]}"#)
          #expect(codes(answer) == ["ok"])
        }
      }
      var tokens: [String: String] = [:]
      var seen: [[Int]] = []
      for _ in 0..<2 {
        let zones = ["Notes", "Other", "Third"].map { zone in
          let token = tokens[zone].map { #","syncToken":"\#($0)""# } ?? ""
          return #"{"zoneID":{"zoneName":"\#(zone)"}\#(token)}"#
        }
        let answer = try await ask(
          world, .changesZone, #"{"zones":[\#(zones.joined(separator: ","))]}"#)
        let pages = answer["zones"]?.array ?? []
        for page in pages {
          guard let zone = page["zoneID"]?["zoneName"]?.string else { continue }
          tokens[zone] = page["syncToken"]?.string
        }
        seen.append(pages.map { $0["records"]?.array?.count ?? 0 })
        #expect(pages.last?["moreComing"] == .bool(seen.count == 1))
      }
      #expect(seen == [[5, 5, 0], [0, 0, 2]])
    }
  }

  /// Proves S4, WS-70, WS-71, WS-114.
  @Test("A push token comes with a web courier URL, which returns one push in its format")
  func pushTokenComesWithPollingAddress() async throws {
    try await run { world in
      let made = try await ask(
        world, .tokensCreate, #"{"apnsEnvironment":"development","clientId":"c"}"#)
      #expect(made["apnsEnvironment"]?.string == "development")
      #expect(made["apnsToken"]?.string?.isEmpty == false)
      let url = try #require(made["webcourierURL"]?.string)
      let subscription =
        #"{"subscriptionID":"s","subscriptionType":"zone",\#(ServiceRuleTests.zone)}"#
      let saved = try await ask(
        world, .subscriptionsModify,
        #"{"operations":[{"operationType":"create","subscription":\#(subscription)}]}"#)
      #expect(codes(saved, "subscriptions") == ["ok"])
      // Another device of bob's writes; what happened waits in the box until it is asked for.
      let phone = world.server.device("phone", signedInAs: "bob")
      let save = RecordSave(
        id: RecordID(name: "n", zone: ZoneID(name: "Notes")), type: "Note", changes: [])
      let call = CloudCall(
        container: AccessWorld.container, database: .private, requestID: "1",
        request: .modifyRecords(ModifyRecords(save: [save])))
      _ = try await phone.send(call)
      let answer = try await world.ask("GET", String(url.dropFirst(world.web.url.count)))
      let push = try JSON(parsing: answer.body)
      #expect(push["ck"]?["cid"]?.string == AccessWorld.container, "\(answer.text)")
      #expect(push["ck"]?["fet"]?["zid"]?.string == "Notes")
      #expect(push["ck"]?["fet"]?["sid"]?.string == "s")
      #expect(!answer.text.contains(Notation.extra), "\(answer.text)")
    }
  }

  /// Proves WS-80, WS-81.
  @Test(
    "A link is resolved and accepted on the public path, and the zone has its owner's name")
  func shareLinkIsAcceptedOnPublicPath() async throws {
    try await run { world in
      let made = try await ask(
        world, .recordsModify,
        #"""
        {\#(ServiceRuleTests.zone),"operations":[
        {"operationType":"create","record":{"recordName":"r","recordType":"Note",
        "createShortGUID":true}},
        {"operationType":"create","record":{"recordName":"s","recordType":"cloudkit.share",
        "publicPermission":"READ_WRITE","participants":[],"forRecord":{"recordName":"r"}}}]}
        """#)
      let name = try #require(made["records"]?.array?.last?["shortGUID"]?.string)
      let body = #"{"shortGUIDs":[{"value":"\#(name)"},{"value":"0nothing"}]}"#
      for endpoint in [Endpoint.recordsResolve, .recordsAccept] {
        let answer = try await ask(world, endpoint, body, in: .public, as: "carol")
        #expect(codes(answer, "results") == ["ok", "NOT_FOUND"], "\(endpoint) \(answer.text)")
        #expect(answer["results"]?.array?.first?["rootRecordName"]?.string == "r")
      }
      let zones = try await ask(world, .zonesList, "{}", in: .shared, as: "carol")
      let owner = zones["zones"]?.array?.first?["zoneID"]?["ownerRecordName"]?.string
      #expect(owner == (try world.server.user(of: "bob").rawValue))
    }
  }

  /// Proves WS-83, WS-85.
  @Test("A file is uploaded in three steps, downloaded by its URL and can be used again")
  func fileUploadsInThreeSteps() async throws {
    try await run { world in
      let tokens = try await ask(
        world, .assetsUpload,
        #"{\#(ServiceRuleTests.zone),"tokens":["#
          + #"{"recordName":"p","recordType":"Photo","fieldName":"f"}]}"#
      )
      let url = try #require(tokens["tokens"]?.array?.first?["url"]?.string)
      let brought = try await world.ask(
        "POST", String(url.dropFirst(world.web.url.count)), body: Array("pixels".utf8))
      let file = try #require(try JSON(parsing: brought.body)["singleFile"])
      #expect(file["size"]?.integer == 6 && file["receipt"] != nil && file["fileChecksum"] != nil)
      func save(_ name: String, _ value: JSON) async throws -> JSON {
        try await ask(
          world, .recordsModify,
          #"""
          {\#(ServiceRuleTests.zone),"operations":[{"operationType":"create","record":{
          "recordName":"\#(name)","recordType":"Photo",
          "fields":{"f":{"type":"ASSETID","value":\#(value.text)}}}}]}
          """#)
      }
      #expect(codes(try await save("p", file)) == ["ok"])
      let again = try await ask(
        world, .assetsRereference,
        #"{\#(ServiceRuleTests.zone),"assets":[{"recordName":"p","fieldName":"f"}]}"#)
      let copy = try #require(again["assets"]?.array?.first)
      #expect(codes(try await save("q", copy)) == ["ok"])
      let read = try await ask(
        world, .recordsLookup, #"{\#(ServiceRuleTests.zone),"records":[{"recordName":"q"}]}"#)
      let value = read["records"]?.array?.first?["fields"]?["f"]?["value"]
      let address = try #require(value?["downloadURL"]?.string)
      #expect(value?["receipt"] == nil, "what is read can't be saved elsewhere as it is")
      let found = try await world.ask("GET", String(address.dropFirst(world.web.url.count)))
      #expect(found.text == "pixels")
    }
  }
}
