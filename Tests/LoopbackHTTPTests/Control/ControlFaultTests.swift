import CloudProtocol
import LoopbackServer
import Records
import Testing
import WebServices

@testable import LoopbackHTTP

@Suite("Control interface: what shall go wrong")
struct ControlFaultTests {
  /// A body and what of the faults is there afterwards, on a server of its own.
  private static let orders: [(body: String, pieces: [String])] = [
    (
      #"{"action":"fail","code":"zoneBusy"}"#,
      [#""faults":[{"number":1,"action":"fail","code":"zoneBusy","retryAfter":1.0,"count":1}]"#]
    ),
    (#"{"action":"fail","code":"serviceUnavailable"}"#, [#""retryAfter":1.0,"#]),
    (#"{"action":"fail","code":"requestRateLimited"}"#, [#""retryAfter":1.0,"#]),
    (
      #"{"action":"fail","code":"quotaExceeded"}"#,
      [#""faults":[{"number":1,"action":"fail","code":"quotaExceeded","count":1}]"#]
    ),
    (
      #"{"action":"fail","code":23,"count":3,"retryAfter":2.5,"#
        + #""kind":"modifyRecords","device":"x"}"#,
      [
        #"{"number":1,"action":"fail","code":"zoneBusy","retryAfter":2.5,"kind":"modifyRecords","#
          + #""device":"x","count":3}"#
      ]
    ),
    (
      #"{"action":"drop-answers"}"#,
      [#"{"number":1,"action":"drop-answers","code":"networkFailure","count":1}"#]
    ),
    (
      #"{"action":"drop-answers","code":"serverResponseLost","count":2}"#,
      [#"{"number":1,"action":"drop-answers","code":"serverResponseLost","count":2}"#]
    ),
    (
      #"{"action":"delay","seconds":3}"#,
      [#"{"number":1,"action":"delay","seconds":3"#, #""count":1}"#]
    ),
    (#"{"action":"delay","seconds":86400}"#, [#"{"number":1,"action":"delay","seconds":86400"#]),
    (#"{"action":"delay","seconds":0}"#, [#"{"number":1,"action":"delay","seconds":0"#]),
    (
      #"{"action":"fail","code":1,"retryAfter":0,"count":2147483648}"#,
      [#""code":"internalError","retryAfter":0.0,"count":2147483648}"#]
    ),
    (#"{"action":"hold"}"#, [#"{"number":1,"action":"hold","point":"beforeCommit"}"#]),
    (
      #"{"action":"hold","point":"afterCommit","count":4,"kind":"fetchZones"}"#,
      [#"{"number":1,"action":"hold","point":"afterCommit","kind":"fetchZones","count":4}"#]
    ),
    (#"{"action":"release"}"#, [#""faults":[]"#]),
    (#"{"action":"clear"}"#, [#""faults":[]"#]),
    (
      #"{"action":"drop-pushes","count":2,"device":"tablet"}"#,
      [#"{"action":"drop-pushes","device":"tablet","count":2}"#]
    ),
    (#"{"action":"hold-pushes"}"#, [#""holdsPushes":true"#]),
    (#"{"action":"release-pushes"}"#, [#""holdsPushes":false"#]),
    (
      #"{"action":"limits","itemsPerRequest":2,"throttle":{"requests":5,"seconds":1}}"#,
      [#""itemsPerRequest":2,"requestBytes":2097152"#, #""throttle":{"requests":5,"seconds":1"#]
    ),
    (#"{"action":"limits","throttle":null,"fixesFieldKinds":false}"#, [#"Kinds":false,"#]),
    (#"{"action":"limits","childSavesChangeParents":true}"#, [#"ChangeParents":true}"#]),
  ]

  /// A body that is refused, its status, and what the reason must say.
  private static let refusals: [(body: String, status: Int, piece: String)] = [
    ("", 400, "not JSON"), ("{", 400, "not JSON"), ("null", 400, "must be an object"),
    ("{}", 400, "'action' is missing"), (#"{"action":null}"#, 400, "'action' must be one of"),
    (#"{"action":"explode"}"#, 400, "'action' must be one of fail, drop-answers"),
    (#"{"action":"clear","action":"clear"}"#, 400, "not JSON"),
    (#"{"action":"clear","all":true}"#, 400, "'all' is unknown"),
    (#"{"action":"hold-pushes","count":1}"#, 400, "'count' is unknown"),
    (#"{"action":"fail"}"#, 400, "'code' is missing"),
    (#"{"action":"fail","code":"busy"}"#, 400, "such as zoneBusy"),
    (#"{"action":"fail","code":0}"#, 400, "from 1 to 37"),
    (#"{"action":"fail","code":38}"#, 400, "from 1 to 37"),
    (#"{"action":"fail","code":"23"}"#, 400, "such as zoneBusy"),
    (#"{"action":"fail","code":23,"count":0}"#, 400, "'count' must be"),
    (#"{"action":"fail","code":23,"count":1.5}"#, 400, "'count' must be"),
    (#"{"action":"fail","code":23,"count":"1"}"#, 400, "'count' must be"),
    (#"{"action":"fail","code":23,"count":null}"#, 400, "'count' must be"),
    (#"{"action":"fail","code":23,"retryAfter":-1}"#, 400, "'retryAfter' must be"),
    (#"{"action":"fail","code":23,"retryAfter":"1"}"#, 400, "'retryAfter' must be"),
    (#"{"action":"fail","code":23,"kind":"modify"}"#, 400, "'kind' must be one of"),
    (#"{"action":"fail","code":23,"device":1}"#, 400, "'device' must be a non-empty"),
    (#"{"action":"fail","code":23,"Count":2}"#, 400, "'Count' is unknown"),
    (#"{"action":"delay"}"#, 400, "'seconds' is missing"),
    (#"{"action":"delay","seconds":1e9}"#, 400, "from 0 to 86400"),
    (#"{"action":"delay","seconds":86400.5}"#, 400, "from 0 to 86400"),
    (#"{"action":"fail","code":23,"count":2147483649}"#, 400, "from 1 to 2147483648"),
    (#"{"action":"remove","number":2147483649}"#, 400, "from 1 to 2147483648"),
    (
      #"{"action":"quota","account":"alice","bytes":1125899906842625}"#, 400,
      "from 0 to 1125899906842624"
    ),
    (#"{"action":"hold","point":"never"}"#, 400, "beforeCommit, afterCommit"),
    (#"{"action":"deliver-push","device":"phone"}"#, 400, "'container' is missing"),
    (
      #"{"action":"deliver-push","device":"no","container":"c","subscription":"s"}"#, 404,
      "no device"
    ),
    (#"{"action":"device"}"#, 400, "'device' is missing"),
    (#"{"action":"device","device":"no","online":false}"#, 404, "no device"),
    (#"{"action":"device","device":"phone"}"#, 400, "'online' or 'availability'"),
    (#"{"action":"device","device":"phone","online":0}"#, 400, "true or false"),
    (#"{"action":"device","device":"phone","availability":"x"}"#, 400, "temporarilyUnavailable"),
    (#"{"action":"limits","itemsPerRequest":0}"#, 400, "'itemsPerRequest' must be"),
    (#"{"action":"limits","itemsPerRequest":9,"records":1}"#, 400, "'records' is unknown"),
    (#"{"action":"limits","throttle":{"requests":1}}"#, 400, "'throttle' needs"),
    (#"{"action":"limits","throttle":{"requests":1,"seconds":0}}"#, 400, "'throttle' needs"),
    (#"{"action":"limits","throttle":{"requests":1,"seconds":1,"x":1}}"#, 400, "'x' is unknown"),
    (#"{"action":"limits","throttle":5}"#, 400, "'throttle' must be an object"),
    (#"{"action":"quota","account":"alice"}"#, 400, "'bytes' is missing"),
    (#"{"action":"quota","account":"alice","bytes":-1}"#, 400, "'bytes' must be"),
    (#"{"action":"quota","bytes":1}"#, 400, "'account' is missing"),
    (#"{"action":"delete-zone","container":"c","account":"alice"}"#, 400, "'zone' is missing"),
    (
      #"{"action":"delete-zone","container":"c","account":"alice","zone":"none"}"#, 404, "zone"
    ),
    (
      #"{"action":"purge-zone","container":"c","account":"nobody","zone":"notes"}"#, 404, "nobody"
    ),
    (
      #"{"action":"expire-tokens","container":"c","account":"alice","environment":"x"}"#, 400,
      "development, production"
    ),
    (#"{"action":"set-indexes","container":"c","field":"f"}"#, 400, "'recordType' is missing"),
    (#"{"action":"deploy-schema"}"#, 400, "'container' is missing"),
    (#"{"action":"quota","account":"alcie","bytes":1}"#, 404, "there are 'alice'"),
    (#"{"action":"erase-data","container":"c","account":"alcie"}"#, 404, "'alcie'"),
    (#"{"action":"expire-tokens","container":"c","account":"alcie"}"#, 404, "'alcie'"),
    (#"{"action":"remove"}"#, 400, "'number' is missing"),
    (#"{"action":"remove","number":0}"#, 400, "'number' must be"),
    (#"{"action":"remove","number":1}"#, 404, "no fault 1"),
  ]

  /// Proves S5, WS-193.
  @Test("Faults and switches are set and can be read back")
  func faultsAreSetAndReadBack() async throws {
    for (body, pieces) in Self.orders {
      let world = ControlWorld()
      let answer = await world.post(body)
      #expect(answer.hasPrefix("200 "), "\(body): \(answer)")
      for piece in pieces where !answer.contains(piece) {
        Issue.record("\(body) lacks \(piece): \(answer)")
      }
      let read = await world.get("faults")
      #expect(read == answer, "\(body)")
    }
  }

  @Test("One fault is removed by its number, and clear restores limits, quotas and devices")
  func faultsAreRemovedAndAllIsCleared() async throws {
    let world = ControlWorld()
    try await world.prepare()
    let before = await world.get("faults")
    let accounts = await world.get("accounts")
    let devices = await world.get("devices")
    for body in [
      #"{"action":"delay","seconds":1,"device":"x"}"#, #"{"action":"fail","code":23,"device":"x"}"#,
      #"{"action":"drop-answers","device":"x"}"#,
    ] {
      #expect(await world.post(body).hasPrefix("200 "))
    }
    let rest = await world.post(#"{"action":"remove","number":2}"#)
    #expect(rest.contains(#""number":1,"#) && rest.contains(#""number":3,"#), "\(rest)")
    #expect(!rest.contains("zoneBusy"))
    #expect(await world.post(#"{"action":"remove","number":2}"#).hasPrefix("404 "))
    #expect(await world.post(#"{"action":"limits","itemsPerRequest":2}"#).hasPrefix("200 "))
    #expect(await world.post(#"{"action":"quota","account":"alice","bytes":1}"#).hasPrefix("200 "))
    #expect(await world.get("accounts") != accounts)
    for setting in [#""online":false"#, #""availability":"restricted""#] {
      let body = #"{"action":"device","device":"phone",\#(setting)}"#
      #expect(await world.post(body).hasPrefix("200 "))
    }
    #expect(await world.get("devices") != devices)
    #expect(await world.post(#"{"action":"clear"}"#) == before)
    #expect(await world.get("accounts") == accounts)
    #expect(await world.get("devices") == devices)
  }

  /// Proves WS-182.
  @Test("A list of actions is performed as a whole; if one is not valid, none is")
  func aListOfActionsIsPerformedAsAWhole() async throws {
    let world = ControlWorld()
    try await world.prepare()
    let before = await world.get("faults")
    let first = #"{"action":"fail","code":23}"#
    for (second, piece) in [
      (#"{"action":"quota","account":"nobody","bytes":1}"#, "nobody"),
      (#"{"action":"device","device":"no","online":false}"#, "no device"),
      (#"{"action":"explode"}"#, "'action' must be"), ("5", "must be an object"),
    ] {
      let answer = await world.post("[\(first),\(second)]")
      #expect(answer.hasPrefix("4") && answer.contains(piece), "\(second): \(answer)")
      #expect(answer.contains(#""index":1"#), "\(answer)")
      #expect(await world.get("faults") == before, "\(second)")
    }
    let limits = #"{"action":"limits","itemsPerRequest":2},{"action":"limits","recordBytes":7}"#
    let answer = await world.post(
      #"[\#(first),{"action":"quota","account":"alice","bytes":9},\#(limits)]"#)
    for piece in ["200 ", "zoneBusy", #""bytes":9"#, #""itemsPerRequest":2"#, #""recordBytes":7"#] {
      #expect(answer.contains(piece), "\(piece): \(answer)")
    }
    // An action that fails when its turn comes ends the list.
    let zone = #"{"action":"delete-zone","container":"c","account":"alice","zone":"none"}"#
    let cut = await world.post("[\(first),\(zone),\(first)]")
    #expect(cut.hasPrefix("404 ") && cut.contains(#""index":1"#), "\(cut)")
    #expect(await world.get("faults").split(separator: "zoneBusy").count == 3)
  }

  /// Proves WS-169.
  @Test("Every limit of the server can be set, and is listed")
  func everyLimitCanBeSetAndIsListed() async throws {
    let world = ControlWorld()
    let limits = Mirror(reflecting: ServerLimits()).children
    #expect(limits.count >= 11)
    for limit in limits {
      let name = try #require(limit.label)
      let value =
        switch limit.value {
        case is Int: "7"
        case let flag as Bool: "\(!flag)"
        default: #"{"requests":3,"seconds":1.5}"#
        }
      let answer = await world.post(#"{"action":"limits","\#(name)":\#(value)}"#)
      #expect(answer.hasPrefix("200 ") && answer.contains(#""\#(name)":\#(value)"#), "\(answer)")
    }
    let set = Mirror(reflecting: world.server.limits).children
    #expect(Set(set.compactMap { $0.value as? Int }) == [7])
  }

  @Test("A body that is not understood as a whole is refused and changes nothing")
  func invalidControlBodyChangesNothing() async throws {
    let world = ControlWorld()
    try await world.prepare()
    let before = await [
      world.get("faults"), world.get("accounts"), world.get("devices"), world.get("events"),
    ]
    for (body, status, piece) in Self.refusals {
      let answer = await world.post(body)
      #expect(answer.hasPrefix("\(status) ") && answer.contains(piece), "\(body): \(answer)")
    }
    let after = await [
      world.get("faults"), world.get("accounts"), world.get("devices"), world.get("events"),
    ]
    #expect(before == after)
    let query = world.request("POST", "/cloudsync/1/faults?x=1", #"{"action":"clear"}"#)
    #expect(await world.answer(query).hasPrefix("400 "))
  }

  /// The administrative actions, in an order in which each has an effect.
  private static let administration: [(body: String, target: String, piece: String)] = [
    (#"{"action":"quota","account":"alice","bytes":9000}"#, "accounts", #""quota":9000"#),
    (#"{"action":"quota","account":"alice","bytes":0}"#, "accounts", #""quota":0}"#),
    (
      #"{"action":"quota","account":"alice","bytes":1125899906842624}"#, "accounts",
      #""quota":1125899906842624"#
    ),
    (#"{"action":"quota","account":"alice","bytes":null}"#, "accounts", #"alice"#),
    (#"{"action":"person","account":"bob","givenName":"Bob"}"#, "accounts", #""bob""#),
    (#"{"action":"device","device":"phone","online":false}"#, "devices", #""online":false"#),
    (
      #"{"action":"device","device":"phone","online":true,"availability":"restricted"}"#,
      "devices", #""availability":"restricted","online":true"#
    ),
    (
      #"{"action":"device","device":"phone","availability":"couldNotDetermine"}"#, "devices",
      #""availability":"couldNotDetermine""#
    ),
    (
      #"{"action":"device","device":"phone","availability":"available"}"#, "devices",
      #"{"name":"phone","account":"alice","availability":"available","online":true"#
    ),
    (
      #"{"action":"deliver-push","device":"phone","container":"c","subscription":"odd"}"#,
      "events",
      #""device":"phone","fate":"delivered","container":"c","database":"private","#
        + #""subscriptionID":"odd""#
    ),
    (
      #"{"action":"set-indexes","container":"c","recordType":"Note","field":"text"}"#,
      "status", "cloud"
    ),
    (#"{"action":"deploy-schema","container":"c"}"#, "status", "cloud"),
    (#"{"action":"expire-tokens","container":"c","account":"alice"}"#, "events", "administration"),
    (
      #"{"action":"trim-tombstones","container":"c","account":"alice","zone":"notes"}"#,
      "changes?container=c&account=alice&zone=notes", #""recordName":"a""#
    ),
    (
      #"{"action":"reset-encrypted-data","container":"c","account":"alice","zone":"notes"}"#,
      "zones?container=c&account=alice", "encryptedDataReset"
    ),
    (#"{"action":"erase-data","container":"c","account":"alice"}"#, "accounts", "alice"),
    (#"{"action":"forget-requests"}"#, "requests", #"{"requests":[],"next":0}"#),
  ]

  @Test("The actions of administrators and devices are available as control requests")
  func administrationWorksByControlRequests() async throws {
    let world = ControlWorld()
    try await world.prepare()
    for (body, target, piece) in Self.administration {
      let answer = await world.post(body)
      let state = await world.get(target)
      #expect(answer.hasPrefix("200 ") && state.contains(piece), "\(body): \(answer) \(state)")
    }
    #expect(!(await world.get("accounts")).contains("quota"))
    for (name, reason) in [("delete-zone", "deleted"), ("purge-zone", "purged")] {
      let world = ControlWorld()
      try await world.prepare()
      let body = #"{"action":"\#(name)","container":"c","account":"alice","zone":"notes"}"#
      #expect(await world.post(body).hasPrefix("200 "))
      #expect(await world.get("zones?container=c&account=alice").contains(reason), "\(name)")
    }
  }

  @Test("Of devices with one name only those of the account named are changed")
  func devicesByAccount() async throws {
    let world = ControlWorld()
    let bobs = world.server.remoteDevice("phone", account: "bob")
    for (body, states) in [
      (#"{"action":"device","device":"phone","account":"bob","online":false}"#, [true, false]),
      (#"{"action":"device","device":"phone","account":"carol","online":false}"#, [true, false]),
      (#"{"action":"device","device":"phone","online":false}"#, [false, false]),
      (#"{"action":"device","device":"phone","account":"alice","online":true}"#, [true, false]),
    ] {
      #expect(await world.post(body).hasPrefix("200 "), "\(body)")
      #expect([world.phone.isOnline, bobs.isOnline] == states, "\(body)")
    }
    let devices = try await world.json("devices")["devices"]?.array ?? []
    let names = devices.map { "\($0["name"]?.string ?? "") \($0["account"]?.string ?? "")" }
    #expect(names == ["phone alice", "phone bob", "tablet alice"])
  }

  @Test("A request held by control is listed, is released by control and fails as configured")
  func heldRequestIsListedAndReleased() async throws {
    let world = ControlWorld()
    try await world.prepare()
    _ = await world.post(#"{"action":"hold","kind":"fetchZones"}"#)
    _ = await world.post(#"{"action":"fail","code":"zoneBusy","kind":"fetchZones"}"#)
    async let answer = world.send("held", .fetchZones(nil))
    await world.server.controls.waitForHeldRequests()
    let held = try await world.json("faults")["heldRequests"]?.array ?? []
    #expect(held.map { $0["requestID"] } == [.string("held")])
    #expect(await world.get("status").contains(#""openRequests":1"#))
    _ = await world.post(#"{"action":"release"}"#)
    do {
      _ = try await answer
      Issue.record("the fault did not apply")
    } catch let error as CloudError { #expect(error.code == .zoneBusy) }
    #expect(await world.get("faults").contains(#"{"faults":[],"heldRequests":[]"#))
  }
}
