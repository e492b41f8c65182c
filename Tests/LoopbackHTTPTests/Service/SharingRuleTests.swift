import LoopbackServer
import Records
import Testing
import WebServices

@testable import LoopbackHTTP

/// Shares as clients of the service make, change, look at and join them.
///
/// Rules: WS-75 to WS-82.
@Suite("Sharing in the words of CloudKit Web Services")
struct SharingRuleTests {
  private static let zone = #""zoneID":{"zoneName":"Notes"}"#

  private func run(_ test: @escaping (AccessWorld) async throws -> Void) async throws {
    try await AccessWorld.run { world in
      _ = try await ask(
        world, .zonesModify,
        #"{"operations":[{"operationType":"create","zone":{\#(SharingRuleTests.zone)}}]}"#)
      try await test(world)
    }
  }

  private func ask(
    _ world: AccessWorld, _ endpoint: Endpoint, _ body: String,
    in database: DatabaseScope = .private, as account: String = "bob"
  ) async throws -> JSON {
    let answer = try await world.post(endpoint, database, query: try world.query(account), body)
    #expect(answer.status == 200, "\(endpoint): \(answer.text)")
    return try JSON(parsing: answer.body)
  }

  private func modify(
    _ world: AccessWorld, _ operations: String..., isAtomic: Bool = true
  ) async throws -> [JSON] {
    let answer = try await ask(
      world, .recordsModify,
      #"{\#(SharingRuleTests.zone),"atomic":\#(isAtomic),"#
        + #""operations":[\#(operations.joined(separator: ","))]}"#)
    return answer["records"]?.array ?? []
  }

  /// Shares a note `r` with everybody who has the link, which is returned, by the share `s`.
  private func shareForEverybody(_ world: AccessWorld) async throws -> String {
    let open = #","publicPermission":"READ_ONLY","participants":[]"#
    let made = try await modify(world, note("r"), share("s", of: #""r""#, "create", open))
    return try #require(made.last?["shortGUID"]?.string)
  }

  private func codes(_ items: [JSON]) -> [String] {
    items.map { $0["serverErrorCode"]?.string ?? "ok" }
  }

  private func note(_ name: String, _ more: String = "") -> String {
    #"{"operationType":"create","record":{"recordName":"\#(name)","recordType":"Note"\#(more)}}"#
  }

  private func share(
    _ name: String, of root: String?, _ type: String = "create",
    _ more: String = #","publicPermission":"NONE","participants":[]"#, tag: String? = nil
  ) -> String {
    let root = root.map { #","forRecord":{"recordName":\#($0)}"# } ?? ""
    let tag = tag.map { #","recordChangeTag":"\#($0)""# } ?? ""
    return #"{"operationType":"\#(type)","record":{"recordName":"\#(name)","#
      + #""recordType":"cloudkit.share"\#(root)\#(tag)\#(more)}}"#
  }

  /// Proves WS-116.
  @Test("A record saved earlier can be shared, by its version or as it is; a stale version can't")
  func aRecordSavedEarlierCanBeShared() async throws {
    try await run { world in
      let made = try await modify(world, note("r"), note("q"))
      let tag = try #require(made.first?["recordChangeTag"]?.string)
      let stale = #""r","recordChangeTag":"old""#
      #expect(codes(try await modify(world, share("s", of: stale))) == ["CONFLICT"])
      #expect(
        codes(try await modify(world, share("s", of: stale), isAtomic: false)) == ["CONFLICT"])
      for root in [#""nothing""#, #""nothing","recordChangeTag":"1""#] {
        #expect(codes(try await modify(world, share("s", of: root))) == ["NOT_FOUND"], "\(root)")
      }
      let good = try await modify(world, share("s", of: #""r","recordChangeTag":"\#(tag)""#))
      #expect(codes(good) == ["ok"] && good.first?["shortGUID"]?.string != nil)
      #expect(good.first?["forRecord"]?["recordName"]?.string == "r")
      #expect(codes(try await modify(world, share("t", of: #""q""#))) == ["ok"])
      let found = try await ask(
        world, .recordsLookup,
        #"{\#(SharingRuleTests.zone),"records":[{"recordName":"r"},{"recordName":"q"}]}"#)
      let shares = (found["records"]?.array ?? []).map { $0["share"]?["recordName"]?.string }
      #expect(shares == ["s", "t"])
    }
  }

  /// Proves WS-117.
  @Test("createShortGUID gives the name that the share will have; where none can be, it is refused")
  func createShortGUIDReturnsShareGUID() async throws {
    try await run { world in
      let made = try await modify(
        world, note("r", #","createShortGUID":true"#), note("q", #","createShortGUID":false"#))
      let name = try #require(made.first?["shortGUID"]?.string)
      #expect(codes(made) == ["ok", "ok"] && made.last?["shortGUID"] == nil)
      let early = try await ask(
        world, .recordsResolve, #"{"shortGUIDs":[{"value":"\#(name)"}]}"#, in: .public)
      #expect(codes(early["results"]?.array ?? []) == ["NOT_FOUND"], "there is no share yet")
      let shared = try await modify(world, share("s", of: #""r""#))
      #expect(shared.first?["shortGUID"]?.string == name)
      // A child is in the hierarchy of its parent's share, which is not its own.
      let parent = #","parent":{"recordName":"r"}"#
      let child = try await modify(world, note("c", parent + #","createShortGUID":true"#))
      let early2 = try #require(child.first?["shortGUID"]?.string)
      let again = try await modify(
        world,
        #"{"operationType":"forceUpdate","record":{"recordName":"c","recordType":"Note","#
          + #""createShortGUID":true}}"#)
      #expect(again.first?["shortGUID"]?.string == early2 && early2 != name)
      let body = #"{"operations":[\#(note("d", #","createShortGUID":true"#))]}"#
      for (scope, text) in [
        (DatabaseScope.private, body), (.public, body),
        (.private, body.replacing("true", with: "\"yes\"")),
      ] {
        let answer = try await world.post(
          .recordsModify, scope, query: try world.query("bob"), text)
        #expect(answer.status == 400 && answer.text.contains("createShortGUID"), "\(answer.text)")
      }
    }
  }

  /// Proves WS-118.
  @Test("A participant without an ID gets one, and an update lists all participants or none")
  func participantsGetIdentifiers() async throws {
    try await run { world in
      _ = try world.server.user(of: "carol")
      let carol = try world.server.user(of: "carol").rawValue
      let people =
        #","publicPermission":"NONE","participants":[{"userIdentity":"#
        + #"{"userRecordName":"\#(carol)"},"permission":"READ_WRITE"},{"userIdentity":"#
        + #"{"lookupInfo":{"emailAddress":"dan@example.com"}}}]"#
      let made = try await modify(world, note("r"), share("s", of: #""r""#, "create", people))
      #expect(codes(made) == ["ok", "ok"], "\(made)")
      func ids(_ share: JSON?) -> [String] {
        (share?["participants"]?.array ?? []).compactMap { $0["participantId"]?.string }
      }
      let given = ids(made.last)
      #expect(given.count == 3 && Set(given).count == 3 && !given.contains(""))
      let tag = made.last?["recordChangeTag"]?.string
      // The same people again, without their IDs and without the root: nothing is lost.
      let again = try await modify(world, share("s", of: nil, "update", people, tag: tag))
      #expect(codes(again) == ["ok"] && ids(again.last) == given, "\(again)")
      #expect(again.last?["forRecord"]?["recordName"]?.string == "r")
      let titled = try await modify(
        world,
        share(
          "s", of: nil, "update", #","fields":{"cloudkit.title":{"value":"Trip"}}"#,
          tag: again.last?["recordChangeTag"]?.string))
      #expect(codes(titled) == ["ok"] && ids(titled.last) == given, "a title leaves the people")
      // CloudKit's own clients name the root in each update.
      let retitled = try await modify(
        world,
        share(
          "s", of: #""r""#, "update", #","fields":{"cloudkit.title":{"value":"Trips"}}"#,
          tag: titled.last?["recordChangeTag"]?.string))
      #expect(codes(retitled) == ["ok"] && ids(retitled.last) == given, "\(retitled)")
      for half in [#","publicPermission":"READ_ONLY""#, #","participants":[]"#] {
        let operation = share(
          "s", of: nil, "update", half, tag: retitled.last?["recordChangeTag"]?.string)
        let answer = try await world.post(
          .recordsModify, query: try world.query("bob"),
          #"{\#(SharingRuleTests.zone),"operations":[\#(operation)]}"#)
        #expect(answer.status == 400 && answer.code == "BAD_REQUEST", "\(answer.text)")
      }
      let nameless = #","publicPermission":"NONE","participants":[{"permission":"READ_ONLY"}]"#
      let refused = try await modify(
        world, note("q"), share("t", of: #""q""#, "create", nameless))
      #expect(codes(refused) == ["ATOMIC_ERROR", "BAD_REQUEST"], "\(refused)")
    }
  }

  /// Proves WS-192.
  @Test("A share needs its tag also from operations that force, and a reader may not change it")
  func forcedShareNeedsTag() async throws {
    try await run { world in
      let link = try await shareForEverybody(world)
      _ = try await ask(
        world, .recordsAccept, #"{"shortGUIDs":[{"value":"\#(link)"}]}"#, in: .public, as: "carol")
      let owner = try world.server.user(of: "bob").rawValue
      let title = #","fields":{"cloudkit.title":{"value":"Trip"}}"#
      for type in ["forceUpdate", "forceReplace", "create"] {
        let operation = share("s", of: type == "create" ? #""r""# : nil, type, title)
        let refused = try await modify(world, operation)
        #expect(codes(refused) == ["CONFLICT"], "\(refused)")
        let reason = refused.first?["reason"]?.string ?? ""
        #expect(reason.contains("insert") == (type == "create"), "\(reason)")
        #expect(reason.contains("tag") == (type != "create"), "\(reason)")
        let answer = try await ask(
          world, .recordsModify,
          #"{"zoneID":{"zoneName":"Notes","ownerRecordName":"\#(owner)"},"#
            + #""operations":[\#(operation)]}"#, in: .shared, as: "carol")
        #expect(codes(answer["records"]?.array ?? []) == ["ACCESS_DENIED"], "\(answer.text)")
      }
      let found = try await ask(
        world, .recordsLookup, #"{\#(SharingRuleTests.zone),"records":[{"recordName":"s"}]}"#)
      let tag = found["records"]?.array?.first?["recordChangeTag"]?.string
      let titled = try await modify(world, share("s", of: nil, "forceUpdate", title, tag: tag))
      #expect(codes(titled) == ["ok"], "\(titled)")
    }
  }

  /// Proves WS-119, WS-195.
  @Test("Each link has a separate answer: an empty one is refused, and others have their own root")
  func shareLinksAreAnsweredSeparately() async throws {
    try await run { world in
      var names: [String] = []
      for root in ["r", "q"] {
        let open = #","publicPermission":"READ_ONLY","participants":[]"#
        let fields = #","fields":{"a":{"value":1},"b":{"value":2}}"#
        let made = try await modify(
          world, note(root, fields), share("s\(root)", of: "\"\(root)\"", "create", open))
        names.append(try #require(made.last?["shortGUID"]?.string))
      }
      let body =
        #"{"shortGUIDs":[{"value":""},{"value":"\#(names[0])","shouldFetchRootRecord":true,"#
        + #""rootRecordDesiredKeys":["a"]},{"value":"\#(names[1])"},{"value":"a/b#c"},"#
        + #"{"value":"\#(names[1])","shouldFetchRootRecord":true}]}"#
      for endpoint in [Endpoint.recordsResolve, .recordsAccept] {
        let answer = try await ask(world, endpoint, body, in: .public, as: "carol")
        let results = answer["results"]?.array ?? []
        #expect(codes(results) == ["BAD_REQUEST", "ok", "ok", "NOT_FOUND", "ok"], "\(answer.text)")
        let echoed = results.map { $0["shortGUID"]?["value"]?.string }
        #expect(echoed == ["", names[0], names[1], "a/b#c", names[1]], "\(endpoint)")
        for result in results where result["serverErrorCode"] == nil {
          for member in [
            "containerIdentifier", "environment", "databaseScope", "zoneID", "rootRecordName",
            "share", "ownerIdentity", "participantType", "participantStatus",
            "participantPermission",
          ] { #expect(result[member] != nil, "\(endpoint) \(member)") }
        }
        func keys(_ index: Int) -> [String]? {
          results[index]["rootRecord"]?["fields"]?.members?.elements.map(\.name)
        }
        #expect(keys(1) == ["a"] && keys(2) == nil && keys(4) == ["a", "b"], "\(answer.text)")
      }
    }
  }

  @Test("Shares are accepted also if their root records can't be read at that moment")
  func sharesAreAcceptedWithoutTheirRoots() async throws {
    try await run { world in
      let link = try await shareForEverybody(world)
      let body = #"{"shortGUIDs":[{"value":"\#(link)","shouldFetchRootRecord":true}]}"#
      world.server.controls.fail(
        next: 1, with: .serviceUnavailable, in: RequestScope(kind: .resolveShares))
      for hasRoot in [false, true] {
        let answer = try await ask(world, .recordsAccept, body, in: .public, as: "carol")
        let result = answer["results"]?.array?.first
        #expect(result?["participantStatus"]?.string == "ACCEPTED", "\(answer.text)")
        #expect((result?["rootRecord"] != nil) == hasRoot, "\(answer.text)")
      }
    }
  }
}
