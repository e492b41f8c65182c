import CloudProtocol
import Records
import Testing
import WebServices

@Suite("What a server answers, in the service's own words")
struct AnswerTests {
  private struct Case {
    var endpoint: Endpoint
    var database = DatabaseScope.private
    var body: String
    var outcomes: [ServerRequest.Outcome]
    var answer: String
  }

  private static let zone =
    #""zoneID":{"zoneName":"Notes","ownerRecordName":"_alice","zoneType":"REGULAR_CUSTOM_ZONE"}"#

  private static func zone(_ name: String) -> String {
    zone.replacing("Notes", with: name)
  }

  private static func note(_ name: String, _ fields: Fields = ["a": .int64(1)]) -> Record {
    Record(id: .note(name), type: "Note", changeTag: ChangeTag("1"), fields: fields)
  }

  private static func text(_ name: String, _ fields: String = #""a":{"value":1,"type":"INT64"}"#)
    -> String
  {
    #"""
    {"recordName":"\#(name)","recordType":"Note","fields":{\#(fields)},"pluginFields":{},"recordChangeTag":"1","deleted":false,\#(zone)}
    """#
  }

  private static func success(_ name: String) -> ItemResult<RecordID, Record> {
    ItemResult(id: .note(name), .success(note(name)))
  }

  private static let gone = CloudError(.unknownItem, "there is none")
  private static let goneText = #""reason":"there is none","serverErrorCode":"NOT_FOUND""#
  private static let token = ChangeToken(bytes: [1, 2])

  /// Changes to records.
  private static var modifications: [Case] {
    let mixed = #"""
      {"operations":[{"operationType":"forceDelete","record":{"recordName":"d"}},
      {"operationType":"forceUpdate","record":{"recordName":"s","recordType":"Note"}},
      {"operationType":"forceDelete","record":{"recordName":"e"}},
      {"operationType":"forceUpdate","record":{"recordName":"t","recordType":"Note"}}],
      "zoneID":{"zoneName":"Notes"}}
      """#
    let conflict = CloudError(
      .serverRecordChanged, "oplock", retryAfter: 2.5, serverRecord: note("t"))
    let reply = CloudReply.recordsModified(
      saved: [success("s"), ItemResult(id: .note("t"), .failure(conflict))],
      deleted: [
        ItemResult(id: .note("d"), .success(Done())), ItemResult(id: .note("e"), .failure(gone)),
      ])
    let records =
      #"{"records":[{"recordName":"d","deleted":true,\#(zone)},\#(text("s")),"#
      + #"{"recordName":"e",\#(goneText)},{"recordName":"t","reason":"oplock","#
      + #""serverErrorCode":"CONFLICT","retryAfter":3}]"#
    return [
      Case(
        endpoint: .recordsModify, body: mixed, outcomes: [.success(reply)], answer: records + "}"),
      Case(
        endpoint: .recordsModify, body: mixed,
        outcomes: [.success(reply), .success(.zones([described]))],
        answer: records + #","syncToken":"AQI="}"#),
      Case(
        endpoint: .recordsModify, body: mixed, outcomes: [.success(reply), .failure(gone)],
        answer: records + "}"),
      Case(
        endpoint: .recordsModify,
        body: #"""
          {"operations":[{"operationType":"update","record":{"recordName":"n"}},
          {"operationType":"forceUpdate","record":{"recordName":"s","recordType":"Note"}},
          {"operationType":"drop","record":{}}],"zoneID":{"zoneName":"Notes"},"atomic":false}
          """#,
        outcomes: [.success(.recordsModified(saved: [success("s")], deleted: []))],
        answer: #"{"records":[{"recordName":"n","reason":"the operation update needs the "#
          + #"record's 'recordChangeTag'","serverErrorCode":"BAD_REQUEST"},\#(text("s")),"#
          + #"{"reason":"the 'operationType' 'drop' is unknown; it must be one of create, "#
          + #"update, forceUpdate, replace, forceReplace, delete, forceDelete","#
          + #""serverErrorCode":"BAD_REQUEST"}]}"#),
      Case(
        endpoint: .recordsModify,
        body: #"""
          {"operations":[{"operationType":"forceUpdate","desiredKeys":["a"],"record":{
          "recordName":"s","recordType":"Note"}},{"operationType":"forceUpdate","record":{
          "recordName":"t","recordType":"Note"}}],"zoneID":{"zoneName":"Notes"},"desiredKeys":[]}
          """#,
        outcomes: [.success(.recordsModified(saved: [success("s"), success("t")], deleted: []))],
        answer: #"{"records":[\#(text("s")),\#(text("t", ""))]}"#),
    ]
  }

  private static var readings: [Case] {
    let both: Fields = ["a": .int64(1), "b": .double(2)]
    let (a, b) = (#""a":{"value":1,"type":"INT64"}"#, #""b":{"value":2.0,"type":"DOUBLE"}"#)
    let found = ["n", "m", "o"].map { ItemResult(id: RecordID.note($0), .success(note($0, both))) }
    let missing = ItemResult<RecordID, Record>(id: .note("x"), .failure(gone))
    let names =
      #"""
      {"recordName":"n","desiredKeys":["a"]},{"recordName":"m","desiredKeys":[]},{"recordName":"o","desiredKeys":null},{"recordName":"x"}
      """#
    return [
      Case(
        endpoint: .recordsLookup,
        body: #"{"zoneID":{"zoneName":"Notes"},"records":[\#(names)],"desiredKeys":["b"]}"#,
        outcomes: [.success(.records(found + [missing]))],
        answer:
          #"{"records":[\#(text("n", a)),\#(text("m", "")),\#(text("o", "\(a),\(b)")),"#
          + #"{"recordName":"x",\#(goneText)}]}"#),
      Case(
        endpoint: .recordsQuery,
        body:
          #"{"zoneID":{"zoneName":"Notes"},"query":{"recordType":"Note"},"numbersAsStrings":true}"#,
        outcomes: [
          .success(
            .queried(QueryPage(records: [note("n", both)], cursor: QueryCursor(bytes: [7]))))
        ],
        answer:
          #"""
          {"records":[\#(text("n", #""a":{"value":"1","type":"INT64"},"b":{"value":"2.0","type":"DOUBLE"}"#))],"continuationMarker":"Bw=="}
          """#
      ),
      Case(
        endpoint: .recordsQuery, body: #"{"query":{"recordType":"Note"}}"#,
        outcomes: [.success(.queried(QueryPage(records: [], cursor: nil)))],
        answer: #"{"records":[]}"#),
    ]
  }

  private static var feeds: [Case] {
    func page(_ name: String, _ records: [Record], moreComing: Bool) -> ServerRequest.Outcome {
      .success(
        .zoneChanges(
          ZoneChangesPage(
            zone: ZoneID(name: name), modified: records,
            deleted: [RecordDeletion(id: .note("d"), type: "Note")], token: token,
            moreComing: moreComing)))
    }
    let changes: ServerRequest.Outcome = .success(
      .databaseChanges(
        DatabaseChangesPage(
          modified: [.notes], deleted: [ZoneDeletion(zone: ZoneID(name: "Old"), reason: .purged)],
          token: token, moreComing: false)))
    var task = note("t")
    task.type = "Task"
    let deleted = #"{"recordName":"d","recordType":null,"deleted":true,\#(zone)}"#
    let expired = CloudError(.changeTokenExpired, "too old")
    return [
      Case(
        endpoint: .changesZone,
        body:
          #"""
          {"zones":[{"zoneID":{"zoneName":"Notes"},"desiredRecordTypes":["Note"]},{"zoneID":{"zoneName":"Gone"}},{"zoneID":{"zoneName":"Old"},"syncToken":"AQ=="},{"zoneID":{"zoneName":"Text"},"numberAsStrings":true}]}
          """#,
        outcomes: [
          page("Notes", [note("n"), task], moreComing: true),
          .failure(CloudError(.zoneNotFound, "no zone")), .failure(expired),
          page("Text", [note("n")], moreComing: false),
        ],
        answer:
          #"""
          {"zones":[{\#(zone),"syncToken":"AQI=","moreComing":true,"records":[\#(text("n")),\#(deleted)]},
          """#
            + #"{\#(zone("Gone")),"reason":"no zone","serverErrorCode":"ZONE_NOT_FOUND"},"#
              + #"""
              {\#(zone("Old")),"reason":"Unknown sync continuation type","serverErrorCode":"BAD_REQUEST"},
              """#
              + #"""
              {\#(zone("Text")),"syncToken":"AQI=","moreComing":false,"records":[\#(text("n", #""a":{"value":"1","type":"INT64"}"#)),\#(deleted)]}]}
              """#
      ),
      Case(endpoint: .changesZone, body: #"{"zones":[]}"#, outcomes: [], answer: #"{"zones":[]}"#),
      Case(
        endpoint: .changesDatabase, body: "{}", outcomes: [changes, .success(.zones([described]))],
        answer:
          #"""
          {"zones":[\#(zoneText),{\#(zone("Old")),"deleted":true}],"syncToken":"AQI=","moreComing":false}
          """#
      ),
      Case(
        endpoint: .zonesChanges, body: "{}", outcomes: [changes],
        answer:
          #"""
          {"zones":[{\#(zone)},{\#(zone("Old")),"deleted":true}],"metaSyncToken":"AQI=","moreComing":false}
          """#
      ),
    ]
  }

  /// The zone Notes with its token.
  private static let described = ItemResult(
    id: ZoneID.notes, .success(Zone(id: .notes, capabilities: .custom, token: token)))
  private static let zoneText =
    #"""
    {\#(zone),"syncToken":"AQI=","atomic":true,"isEligibleForZoneShare":true,"isEligibleForHierarchicalShare":true}
    """#

  private static var others: [Case] {
    let saved = ItemResult(
      id: ZoneID.notes, .success(Zone(id: .notes, capabilities: .custom)))
    let operations =
      #"""
      {"operations":[{"operationType":"delete","zone":{"zoneID":{"zoneName":"Old"}}},{"operationType":"create","zone":{"zoneID":{"zoneName":"Notes"}}},{"operationType":"delete","zone":{"zoneID":{"zoneName":"Gone"}}}]}
      """#
    let watch = Subscription(id: SubscriptionID("s"), kind: .database(recordType: nil))
    return [
      Case(
        endpoint: .zonesModify, body: operations,
        outcomes: [
          .success(
            .zonesModified(
              saved: [saved],
              deleted: [
                ItemResult(id: ZoneID(name: "Old"), .success(Done())),
                ItemResult(id: ZoneID(name: "Gone"), .failure(gone)),
              ])), .success(.zones([described])),
        ],
        answer:
          #"""
          {"zones":[{\#(zone("Old")),"deleted":true},\#(zoneText),{\#(zone("Gone")),\#(goneText)}]}
          """#
      ),
      Case(
        endpoint: .subscriptionsModify,
        body:
          #"""
          {"operations":[{"operationType":"delete","subscription":{"subscriptionID":"o"}},{"operationType":"create","subscription":{"subscriptionID":"s","subscriptionType":"database"}},{"operationType":"delete","subscription":{"subscriptionID":"g"}}]}
          """#,
        outcomes: [
          .success(
            .subscriptionsModified(
              saved: [ItemResult(id: SubscriptionID("s"), .success(watch))],
              deleted: [
                ItemResult(id: SubscriptionID("o"), .success(Done())),
                ItemResult(id: SubscriptionID("g"), .failure(gone)),
              ]))
        ],
        answer:
          #"""
          {"subscriptions":[{"subscriptionID":"o","deleted":true},{"subscriptionID":"s","subscriptionType":"database","notificationInfo":{"shouldBadge":false,"shouldSendContentAvailable":true,"shouldSendMutableContent":false}},{"subscriptionID":"g",\#(goneText)}]}
          """#
      ),
    ]
  }

  private static var people: [Case] {
    let person = UserIdentity(
      user: UserID("_bob"), lookup: .email("b@x.org"), givenName: "Bob", familyName: "B")
    return [
      Case(
        endpoint: .usersCaller, database: .public, body: "{}",
        outcomes: [.success(.currentUser(UserID("_alice")))],
        answer: #"{"userRecordName":"_alice"}"#),
      Case(
        endpoint: .usersDiscover, database: .public,
        body: #"{"lookupInfos":[{"phoneNumber":"1"},{"emailAddress":"b@x.org"}]}"#,
        outcomes: [
          .success(
            .usersFound([
              ItemResult(id: .phone("1"), .failure(gone)),
              ItemResult(id: .email("b@x.org"), .success(person)),
            ]))
        ],
        answer:
          #"""
          {"users":[{"userRecordName":"_bob","nameComponents":{"givenName":"Bob","familyName":"B"},"lookupInfo":{"emailAddress":"b@x.org"}}]}
          """#
      ),
      Case(
        endpoint: .usersLookupEmail, database: .public,
        body: #"{"users":[{"emailAddress":"b@x.org"},{"emailAddress":"c@x.org"}]}"#,
        outcomes: [
          .success(
            .usersFound([
              ItemResult(id: .email("b@x.org"), .success(person)),
              ItemResult(
                id: .email("c@x.org"),
                .success(UserIdentity(user: UserID("_c"), lookup: .email("c@x.org")))),
            ]))
        ],
        answer:
          #"""
          {"users":[{"userRecordName":"_bob","nameComponents":{"givenName":"Bob","familyName":"B"},"lookupInfo":{"emailAddress":"b@x.org"},"firstName":"Bob","lastName":"B","emailAddress":"b@x.org"},{"userRecordName":"_c","lookupInfo":{"emailAddress":"c@x.org"},"firstName":null,"lastName":null,"emailAddress":"c@x.org"}]}
          """#
      ),
      Case(
        endpoint: .usersLookupContacts, database: .public, body: "{}", outcomes: [],
        answer: #"{"users":[]}"#),
      Case(
        endpoint: .recordsResolve, database: .public, body: #"{"shortGUIDs":[{"value":"0aBc"}]}"#,
        outcomes: [
          .success(
            .sharesResolved([ItemResult(id: ShareMetadata.urlPrefix + "0aBc", .failure(gone))]))
        ], answer: #"{"results":[{"shortGUID":{"value":"0aBc"},\#(goneText)}]}"#),
    ]
  }

  /// Proves WS-15, WS-16, WS-17, WS-19, WS-20, WS-28, WS-29, WS-30, WS-36, WS-41, WS-45, WS-47,
  /// WS-54, WS-57, WS-60, WS-64, WS-65, WS-66, WS-68, WS-75, WS-76, WS-80.
  @Test("Answers are in the order of the request, with failures in place, as JSON and as text")
  func answersFollowRequestOrder() {
    let cases = Self.modifications + Self.readings + Self.feeds + Self.others + Self.people
    var faults: [String] = []
    for each in cases {
      do {
        let exchange = try ExchangeCase.exchange(
          JSON(parsing: Array(each.body.utf8)), each.endpoint, each.database,
          wantsToken: each.outcomes.count == 2)
        let answer = try exchange?.body(each.outcomes).text ?? "nothing"
        if answer != each.answer {
          faults.append("\(each.endpoint.rawValue): \(RoundTrip.difference(answer, each.answer))")
        }
        let text = String(decoding: try exchange?.text(each.outcomes) ?? [], as: UTF8.self)
        if text != each.answer {
          faults.append("\(each.endpoint.rawValue): \(RoundTrip.difference(text, each.answer))")
        }
      } catch { faults.append("\(each.endpoint.rawValue): \(error)") }
    }
    #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
  }

  @Test("A failure of the whole request fails the answer, and so does a mismatched answer")
  func wholeFailureAnswersWholeRequest() throws {
    var faults: [String] = []
    for endpoint in Endpoint.allCases {
      let bodies: [String] = [
        "{}", #"{"operations":[]}"#, #"{"records":[]}"#, #"{"query":{"recordType":"N"}}"#,
        #"{"zoneID":{}}"#, #"{"zones":[{"zoneID":{}}]}"#, #"{"subscriptions":[]}"#,
        #"{"shortGUIDs":[]}"#, #"{"users":[]}"#, #"{"lookupInfos":[]}"#,
      ]
      for body in bodies {
        let json = try JSON(parsing: Array(body.utf8))
        guard let exchange = try? ExchangeCase.exchange(json, endpoint),
          exchange.requests.count == 1
        else { continue }
        func code(_ outcomes: [ServerRequest.Outcome]) -> CloudError.Code? {
          do throws(CloudError) { _ = try exchange.body(outcomes) } catch { return error.code }
          return nil
        }
        let isFeed = endpoint == .changesZone
        let codes = [code([.failure(Self.gone)]), code([]), code([.success(.assetContent([]))])]
        if codes != [isFeed ? nil : .unknownItem, isFeed ? nil : .internalError, .internalError] {
          faults.append("\(endpoint.rawValue) \(body): \(codes)")
        }
      }
    }
    #expect(faults.isEmpty, "\(faults)")
  }

  @Test("A reply with another number of items than the request is an error, as JSON and as text")
  func replyWithOtherItemCountIsError() throws {
    let saved = Self.success("s")
    let deleted = ItemResult(id: RecordID.note("d"), .success(Done()))
    let zone = ItemResult(id: ZoneID.notes, .success(Zone(id: .notes, capabilities: .custom)))
    let records = #"""
      {"operations":[{"operationType":"forceDelete","record":{"recordName":"d"}},
      {"operationType":"forceUpdate","record":{"recordName":"s","recordType":"Note"}}]}
      """#
    let lookup = #"{"records":[{"recordName":"s"}]}"#
    let zones = #"{"operations":[{"operationType":"create","zone":{"zoneName":"Notes"}}]}"#
    let subscriptions =
      #"{"operations":[{"operationType":"delete","subscription":{"subscriptionID":"s"}}]}"#
    let cases: [(Endpoint, String, CloudReply)] = [
      (.recordsModify, records, .recordsModified(saved: [saved], deleted: [])),
      (.recordsModify, records, .recordsModified(saved: [], deleted: [deleted])),
      (.recordsModify, records, .recordsModified(saved: [saved, saved], deleted: [deleted])),
      (.recordsLookup, lookup, .records([])), (.recordsLookup, lookup, .records([saved, saved])),
      (.zonesModify, zones, .zonesModified(saved: [], deleted: [])),
      (.zonesModify, zones, .zonesModified(saved: [zone, zone], deleted: [])),
      (.subscriptionsModify, subscriptions, .subscriptionsModified(saved: [], deleted: [])),
    ]
    for (endpoint, body, reply) in cases {
      let json = try JSON(parsing: Array(body.utf8))
      let exchange = try #require(try ExchangeCase.exchange(json, endpoint))
      let asJSON = #expect(throws: CloudError.self) { try exchange.body([.success(reply)]) }
      let asText = #expect(throws: CloudError.self) { try exchange.text([.success(reply)]) }
      #expect(asJSON?.code == .internalError, "\(endpoint.rawValue): \(reply)")
      #expect(asText?.code == .internalError, "\(endpoint.rawValue): \(reply)")
    }
  }
}
