#if CLOUDSYNC_FUZZ
  import CloudProtocol
  import Foundation
  import Records
  import SyncMachine
  import WebServices

  @testable import CloudMachine
  @testable import CloudSync
  @testable import LoopbackServer

  /// The inputs that fuzzing begins with: whole values, so that it need not find out their form.
  enum FuzzSeeds {
    static func write(to folder: URL) throws {
      for (name, inputs) in seeds {
        let place = folder.appending(path: name)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        for (number, bytes) in inputs.enumerated() {
          let file = place.appending(path: "seed-" + (number < 10 ? "0" : "") + "\(number)")
          try Data(bytes).write(to: file)
        }
      }
    }

    private static var seeds: [(String, [[UInt8]])] {
      [
        ("http", http), ("json", json), ("exchange", exchange), ("reply", reply),
        ("state-log", stateLog), ("state", states), ("inspection", inspection),
        ("tokens", tokens), ("predicate", predicates), ("keyed", keyed), ("rows", rows),
        ("archive", archives), ("records", records),
      ]
    }

    private static func bytes(_ body: (inout ByteWriter) -> Void) -> [UInt8] {
      var writer = ByteWriter()
      body(&writer)
      return writer.bytes
    }

    private static func joined(_ choices: [UInt8], _ rest: [UInt8]) -> [UInt8] { choices + rest }

    // MARK: Values

    private static let zone = ZoneID(name: "Notes")
    private static let id = RecordID(name: "a", zone: zone)

    private static let record: Record = {
      var record = Record(id: id, type: "Note")
      record.changeTag = ChangeTag("7")
      record.parent = RecordID(name: "p", zone: zone)
      record.created = RecordStamp(
        time: Timestamp(secondsSinceReferenceDate: 1), user: UserID("_a"), device: "d")
      record.fields = fields
      return record
    }()

    private static let plain: Record = {
      var record = Record(id: id, type: "Note")
      record.fields = ["title": .string("t")]
      return record
    }()

    private static let fields: Fields = [
      "title": .string("text"), "count": .int64(-1), "ratio": .double(0.5),
      "date": .date(Timestamp(secondsSinceReferenceDate: 2)), "data": .bytes([1, 2]),
      "owner": .reference(Reference(target: id, action: .deleteSelf)),
      "file": .asset(Asset(checksum: "ab", size: 3)), "list": .list([.string("x"), .string("y")]),
      "place": .location(Location(latitude: 1, longitude: 2)),
    ]

    private static let state: SyncState = {
      var state = SyncState()
      for step in steps { state.apply(step) }
      return state
    }()

    private static let steps: [StateChange] = [
      .setUser(UserID("_a")), .setDatabaseToken(ChangeToken(bytes: [1, 2])),
      .setZoneToken(zone, ChangeToken(bytes: [3])), .setZoneChanged(zone, true),
      .setZoneExpired(ZoneID(name: "b"), true), .setNeedsFetch(true),
      .setHasUntrackedChanges(true), .setSubscription(SubscriptionID("s")),
      .addRecord(PendingChange(.save, id)),
      .addRecord(PendingChange(.delete, RecordID(name: "b", zone: zone))),
      .addZone(PendingChange(.save, zone)),
    ]

    private static let query = Query(
      recordType: "Note",
      filters: [Query.Filter(key: "title", comparator: .equals, value: .string("t"))],
      sorts: [Query.Sort(key: "count", ascending: true)])

    private static let subscription = Subscription(
      id: SubscriptionID("s"), kind: .zone(zone, recordType: "Note"))

    private static let person = UserIdentity(user: UserID("_b"), hasAccount: true)

    private static let share = ShareDetails(
      root: id,
      participants: [
        ShareParticipant(
          id: "1", identity: person, role: .owner, permission: .readWrite, acceptance: .accepted)
      ])

    private static let metadata = ShareMetadata(
      container: "iCloud.a", share: plain, rootID: id, owner: person, role: .owner,
      acceptance: .accepted, permission: .readWrite)

    // MARK: Inputs

    private static var http: [[UInt8]] {
      [
        "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "POST /a?b=c HTTP/1.1\r\nHost: localhost:80\r\nContent-Length: 3\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
          + "1;x\r\na\r\n0\r\nT: v\r\n\r\n",
        "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /b HTTP/1.0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n ",
        "OPTIONS * HTTP/1.1\r\nHost: localhost\r\nOrigin: http://a.test\r\n\r\n",
        "\r\nGET /%41 HTTP/1.1\r\nHost: h\r\nSec-Fetch-Site: cross-site\r\n\r\n",
        "GET / HTTP/2.0\r\n\r\n", "GET / HTTP/1.1\nHost: h\n\n",
        "POST /database/1/iCloud.a/development/private/records/modify HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET /control?name=a&count=1 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
      ].enumerated().map { joined([UInt8($0 % 2), 9], Array($1.utf8)) }
    }

    private static let texts = [
      "null", "[true,false,null]", "{\"key\":\"value\"}", "-0", "0.5e-3", "9223372036854775807",
      "\"\\u00e9\\ud83d\\ude00\\n\"", "[[[]]]", "{\"a\":{\"b\":[1,2.0,\"x\"]}}", " [ 1 , 2 ] ",
      "1e308", "\"\\u2028\\u0085\\u007f\"", "-9223372036854775809",
    ]

    private static var json: [[UInt8]] { texts.map { Array($0.utf8) } }

    private static let notation = Notation(container: "iCloud.test", database: .private)

    private static var requests: [CloudRequest] {
      [
        .fetchDatabaseChanges(FetchDatabaseChanges(since: ChangeToken(bytes: [1]))),
        .fetchZoneChanges(FetchZoneChanges(zone: zone, since: nil, limit: 5)),
        .fetchZones([zone]), .modifyZones(ModifyZones(save: [zone], delete: [ZoneID(name: "b")])),
        .fetchRecords(FetchRecords(ids: [id], fields: .keys(["title"]))),
        .modifyRecords(ModifyRecords(save: [RecordSave(record)], delete: [id])),
        .modifyRecords(ModifyRecords(save: [RecordSave(plain)], policy: .changedKeys)),
        .fetchSubscriptions([SubscriptionID("s")]),
        .modifySubscriptions(ModifySubscriptions(save: [subscription])),
        .queryRecords(QueryRecords(query: query, zone: zone, limit: 3)),
        .resolveShares(ResolveShares(urls: ["https://www.icloud.com/share/a"])),
        .acceptShares(["https://www.icloud.com/share/a"]),
        .findUsers([.email("a@b.test"), .phone("1"), .user(UserID("_b"))]),
      ]
    }

    private static var exchange: [[UInt8]] {
      requests.compactMap { request in
        guard let clientRequest = ClientRequest(request, notation), let body = clientRequest.body,
          let index = Endpoint.allCases.firstIndex(of: clientRequest.endpoint)
        else { return nil }
        return joined([UInt8(index), 4], body.bytes)
      }
    }

    private static var reply: [[UInt8]] {
      let item = notation.json(record).text
      let simple = notation.json(plain).text
      let subscription = notation.json(subscription).text
      let place = "{\"zoneID\":{\"zoneName\":\"Notes\"}}"
      let other = "{\"zoneID\":{\"zoneName\":\"b\"},\"deleted\":true}"
      let error = "{\"recordName\":\"a\",\"serverErrorCode\":\"NOT_FOUND\",\"reason\":\"r\"}"
      let texts: [(UInt8, String)] = [
        (0, "{\"userRecordName\":\"_a\"}"),
        (1, "{\"zones\":[\(place)],\"syncToken\":\"AQ==\",\"moreComing\":false}"),
        (
          2,
          "{\"zones\":[{\"zoneID\":{\"zoneName\":\"Notes\"},\"records\":[\(simple)],"
            + "\"syncToken\":\"AQ==\",\"moreComing\":true}]}"
        ),
        (3, "{\"zones\":[\(place)]}"), (4, "{\"zones\":[\(place)]}"),
        (5, "{\"zones\":[\(place),\(other)]}"), (6, "{\"records\":[\(simple)]}"),
        (6, "{\"records\":[\(item)]}"), (6, "{\"records\":[\(error)]}"),
        (7, "{\"records\":[\(simple),{\"recordName\":\"b\",\"deleted\":true}]}"),
        (8, "{\"subscriptions\":[\(subscription)]}"), (9, "{\"subscriptions\":[\(subscription)]}"),
        (10, "{\"subscriptions\":[\(subscription),{\"subscriptionID\":\"t\",\"deleted\":true}]}"),
        (11, "{\"records\":[\(simple)],\"continuationMarker\":\"AQ==\"}"),
        (
          15,
          "{\"ck\":{\"cid\":\"iCloud.a\",\"qry\":{\"sid\":\"s\",\"dbs\":2,\"rid\":\"a\",\"fo\":1}}}"
        ),
        (16, error),
      ]
      return texts.map { joined([$0, 4], Array($1.utf8)) }
    }

    private static var stateLog: [[UInt8]] {
      let log: [UInt8] =
        LogFormat.header + LogFormat.record(.snapshot, [1, 2])
        + LogFormat.record(.entry, StateChange.encoded(steps))
      var inputs: [[UInt8]] = [[0]]
      for bytes in [log, LogFormat.header, Array(log.dropLast(3))] {
        inputs.append(joined([0], bytes))
      }
      for damage in UInt8(0)..<4 {
        inputs.append(joined([1, damage], [0, 9, 1, 3, 1, 2, 3, 0, 2, 4, 5, 1, 1, 6]))
        inputs.append(joined([1, damage], [1, 3, 0, 0, 1, 0, 1, 4, 9, 9, 9, 9]))
      }
      return inputs
    }

    /// A blob without what is around it.
    private static func payload(_ state: SyncState) -> [UInt8] {
      var reader = ByteReader(state.encoded())
      guard (try? reader.raw(6)) != nil, let payload = try? reader.byteArray() else { return [] }
      return payload
    }

    private static var states: [[UInt8]] {
      var small = SyncState()
      small.user = UserID("_a")
      var inputs: [[UInt8]] = steps.map { joined([0, 0, 0], StateChange.encoded([$0])) }
      inputs.append(joined([0, 0, 0], StateChange.encoded(steps)))
      for state in [SyncState(), small, state] {
        inputs.append(joined([10, 0, 9], payload(state)))
        inputs.append(joined([11, 1, 9], payload(state)))
        inputs.append(joined([8, 0, 0], payload(state)))
      }
      inputs.append(joined([9, 0, 0], state.encoded()))
      return inputs
    }

    private static var inspection: [[UInt8]] {
      let blob = state.encoded()
      let base64 = Data(blob).base64EncodedString()
      var small = SyncState()
      small.user = UserID("_a")
      let tiny = Data(small.encoded()).base64EncodedString()
      let list: [String: Any] = ["state": Data(blob), "more": [1, "x"]]
      let formats: [PropertyListSerialization.PropertyListFormat] = [.binary, .xml]
      let lists = formats.compactMap {
        try? PropertyListSerialization.data(fromPropertyList: list, format: $0, options: 0)
      }
      return [
        blob, small.encoded(), blob.dropLast(4),
        LogFormat.header + LogFormat.record(.snapshot, blob),
        LogFormat.header + LogFormat.record(.entry, StateChange.encoded(steps)),
        Array("{\"data\":\"\(base64)\"}".utf8), Array("{\"data\":\"\(tiny)\"}".utf8),
        Array("[{\"a\":\"\(tiny)\"},{\"b\":\"\(tiny)\"}]".utf8), Array("\"\(tiny)\"".utf8),
        Array("{\"data\":\"\(base64.dropLast(9))".utf8),
        Array("<plist><dict><key>a</key><data>\(tiny)</data></dict></plist>".utf8),
        joined([0], payload(small)), joined([0], payload(state)),
      ] + lists.map { [UInt8]($0) }
    }

    private static var tokens: [[UInt8]] {
      let place = bytes {
        $0.write(variable: 9)
        $0.write(variable: 1)
      }
      let visit = bytes { for _ in 0..<4 { $0.write(variable: 300) } }
      let cursor = bytes {
        $0.write(count: 0)
        $0.write(id)
      }
      var inputs: [[UInt8]] = []
      for feed in UInt8(0)..<5 {
        inputs.append(joined([0, feed], place))
        inputs.append(joined([1, feed], place))
        inputs.append(joined([1, feed], visit))
      }
      inputs.append(joined([2], cursor))
      inputs.append(joined([3], cursor))
      inputs.append(joined([4], Array("abc".utf8)))
      inputs.append([5, 1, 2, 3])
      return inputs
    }

    private static var predicates: [[UInt8]] {
      [
        "a == 7", "title == \"x\"", "a > 1 AND b < 2.5", "NOT (a == 1 OR b != 2)",
        "title BEGINSWITH[cd] 'x'", "%K == %@", "a IN {1, 2, 3}", "ANY c == 'x'",
        "a BETWEEN {1, 9}", "c[0] == \"x\" && c[SIZE] > 1", "e.f = 1", "SELF == $v",
        "TRUEPREDICATE", "d < now()", "a + 2 * -3 ** 2 = 5", "title LIKE '*e?'",
        "self contains 'x'", "CAST(1.5, \"NSDate\") <= d", "title.length > 2 || nil = e",
        "NONE c ENDSWITH %@", "lowercase(title) == 'a'", "a == #and",
      ].enumerated().map { joined([UInt8($0 % 4)], Array($1.utf8)) }
    }

    private static var keyed: [[UInt8]] {
      var inputs: [[UInt8]] = []
      let whole = bytes { writer in
        writer.write(true)
        writer.write(plain)
        writer.write(list: ["title"]) { $0.write($1) }
        writer.write(false)
        writer.write(optional: Fields?.none) { $0.write($1) }
      }
      inputs.append(joined([0, 0], whole))
      let system = bytes { writer in
        writer.write(false)
        writer.write(record)
      }
      inputs.append(joined([1, 0], system))
      inputs.append(joined([3, 0], bytes { $0.write(id) }))
      inputs.append(joined([4, 0], bytes { $0.write(zone) }))
      let reference = FieldValue.reference(Reference(target: id, action: .none))
      inputs.append(joined([6, 0], bytes { $0.write(reference) }))
      let asset = FieldValue.asset(Asset(checksum: "ab", size: 3))
      inputs.append(joined([7, 0], bytes { $0.write(asset) }))
      inputs.append(joined([8, 0], bytes { $0.write([1, 2, 3] as [UInt8]) }))
      let place = FieldValue.location(Location(latitude: 1, longitude: 2))
      inputs.append(joined([9, 0], bytes { $0.write(place) }))
      inputs.append(joined([10, 0], bytes { $0.write(subscription) }))
      let query = bytes { writer in
        writer.write("Note")
        writer.write(PredicateTree.constant(true))
        writer.write(false)
        writer.write(count: 0)
      }
      inputs.append(joined([11, 0], query))
      inputs.append(joined([14, 0], bytes { $0.write(metadata) }))
      inputs.append(joined([15, 0], bytes { $0.write(share.participants[0]) }))
      inputs.append(joined([16, 0], bytes { $0.write(person) }))
      inputs.append(joined([17, 0], bytes { $0.write(UserLookup.email("a@b.test")) }))
      // Apple's form: a record's type and ID, a zone, a reference, a location.
      inputs.append([0, 1, 2, 0, 0, 1, 0x4E, 1, 4, 0, 1, 14, 0, 1, 0x61])
      inputs.append([4, 1, 1, 12, 0, 1, 0x7A])
      inputs.append([6, 1, 1, 16, 4, 0, 1, 14, 0, 1, 0x61])
      inputs.append([9, 1, 1, 22, 3, 0x40, 0, 0, 0, 0, 0, 0, 0])
      return inputs
    }

    /// What a seal closes, without the seal.
    private static func open(_ sealed: [UInt8]) -> [UInt8] { Array(sealed.dropLast(4)) }

    private static var rows: [[UInt8]] {
      let database = DatabaseID(
        container: "iCloud.a", environment: .development, scope: .private, owner: UserID("_a"))
      let membership = ShareMembership(share: "s", since: 3)
      let time = Timestamp(secondsSinceReferenceDate: 1)
      let whole = RecordRow(id: id, type: "Note", record: record, changedAt: 9, device: "d")
      let shared = RecordRow(
        id: id, type: "Note", record: plain, changedAt: 9, device: nil, memberships: [membership])
      let gone = RecordRow(id: id, type: "Note", record: nil, changedAt: 9, device: nil)
      let account = AccountRow(
        name: "a", user: UserID("_a"), quota: 5, person: AccountRow.Person(email: "a@b.test"))
      let zones = [
        ZoneRow(id: zone, incarnation: 7, changedAt: 9),
        ZoneRow(
          id: zone, deletion: ZoneDeletionReason.allCases.first, incarnation: 7, changedAt: 9,
          sharing: ZoneSharing(
            hierarchies: 1, isZoneWide: true, viewers: [UserID("_b")], memberships: [membership])),
      ]
      let row = DatabaseRow(
        id: database, incarnation: 1, sequence: 2, latest: time, trimmedThrough: 0, byteCount: 3)
      let replies: [CloudReply] = [
        .currentUser(UserID("_a")), .records([ItemResult(id: id, .success(record))]),
        .zones([ItemResult(id: zone, .failure(CloudError(.zoneNotFound, "gone")))]),
        .queried(QueryPage(records: [plain], cursor: nil)), .assetContent([1, 2]),
      ]
      var inputs: [[UInt8]] = []
      for row in [whole, shared, gone] {
        inputs.append(joined([0, 0, 9], open(RecordBody.close(row))))
      }
      for account in [account, AccountRow(name: "a", user: UserID("_a"))] {
        inputs.append(joined([1, 0, 9], open(AccountBody.close(account))))
      }
      inputs.append(joined([2, 0, 9], open(DatabaseBody.close(row))))
      for zone in zones { inputs.append(joined([3, 0, 9], open(ZoneBody.close(zone)))) }
      inputs.append(joined([4, 0, 9], RecordBody.close(shared)))
      for reply in replies { inputs.append(joined([5, 0, 9], bytes { $0.write(reply) })) }
      return inputs
    }

    private static var archives: [[UInt8]] {
      let database = DatabaseID(
        container: "iCloud.a", environment: .development, scope: .private, owner: UserID("_a"))
      let time = Timestamp(secondsSinceReferenceDate: 1)
      let rows: [ArchiveRow] = [
        .account(AccountRow(name: "a", user: UserID("_a"), quota: 5)),
        .schema(SchemaRow(container: "iCloud.a", environment: .development, isClosed: true)),
        .database(
          DatabaseRow(
            id: database, incarnation: 1, sequence: 9, latest: time, trimmedThrough: 0,
            byteCount: 3)),
        .zone(ZoneRow(id: zone, incarnation: 7, changedAt: 9), database),
        .record(
          RecordRow(id: id, type: "Note", record: record, changedAt: 9, device: "d"), database),
        .record(
          RecordRow(
            id: RecordID(name: "b", zone: zone), type: "Note", record: nil, changedAt: 8,
            device: nil), database),
        .subscription(subscription, database),
        .file(checksum: "ab", content: [1, 2]),
        .receipt(
          Receipt(
            key: ReceiptKey(user: UserID("_a"), device: "d", requestID: "r"),
            reply: .currentUser(UserID("_a"))), place: 1),
      ]
      let lines = rows.map { $0.json.bytes }
      var inputs: [[UInt8]] = []
      for line in lines {
        inputs.append(joined([1], line))
        inputs.append(joined([0], line))
      }
      inputs.append(joined([0], Array(lines[..<5].joined(separator: [0x0A]))))
      return inputs
    }

    private static var records: [[UInt8]] {
      let push = CloudPush(
        container: "iCloud.a", database: .private, subscription: SubscriptionID("s"), zone: zone,
        query: QueryPush(record: id, reason: .created))
      var inputs: [[UInt8]] = []
      inputs.append(joined([0], bytes { $0.write(record) }))
      inputs.append(joined([0], bytes { $0.write(plain) }))
      inputs.append(joined([1], bytes { $0.write(fields) }))
      inputs.append(joined([1], bytes { $0.write(plain.fields) }))
      inputs.append(joined([3], bytes { $0.write(query) }))
      inputs.append(joined([4], bytes { $0.write(subscription) }))
      inputs.append(joined([5], bytes { $0.write(share) }))
      inputs.append(joined([6], bytes { $0.write(UserLookup.email("a")) }))
      inputs.append(joined([7], bytes { $0.write(metadata) }))
      inputs.append(joined([8], bytes { $0.write(push) }))
      for element in fields {
        inputs.append(joined([2], bytes { $0.write(element.field.value) }))
      }
      return inputs
    }
  }
#endif
