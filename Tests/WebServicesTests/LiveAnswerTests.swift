import CloudProtocol
import Records
import Testing
import WebServices

/// Answers in the shapes that Apple's service gives them, which say less than our own server does.
@Suite("Answers as Apple's service gives them")
struct LiveAnswerTests {
  private struct Case {
    var request: CloudRequest
    var database = DatabaseScope.private
    var answer: String
    var reply: Result<CloudReply, CloudError>
  }

  private static func read(_ name: String, tag: String = "1e", _ fields: Fields) -> Record {
    Record(id: .note(name), type: "Note", changeTag: ChangeTag(tag), fields: fields)
  }

  private static let token = ChangeToken(bytes: [1, 2])

  private static var feeds: [Case] {
    let feed = CloudRequest.fetchZoneChanges(FetchZoneChanges(zone: .notes, since: nil))
    var live = read("a", ["n": .list([]), "s": .string("x"), "t": .list([.string("y")])])
    live.fields["e"] = Field(.bytes([1]))
    live.created = RecordStamp(
      time: Timestamp(secondsSinceReferenceDate: 0), user: UserID("_u"), device: "iCloud")
    live.modified = live.created
    live.parent = .note("p")
    let page = ZoneChangesPage(
      zone: .notes, modified: [live], deleted: [RecordDeletion(id: .note("d"), type: "")],
      token: token, moreComing: false)
    func refused(_ code: CloudError.Code, _ reason: String) -> Result<CloudReply, CloudError> {
      .failure(CloudError(code, reason))
    }
    return [
      Case(
        request: feed,
        answer: #"""
          {"zones":[{"zoneID":{"zoneName":"Notes","ownerRecordName":"_u","zoneType":"REGULAR_CUSTOM_ZONE"},
          "syncToken":"AQI=","moreComing":null,"records":[
          {"recordName":"a","recordType":"Note","recordChangeTag":"1e","deleted":false,"pluginFields":{},
          "fields":{"s":{"value":"x","type":"STRING"},"n":{"type":"STRING_LIST","value":[]},
          "t":{"type":"UNKNOWN_LIST","value":["y"]},"e":{"type":"ENCRYPTED_BYTES","value":"AQ=="},
          "gone":{"type":"TIMESTAMP"}},"parent":{"recordName":"p"},"shortGUID":"0aBc",
          "stableUrl":{"routingKey":"r"},"chainPrivateKey":"AQ==",
          "created":{"timestamp":978307200000,"userRecordName":"_u","deviceID":"iCloud"},
          "modified":{"timestamp":978307200000,"userRecordName":"_u","deviceID":"iCloud"}},
          {"recordName":"d","recordType":null,"deleted":true,"recordChangeTag":"2"}]}]}
          """#, reply: .success(.zoneChanges(page))),
      Case(
        request: feed,
        answer: #"""
          {"zones":[{"zoneID":{"zoneName":"Notes"},"reason":"Unknown sync continuation type",
          "serverErrorCode":"BAD_REQUEST"}]}
          """#, reply: refused(.changeTokenExpired, "Unknown sync continuation type")),
      Case(
        request: feed,
        answer: #"{"zones":[{"zoneID":{},"reason":"no","serverErrorCode":"BAD_REQUEST"}]}"#,
        reply: refused(.invalidArguments, "no")),
      Case(
        request: feed, answer: #"{"zones":[]}"#,
        reply: refused(
          .internalError,
          "the server's answer to changes/zone is invalid: it does not contain the requested "
            + "zone"
        )),
      Case(
        request: .fetchDatabaseChanges(FetchDatabaseChanges(since: nil)),
        answer: #"""
          {"zones":[{"zoneID":{"zoneName":"Notes","ownerRecordName":"_u"},"syncToken":"AQ=="},
          {"zoneID":{"zoneName":"Old","ownerRecordName":"_u"},"deleted":true}],
          "syncToken":"AQI=","moreComing":true}
          """#,
        reply: .success(
          .databaseChanges(
            DatabaseChangesPage(
              modified: [.notes],
              deleted: [ZoneDeletion(zone: ZoneID(name: "Old"), reason: .deleted)], token: token,
              moreComing: true)))),
    ]
  }

  private static var records: [Case] {
    let save = RecordSave(id: .note("a"), type: "Note", changes: [])
    let gone = CloudError(.unknownItem, "Record not found")
    let conflict = CloudError(.serverRecordChanged, "client oplock error updating record")
    return [
      Case(
        request: .modifyRecords(ModifyRecords(save: [save, save], delete: [.note("d")])),
        answer: #"""
          {"records":[{"recordName":"a","recordType":"Note","recordChangeTag":"e","fields":{}},
          {"recordName":"a","reason":"client oplock error updating record","serverErrorCode":"CONFLICT"},
          {"recordName":"d","deleted":true}]}
          """#,
        reply: .success(
          .recordsModified(
            saved: [
              ItemResult(id: .note("a"), .success(read("a", tag: "e", [:]))),
              ItemResult(id: .note("a"), .failure(conflict)),
            ], deleted: [ItemResult(id: .note("d"), .success(Done()))]))),
      Case(
        request: .fetchRecords(FetchRecords(ids: [.note("a"), .note("x")])),
        answer: #"""
          {"records":[{"recordName":"a","recordType":"Note","recordChangeTag":"1e"},
          {"recordName":"x","reason":"Record not found","serverErrorCode":"NOT_FOUND"}]}
          """#,
        reply: .success(
          .records([
            ItemResult(id: .note("a"), .success(read("a", [:]))),
            ItemResult(id: .note("x"), .failure(gone)),
          ]))),
      Case(
        request: .queryRecords(QueryRecords(query: Query(recordType: "Note"), zone: .notes)),
        answer: #"""
          {"records":[{"recordName":"a","recordType":"Note","recordChangeTag":"1e","fields":{}}],
          "continuationMarker":"AQI=","syncToken":"AQ=="}
          """#,
        reply: .success(
          .queried(QueryPage(records: [read("a", [:])], cursor: QueryCursor(bytes: [1, 2]))))),
    ]
  }

  /// Shares that are accepted, in a database of the owner and in one of a guest, and a known user.
  private static var people: [Case] {
    let url = ShareMetadata.urlPrefix + "0aBc"
    let owner = UserIdentity(user: UserID("_bob"))
    let person = UserIdentity(user: UserID("_bob"), lookup: .user(UserID("_bob")))
    let zones = [
      (#""databaseScope":"PRIVATE","#, ZoneID(name: "Notes")),
      (#""databaseScope":"SHARED","#, ZoneID(name: "Notes", owner: "_bob")),
      ("", ZoneID(name: "Notes", owner: "_bob")),
    ]
    let accepted = zones.map { scope, zone in
      var share = Record(id: RecordID(name: "s", zone: zone), type: "cloudkit.share")
      share.sharing = ShareDetails(
        root: nil, publicPermission: .readOnly, url: url,
        participants: [
          ShareParticipant(
            id: "p", identity: owner, role: .owner, permission: .readWrite, acceptance: .accepted)
        ])
      return Case(
        request: .acceptShares([url]), database: .public,
        answer: #"""
          {"results":[{"shortGUID":{"value":"0aBc"},\#(scope)
          "zoneID":{"zoneName":"Notes","ownerRecordName":"_bob"},
          "share":{"recordName":"s","recordType":"cloudkit.share","shortGUID":"0aBc",
          "publicPermission":"READ_ONLY","participants":[{"participantId":"p","type":"OWNER",
          "permission":"READ_WRITE","acceptanceStatus":"ACCEPTED","userIdentity":{
          "userRecordName":"_bob","lookupInfo":{}}}]}}]}
          """#,
        reply: .success(.sharesAccepted([ItemResult(id: url, .success(share))])))
    }
    return accepted + [
      Case(
        request: .findUsers([.user(UserID("_bob"))]), database: .public,
        answer: #"{"users":[{"userRecordName":"_bob","lookupInfo":{}}]}"#,
        reply: .success(.usersFound([ItemResult(id: .user(UserID("_bob")), .success(person))])))
    ]
  }

  private static var others: [Case] {
    let url = ShareMetadata.urlPrefix + "0aBc"
    let zone = ZoneID(name: "Notes", owner: "_bob")
    let owner = UserIdentity(user: UserID("_bob"), givenName: "Bob")
    let details = ShareDetails(
      root: nil, publicPermission: .readOnly, url: url,
      participants: [
        ShareParticipant(
          id: "p", identity: owner, role: .owner, permission: .readWrite, acceptance: .accepted)
      ])
    let share = Record(
      id: RecordID(name: "s", zone: zone), type: "cloudkit.share", sharing: details)
    let person = UserIdentity(user: UserID("_bob"), lookup: .email("b@x.org"))
    return [
      Case(
        request: .resolveShares(ResolveShares(urls: [url])), database: .public,
        answer: #"""
          {"results":[{"shortGUID":{"value":"0aBc","shouldFetchRootRecord":true},
          "containerIdentifier":"iCloud.c","environment":"PRODUCTION","databaseScope":"SHARED",
          "zoneID":{"zoneName":"Notes","ownerRecordName":"_bob"},"rootRecordName":"r",
          "share":{"recordName":"s","recordType":"cloudkit.share","shortGUID":"0aBc",
          "publicPermission":"READ_ONLY","participants":[{"participantId":"p","type":"OWNER",
          "permission":"READ_WRITE","acceptanceStatus":"ACCEPTED","userIdentity":{
          "userRecordName":"_bob","nameComponents":{"givenName":"Bob"},"lookupInfo":{}}}],
          "requesters":[],"blocked":[]},"ownerIdentity":{"userRecordName":"_bob",
          "nameComponents":{"givenName":"Bob"},"lookupInfo":{"emailAddress":null}},
          "participantPermission":"READ_ONLY","participantStatus":"INVITED","participantType":"USER",
          "potentialMatchList":[]}]}
          """#,
        reply: .success(
          .sharesResolved([
            ItemResult(
              id: url,
              .success(
                ShareMetadata(
                  container: "iCloud.c", share: share, rootID: RecordID(name: "r", zone: zone),
                  owner: owner, role: .privateUser, acceptance: .pending, permission: .readOnly)))
          ]))),
      Case(
        request: .fetchCurrentUser, database: .public,
        answer: #"{"userRecordName":"_u","lookupInfo":{},"nameComponents":{"givenName":"U"}}"#,
        reply: .success(.currentUser(UserID("_u")))),
      Case(
        request: .findUsers([.email("b@x.org"), .phone("1"), .email("b@x.org")]),
        database: .public,
        answer: #"{"users":[{"userRecordName":"_bob","lookupInfo":{"emailAddress":"b@x.org"}}]}"#,
        reply: .success(
          .usersFound([
            ItemResult(id: .email("b@x.org"), .success(person)),
            ItemResult(
              id: .phone("1"),
              .failure(CloudError(.unknownItem, "no account belongs to this person"))),
            ItemResult(id: .email("b@x.org"), .success(person)),
          ]))),
      Case(
        request: .fetchZones(nil),
        answer: #"""
          {"zones":[{"zoneID":{"zoneName":"_defaultZone","ownerRecordName":"_u","zoneType":"DEFAULT_ZONE"}},
          {"zoneID":{"zoneName":"Notes","ownerRecordName":"_u"},"syncToken":"AQI=","atomic":true}]}
          """#,
        reply: .success(
          .zones([
            ItemResult(id: .default, .success(Zone(id: .default))),
            ItemResult(
              id: .notes, .success(Zone(id: .notes, capabilities: .custom, token: token))),
          ]))),
    ]
  }

  /// Proves WS-19, WS-20, WS-21, WS-38, WS-45, WS-57, WS-58, WS-60, WS-66, WS-75, WS-76, WS-78,
  /// WS-79, WS-80, X6.
  @Test("Answers in the format of Apple's service are understood")
  func appleServiceAnswersAreUnderstood() throws {
    var faults: [String] = []
    for each in Self.feeds + Self.records + Self.people + Self.others {
      let client = Notation(container: "iCloud.c", database: each.database, isExact: false)
      let clientRequest = ClientRequest(each.request, client)
      let json = try JSON(parsing: Array(each.answer.utf8))
      let reply = Result { () throws(CloudError) in try clientRequest?.reply(to: json) }
      if reply != each.reply.map({ $0 }) {
        faults.append(
          "\(clientRequest?.endpoint.rawValue ?? "nothing"): "
            + RoundTrip.difference("\(reply)", "\(each.reply.map { Optional($0) })"))
      }
    }
    #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
  }
}
