import CloudProtocol
import LoopbackServer
import Records
import Testing
import WebServices

@testable import LoopbackHTTP

@Suite("Control interface: what the server holds")
struct ControlInspectionTests {
  /// A target below the prefix and what its answer must hold, piece by piece.
  private static let answers: [(target: String, status: Int, pieces: [String])] = [
    (
      "status", 200,
      [
        #""name":"swift-cloud-sync""#, #""faultControl":true"#, #""accounts":1"#,
        #""devices":2"#, #""openRequests":0"#, #""databases":1"#,
      ]
    ),
    ("accounts", 200, [#"{"accounts":[{"account":"alice","userRecordName":"_"#]),
    (
      "databases", 200,
      [#"{"container":"c","environment":"development","scope":"private","account":"alice""#]
    ),
    (
      "zones?container=c&account=alice", 200,
      [#"{"zones":[{"zoneID":{"zoneName":"notes""#, #""deletedZones":[]}"#]
    ),
    ("zones?container=c", 200, [#"{"zones":[],"deletedZones":[]}"#]),
    ("zones?container=c&account=%61lice&environment=production", 200, [#""zones":[]"#]),
    (
      "records?container=c&account=alice&zone=notes", 200,
      [
        #""recordName":"a""#, #""count":2"#, #""newest":"z""#,
        #""value":1152921504606846976,"type":"INT64""#, #"script>alert(1)"#,
        #""recordName":"z""#,
      ]
    ),
    (
      "records?container=c&account=alice&zone=notes&limit=1", 200,
      [#""recordName":"a""#, #""count":2,"next":"a","newest":"z"}"#]
    ),
    (
      "records?container=c&account=alice&zone=notes&after=a", 200,
      [#"{"records":[{"recordName":"z""#, #""count":2,"newest":"z"}"#]
    ),
    (
      "records?container=c&account=alice&zone=notes&record=z", 200,
      [#"{"records":[{"recordName":"z""#, #""count":2,"newest":"z"}"#]
    ),
    (
      "schema?container=c", 200,
      [
        #"{"recordTypes":[{"recordType":"Note","fields":["#, #""kind":"int64""#,
        #""queryable":true,"sortable":true,"searchable":true}"#, #""isClosed":false}"#,
      ]
    ),
    ("schema?container=c&environment=production", 200, [#"{"recordTypes":[],"isClosed":false}"#]),
    ("schema", 400, ["'container' is missing"]),
    (
      "records?container=c&account=alice&zone=notes&numbersAsStrings=true", 200,
      [#""value":"1152921504606846976","type":"INT64""#]
    ),
    (
      "changes?container=c&account=alice&zone=notes&latest=1", 200,
      [#"{"changes":[{"sequence":5,"recordName":"z","recordType":"Note""#]
    ),
    ("records?container=c&account=alice&zone=none", 200, [#"{"records":[],"count":0}"#]),
    (
      "changes?container=c&account=alice&zone=notes", 200,
      [
        #""recordName":"a","recordType":"Note""#, #""recordName":"b","recordType":"Note""#,
        #""device":"phone","deleted":true"#, #""recordName":"z""#,
      ]
    ),
    (
      "changes?container=c&account=alice&zone=notes&after=18446744073709551615", 200,
      [#"{"changes":[],"next":9223372036854775807}"#]
    ),
    (
      "subscriptions?container=c&account=alice", 200,
      [#"{"subscriptionID":"all","subscriptionType":"database""#]
    ),
    ("subscriptions?container=c&account=alice&scope=shared", 200, [#"{"subscriptions":[]}"#]),
    (
      "devices", 200,
      [
        #"{"name":"phone","account":"alice","availability":"available","online":true,"#
          + #""listening":false,"waitingPushes":0}"#, #"{"name":"tablet""#,
      ]
    ),
    (
      "requests", 200,
      [
        #"{"requests":[{"number":1,"#, #""kind":"modifyZones","itemCount":1,"requestID":"1""#,
        #""outcome":"answered"}"#, #""next":6}"#,
      ]
    ),
    ("requests?after=5", 200, [#"{"requests":[{"number":6,"#, #""next":6}"#]),
    ("requests?limit=2", 200, [#""number":2,"#, #""requestID":"2""#, #""next":2}"#]),
    ("requests?after=1&limit=1", 200, [#"{"requests":[{"number":2,"#, #""next":2}"#]),
    ("requests?after=9", 200, [#"{"requests":[],"next":9}"#]),
    ("events", 200, [#"{"events":[{"number":1,"time":978308200000,"kind":"request""#]),
    ("faults", 200, [#"{"faults":[],"heldRequests":[],"holdsPushes":false,"heldPushes":[]"#]),
  ]

  /// A target that is refused, and what the reason must say.
  private static let refusals: [(target: String, status: Int, piece: String)] = [
    ("", 404, "no endpoint"), ("nothing", 404, "no endpoint"),
    ("status/", 404, "no endpoint"), ("Status", 404, "no endpoint"),
    ("stat%75s", 404, "no endpoint"), ("sign-in", 405, "POST"),
    ("status?x=1", 400, "takes no parameters"), ("accounts?a=", 400, "takes no parameters"),
    ("databases?a=1", 400, "takes no parameters"), ("devices?a=1", 400, "takes no parameters"),
    ("faults?a=1", 400, "takes no parameters"),
    ("zones", 400, "'container' is missing"), ("zones?container=", 400, "'container' is missing"),
    ("zones?container", 400, "an equals sign"), ("zones?container=c&", 400, "an equals sign"),
    ("zones?container=c&container=c", 400, "occurs twice"),
    ("zones?container=c&zone=a", 400, "parameters: account, container, environment"),
    ("zones?container=%FF", 400, "percent-encoded UTF-8"), ("zones?container=%C0%AF", 400, "UTF-8"),
    ("zones?container=%4", 400, "UTF-8"), ("zones?container=%zz", 400, "UTF-8"),
    ("zones?container=c&environment=test", 400, "development, production"),
    ("zones?container=c&account=nobody", 404, "nobody"),
    ("zones?container=c&account=", 404, "account"),
    ("records?container=c&account=alice", 400, "'zone' is missing"),
    ("records?container=c&zone=a&limit=0", 400, "from 1 to 10000"),
    ("records?container=c&zone=a&limit=10001", 400, "from 1 to 10000"),
    ("records?container=c&zone=a&limit=+1", 400, "from 1 to 10000"),
    ("records?container=c&zone=a&limit=", 400, "from 1 to 10000"),
    ("changes?container=c&zone=a&after=-1", 400, "'after' must be"),
    ("changes?container=c&zone=a&after=18446744073709551616", 400, "'after' must be"),
    ("changes?container=c&zone=a&latest=0", 400, "from 1 to 10000"),
    ("records?container=c&zone=a&numbersAsStrings=1", 400, "true or false"),
    ("subscriptions?container=c", 400, "'account' is missing"),
    ("subscriptions?container=c&account=alice&scope=mine", 400, "public, private, shared"),
    ("events?wait=26", 400, "from 0 to 25"), ("events?after=x", 400, "'after' must be"),
    ("events?after=9999999999999999999", 400, "'after' must be"),
    ("requests?after=1&wait=1", 400, "parameters: after, limit"),
  ]

  /// Proves S8.
  @Test("Every route answers with the current contents")
  func controlRoutesAnswerWithContents() async throws {
    let world = ControlWorld()
    try await world.prepare()
    try await world.save("z", ["text": .string("last")])
    for (target, status, pieces) in Self.answers {
      let answer = await world.get(target)
      #expect(answer.hasPrefix("\(status) "), "\(target): \(answer)")
      for piece in pieces where !answer.contains(piece) {
        Issue.record("\(target) lacks \(piece): \(answer)")
      }
    }
    world.server.close()
    #expect(await world.get("accounts").hasPrefix("503 "))
  }

  @Test("A request that is not understood is refused with a reason")
  func invalidControlRequestIsExplained() async throws {
    let world = ControlWorld()
    try await world.prepare()
    for (target, status, piece) in Self.refusals {
      let answer = await world.get(target)
      #expect(answer.hasPrefix("\(status) ") && answer.contains(piece), "\(target): \(answer)")
    }
  }

  @Test(
    "Pages of the latest records hold every record once, however many a page has",
    arguments: 1...7)
  func pagesOfLatestRecordsAreComplete(limit: Int) async throws {
    let world = ControlWorld()
    try await world.prepare()
    let batch = ["x", "y", "w"].map {
      RecordSave(Record(id: world.recordID($0), type: "Note", fields: [:]))
    }
    try await world.send("batch", .modifyRecords(ModifyRecords(save: batch)))
    for name in ["c", "d"] { try await world.save(name, ["text": .string(name)]) }
    try await world.send("gone", .modifyRecords(ModifyRecords(delete: [world.recordID("c")])))
    let target = "records?container=c&account=alice&zone=notes&order=latest"
    var pages: [[String]] = []
    var next: String? = ""
    while let start = next, pages.count < 9 {
      let after = start.isEmpty ? "" : "&after=\(start)"
      let page = try JSON(
        parsing: Array(await world.get("\(target)&limit=\(limit)\(after)").dropFirst(4).utf8))
      #expect(page["count"]?.integer == 5)
      #expect(page["newest"]?.string == (start.isEmpty ? "d" : nil))
      pages.append(page["records"]?.array?.compactMap { $0["recordName"]?.string } ?? [])
      next = page["next"]?.string
    }
    let names = pages.flatMap(\.self)
    #expect(names.count == 5 && names.first == "d" && names.last == "a", "\(pages)")
    #expect(Set(names) == ["d", "x", "y", "w", "a"])
    #expect(await world.get("\(target)&record=x").contains(#"[{"recordName":"x""#))
    #expect(await world.get("\(target)&record=c") == #"200 {"records":[]}"#)
    #expect(await world.get("\(target)&after=x").hasPrefix("400 "))
    #expect(
      await world.get("records?container=c&account=alice&zone=none&order=latest")
        == #"200 {"records":[],"count":0}"#)
  }

  @Test("Without a limit a page has 200 records or changes, or 500 requests")
  func pagesHaveLimitsOfTheirOwn() async throws {
    let world = ControlWorld()
    try await world.prepare()
    for start in [0, 125] {
      let saves = (start..<(start + 125)).map {
        RecordSave(Record(id: world.recordID("r\($0)"), type: "Note", fields: [:]))
      }
      try await world.send("batch \(start)", .modifyRecords(ModifyRecords(save: saves)))
    }
    let place = "container=c&account=alice&zone=notes"
    for (target, list) in [
      ("records?\(place)", "records"), ("records?\(place)&order=latest", "records"),
      ("changes?\(place)", "changes"),
    ] {
      #expect(try await world.json(target)[list]?.array?.count == 200, "\(target)")
      let more = try await world.json("\(target)&limit=201")
      #expect(more[list]?.array?.count == 201, "\(target)")
    }
    for number in 0..<500 { try await world.send("user \(number)", .fetchCurrentUser) }
    let requests = try await world.json("requests")
    #expect(requests["requests"]?.array?.count == 500 && requests["next"] == .integer(500))
  }

  @Test("A large archive is sent from a file, byte for byte that of the server")
  func largeArchiveIsSentFromFile() async throws {
    let world = ControlWorld()
    try await world.prepare()
    for (text, isInMemory) in [("ä", true), (String(repeating: "ä", count: 50_000), false)] {
      for name in ["x", "y", "z"] {
        try await world.save("\(name)\(text.count)", ["text": .string(text)])
      }
      let response = await world.routes.answer(
        world.request("GET", "/cloudsync/1/export?secret=true"))
      #expect(response.status == 200)
      let content = try #require(response.file)
      #expect(content.isInMemory == isInMemory)
      #expect(try content.bytes() == Array(world.server.exportArchive()))
    }
  }

  @Test("A request with an unknown member is refused and changes nothing")
  func unknownMemberChangesNothing() async throws {
    let world = ControlWorld()
    try await world.prepare()
    let key =
      "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEYP7UuiVanTHJYet0xjVtaMBJuJI7Yfps5mliLmDyn7Z5"
      + "A/4QCLi8maQa6elWKLxk8vGyDC1+n1F3o8KU1EYimQ=="
    let pem = #"-----BEGIN PUBLIC KEY-----\n\#(key)\n-----END PUBLIC KEY-----"#
    let add = #""publicKey":"\#(pem)","name":"job""#
    let added = await world.answer(world.request("POST", "/cloudsync/1/keys", "{\(add)}"))
    #expect(added.hasPrefix("200 "))
    let keys = await world.answer(world.request("GET", "/cloudsync/1/keys"))
    let id = try #require(keys.firstMatch(of: /"keyID":"([^"]+)"/)?.1)
    let before = try world.server.exportArchive()
    for (path, body, known) in [
      (
        "keys", "{\(add.replacing("job", with: "other")),\"x\":1}",
        "takes 'name', 'publicKey', 'remove'"
      ),
      ("keys", #"{"remove":"\#(id)","x":1}"#, "takes 'remove'"),
      ("reset", #"{"x":1}"#, "has none"), ("stop", #"{"x":1}"#, "has none"),
    ] {
      #expect(
        await world.answer(world.request("POST", "/cloudsync/1/" + path, body))
          == #"400 {"reason":"the member 'x' is unknown; this request \#(known)"}"#)
    }
    #expect(try world.server.exportArchive() == before)
    #expect(await world.answer(world.request("GET", "/cloudsync/1/keys")) == keys)
  }

  @Test("Signing in creates the account and gives a token")
  func signInCreatesAccountAndToken() async throws {
    let world = ControlWorld()
    let user = try world.server.user(of: "bob").rawValue
    for (body, answer) in [
      (
        #"{"account":"bob"}"#,
        #"200 {"account":"bob","userRecordName":"\#(user)","webAuthToken":"token-of-bob"}"#
      ),
      (#"{"account":""}"#, #"400 {"reason":"'account' must be a non-empty string"}"#),
      (#"{"account":7}"#, #"400 {"reason":"'account' must be a non-empty string"}"#),
      (#"{}"#, #"400 {"reason":"'account' is missing: it must be a string"}"#),
      (#"[]"#, #"400 {"reason":"the body must be an object"}"#),
      (
        #"{"account":"eve","x":1}"#,
        #"400 {"reason":"the member 'x' is unknown; this request takes 'account'"}"#
      ),
      (
        #"{"account":"a\u0007"}"#,
        #"400 {"reason":"an account name needs 1 to 255 bytes and no control characters"}"#
      ),
    ] {
      let request = world.request("POST", "/cloudsync/1/sign-in", body)
      #expect(await world.answer(request) == answer)
    }
    #expect(try world.server.accounts().map(\.name) == ["bob"])
  }
}
