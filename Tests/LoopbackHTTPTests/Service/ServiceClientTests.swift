import CloudProtocol
import LoopbackServer
import Records
import Testing
import WebServices

@testable import LoopbackHTTP

/// What other clients than this package's send: malformed items, no device, fields for each item.
@Suite("Other clients of CloudKit Web Services, in their own words")
struct ServiceClientTests {
  private let rules = ServiceRuleTests()

  /// Proves WS-190.
  @Test(
    "A malformed operation fails alone if the request is not atomic; a refusal names the record")
  func malformedOperationFailsAlone() async throws {
    try await rules.run { world in
      let fraction = #""t":{"value":1.5,"type":"TIMESTAMP"}"#
      let bad = [
        rules.operation("create", "bad", fraction), rules.operation("update", "bad"),
        rules.operation("replace", "bad"), rules.operation("create", "bad", #""t":{"value":true}"#),
        rules.operation("delete", "bad"), rules.operation("drop", "bad"),
      ]
      let text = rules.operation("create", "ok", #""t":{"value":"x"}"#)
      let answer = try await rules.modify(
        world, [text] + bad + [rules.operation("forceUpdate", "last")])
      let refused = Array(repeating: "BAD_REQUEST", count: bad.count)
      #expect(rules.codes(answer) == ["ok"] + refused + ["ok"], "\(answer.text)")
      let names = (answer["records"]?.array ?? []).map { $0["recordName"]?.string }
      #expect(names == ["ok"] + bad.map { _ in "bad" } + ["last"])
      let reason = answer["records"]?.array?[1]["reason"]?.string
      #expect(reason == "Invalid value, expected type TIMESTAMP. Field 't'.")
      for each in bad {
        let other = rules.operation("create", "no")
        let body = #"{\#(ServiceRuleTests.zone),"operations":[\#(other),\#(each)]}"#
        let whole = try await world.post(.recordsModify, query: try world.query("bob"), body)
        #expect(whole.status == 400 && whole.code == "BAD_REQUEST", "\(whole.text)")
        #expect(whole.text.contains("Record 'bad'."), "\(whole.text)")
      }
      let missing = try await rules.ask(
        world, .recordsLookup, #"{\#(ServiceRuleTests.zone),"records":[{"recordName":"no"}]}"#)
      #expect(rules.codes(missing) == ["NOT_FOUND"])
    }
  }

  /// Proves WS-29.
  @Test("The desired keys of an operation override those of the request")
  func operationsHaveTheirOwnDesiredKeys() async throws {
    try await rules.run { world in
      func save(_ name: String, _ keys: String) -> String {
        let fields = #""a":{"value":1},"b":{"value":2}"#
        return #"{"operationType":"forceUpdate"\#(keys),"record":{"recordName":"\#(name)","#
          + #""recordType":"Note","fields":{\#(fields)}}}"#
      }
      let own = [
        save("1", #","desiredKeys":["b"]"#), save("2", #","desiredKeys":[]"#),
        save("3", #","desiredKeys":null"#), save("4", ""),
      ]
      let common = #","desiredKeys":["a"]"#
      let rows: [(operations: [String], extra: String, keys: [[String]])] = [
        (own, common, [["b"], [], ["a", "b"], ["a"]]),
        (own, "", [["b"], [], ["a", "b"], ["a", "b"]]),
        ([own[0], save("5", #","desiredKeys":["b"]"#)], common, [["b"], ["b"]]),
        ([own[1]], common, [[]]),
      ]
      for row in rows {
        let answer = try await rules.modify(world, row.operations, row.extra)
        let keys = (answer["records"]?.array ?? []).map { record in
          (record["fields"]?.members?.elements ?? []).map(\.name)
        }
        #expect(keys == row.keys, "\(answer.text)")
      }
      let wrong = save("1", #","desiredKeys":"b""#)
      #expect(rules.codes(try await rules.modify(world, [wrong])) == ["BAD_REQUEST"])
    }
  }

  /// Proves WS-191.
  @Test("Clients without a client ID are devices of their own, and get the pushes for each other")
  func clientsWithoutIDGetPushesOfEachOther() async throws {
    try await rules.run { world in
      let zones = ["Notes", "Other"].map {
        #"{"operationType":"create","subscription":{"subscriptionID":"\#($0)","#
          + #""subscriptionType":"zone","zoneID":{"zoneName":"\#($0)"}}}"#
      }
      _ = try await rules.ask(
        world, .subscriptionsModify, #"{"operations":[\#(zones.joined(separator: ","))]}"#)
      var paths: [String] = []
      for _ in 0..<2 {
        let made = try await rules.ask(world, .tokensCreate, #"{"apnsEnvironment":"production"}"#)
        paths.append(try world.path(of: made["webcourierURL"]?.string))
      }
      try #require(Set(paths).count == 2)
      _ = try await rules.modify(world, [rules.operation("create", "n")])
      // Of a change without the mend there is no push; this one comes to all.
      let other =
        #"{"zoneID":{"zoneName":"Other"},"operations":[\#(rules.operation("create", "o"))]}"#
      let query = try world.query("bob") + "&clientId=other"
      #expect(try await world.post(.recordsModify, query: query, other).status == 200)
      for path in paths {
        for zone in ["Notes", "Other"] {
          let push = try await world.ask("GET", path)
          let name = try JSON(parsing: push.body)["ck"]?["fet"]?["zid"]?.string
          #expect(name == zone, "\(push.text)")
          if name != zone { break }
        }
      }
    }
  }

  @Test("The name of a device has 1 to 255 bytes")
  func namesOfDevicesAreBounded() async throws {
    try await rules.run { world in
      for (count, status) in [(1, 200), (255, 200), (256, 400)] {
        let name = String(repeating: "d", count: count)
        let query = try world.query("bob") + "&clientId=" + name
        let answer = try await world.post(.changesDatabase, query: query, "{}")
        #expect(answer.status == status, "\(count): \(answer.text)")
      }
    }
  }

  @Test("The ID of a request has 1 to 255 bytes, also of one that changes nothing")
  func idsOfRequestsAreBounded() async throws {
    try await rules.run { world in
      for (count, status) in [(1, 200), (255, 200), (256, 400)] {
        let answer = try await world.post(
          .changesDatabase, query: try world.query("bob"), "{}",
          fields: ["cloudsync-request: " + String(repeating: "r", count: count)])
        #expect(answer.status == status, "\(count): \(answer.text)")
      }
    }
  }

  @Test("The seconds to wait are rounded up, so that no client asks too early")
  func secondsToWaitAreRoundedUp() async throws {
    try await rules.run { world in
      for (seconds, text) in [
        (0, "0"), (0.5, "1"), (1, "1"), (30.01, "31"), (999_999_999, "999999999"), (1e9, nil),
      ] as [(Double, String?)] {
        world.server.controls.fail(with: .requestRateLimited, retryAfter: seconds)
        let answer = try await world.post(.changesDatabase, query: try world.query("bob"), "{}")
        #expect(answer.values("retry-after") == [text].compactMap(\.self), "\(answer.whole)")
      }
    }
  }

  /// Proves WS-70.
  @Test("A push token needs an environment, and its registration also a token")
  func pushTokensNeedEnvironment() async throws {
    try await rules.run { world in
      let rows: [(Endpoint, String, String?)] = [
        (.tokensCreate, "{}", "'apnsEnvironment'"),
        (.tokensCreate, #"{"apnsEnvironment":"bogus"}"#, "development, production"),
        (.tokensCreate, #"{"apnsEnvironment":1}"#, "'apnsEnvironment'"),
        (.tokensCreate, #"{"apnsEnvironment":"development","clientId":""}"#, "'clientId'"),
        (.tokensCreate, #"{"apnsEnvironment":"production"}"#, nil),
        (.tokensRegister, #"{"apnsEnvironment":"production"}"#, "'apnsToken'"),
        (.tokensRegister, #"{"apnsToken":"00"}"#, "'apnsEnvironment'"),
        (.tokensRegister, #"{"apnsEnvironment":"development","apnsToken":"00"}"#, nil),
      ]
      for (endpoint, body, reason) in rows {
        let answer = try await world.post(endpoint, query: try world.query("bob"), body)
        #expect(answer.status == (reason == nil ? 200 : 400), "\(body): \(answer.text)")
        #expect(answer.text.contains(reason ?? ""), "\(body): \(answer.text)")
      }
    }
  }

  /// Proves WS-15.
  @Test("Every answer with zones has their tokens, and whether they are atomic")
  func zonesHaveTokensInEveryAnswer() async throws {
    try await rules.run { world in
      let create = #"{"operationType":"create","zone":{"zoneID":{"zoneName":"New"}}}"#
      let gone = #"{"operationType":"delete","zone":{"zoneID":{"zoneName":"Other"}}}"#
      func token(_ answer: JSON, _ name: String) -> String? {
        let zone = answer["zones"]?.array?.first { $0["zoneID"]?["zoneName"]?.string == name }
        return zone?["atomic"] == .bool(true) ? zone?["syncToken"]?.string : nil
      }
      let made = try await rules.ask(world, .zonesModify, #"{"operations":[\#(create),\#(gone)]}"#)
      let found = try await rules.ask(world, .zonesLookup, #"{"zones":[{"zoneName":"New"}]}"#)
      let new = try #require(token(found, "New"))
      #expect(token(made, "New") == new, "\(made.text)")
      for endpoint in [Endpoint.changesDatabase, .zonesChanges] {
        let answer = try await rules.ask(world, endpoint, "{}")
        #expect(token(answer, "New") == new && token(answer, "Notes") != nil, "\(answer.text)")
      }
    }
  }

  /// Proves WS-44.
  @Test("A refused deletion names the field and the record that validate the reference")
  func refusedDeletionNamesValidatingReference() async throws {
    try await rules.run { world in
      let value = #""v":{"value":{"recordName":"target","action":"VALIDATE"},"type":"REFERENCE"}"#
      for isAtomic in [false, true] {
        _ = try await rules.modify(
          world,
          [
            rules.operation("forceUpdate", "target"),
            rules.operation("forceUpdate", "pointer", value),
          ])
        let answer = try await rules.modify(
          world, [rules.operation("forceDelete", "target")], #","atomic":\#(isAtomic)"#)
        let item = answer["records"]?.array?.first
        #expect(rules.codes(answer) == ["VALIDATING_REFERENCE_ERROR"])
        #expect(
          item?["reason"]?.string
            == "Field=v, recordID=pointer, title=Record delete would violate validating reference, "
            + "rejecting update", "\(answer.text)")
      }
    }
  }

  /// Proves WS-27.
  @Test("An unknown receipt of an upload is a bad request, which no client repeats as it is")
  func unknownReceiptIsBadRequest() async throws {
    try await rules.run { world in
      let file = #"{"fileChecksum":"x","size":5,"receipt":"nope"}"#
      let answer = try await rules.modify(
        world, [rules.operation("create", "n", #""f":{"value":\#(file),"type":"ASSETID"}"#)])
      #expect(rules.codes(answer) == ["BAD_REQUEST"], "\(answer.text)")
      #expect(answer.text.contains("upload the file again"))
    }
  }

  /// Proves WS-14.
  @Test("An error in the shared database has the user record name of the requester's zones")
  func sharedErrorsHaveUserRecordNames() async throws {
    try await rules.run { world in
      let body = #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"X"}}}]}"#
      let answer = try await rules.ask(world, .zonesModify, body, in: .shared, as: "carol")
      let zone = answer["zones"]?.array?.first
      #expect(zone?["serverErrorCode"]?.string == "BAD_REQUEST", "\(answer.text)")
      #expect(
        zone?["zoneID"]?["ownerRecordName"]?.string == (try world.server.user(of: "carol").rawValue)
      )
    }
  }
}
