import CloudProtocol
import Records
import Testing

@testable import WebServices

/// Which texts are read without a tree of values: the reader of a tree would hide every mistake
/// that only makes direct reading give up.
@Suite("Texts that are read directly")
struct QuickReadingTests {
  private static let zone = ZoneID(name: "Notes")
  private static let notation = Notation(container: "c", database: .private)

  private static func id(_ name: String) -> RecordID { RecordID(name: name, zone: zone) }

  private static let place = Location(latitude: 1.5, longitude: -2)

  /// Fields of every kind, some encrypted, and some that are read as a tree.
  private static let fields: Fields = {
    var fields: Fields = [
      "a": .string("plain"), "b": .string("\"quoted\" \u{E9}\u{1F34E}"), "c": .int64(.min),
      "d": .int64(123_456_789_012_345_678), "e": .int64(-5), "f": .double(5), "g": .double(-0.0),
      "h": .double(.infinity), "i": .double(1e-300), "j": .bytes([]), "k": .bytes([1, 2, 3, 4]),
      "l": .date(Timestamp(secondsSinceReferenceDate: 1.25)),
      "m": .date(Timestamp(secondsSinceReferenceDate: 0.000_123)),
      "n": .list([.int64(1), .int64(2)]), "o": .location(place),
      "p": .reference(Reference(target: id("other"), action: .deleteSelf)), "q": .int64(0),
      "r": .double(.nan), "s": .int64(.max),
    ]
    fields["t"] = Field(.string("secret"), isEncrypted: true)
    fields["u"] = Field(.list([.string("secret")]), isEncrypted: true)
    return fields
  }()

  private static func stamp(_ seconds: Double, _ device: String?) -> RecordStamp {
    RecordStamp(
      time: Timestamp(secondsSinceReferenceDate: seconds), user: UserID("_u"), device: device)
  }

  private static let records: [Record] = {
    var full = Record(id: id("full"), type: "Note", changeTag: ChangeTag("a1"), fields: fields)
    full.created = stamp(1.5, "phone")
    full.modified = stamp(2.000_000_1, nil)
    full.parent = id("parent")
    full.share = id("share")
    var stamped = Record(id: id("stamped \"2\""), type: "Note", changeTag: ChangeTag("b"))
    stamped.created = stamp(3, "phone")
    stamped.modified = stamp(4, "phone")
    var elsewhere = Record(id: RecordID(name: "far", zone: ZoneID(name: "Z")), type: "Other")
    elsewhere.parent = RecordID(name: "near", zone: ZoneID(name: "Z"))
    return [full, stamped, elsewhere, Record(id: id("bare"), type: "Note")]
  }()

  /// The server's request for a client's request.
  private func exchange(
    _ client: ClientRequest, wantsToken: Bool
  ) throws -> ServerRequest {
    let path = ServicePath(
      container: "c", environment: .development, database: client.database,
      endpoint: client.endpoint)
    return try #require(
      try ServerRequest(
        path, text: client.text ?? [], notation: Self.notation, wantsToken: wantsToken,
        newName: { "new" }))
  }

  private static let token = ChangeToken(bytes: [7, 8])

  private static let answers: [(request: CloudRequest, reply: CloudReply)] = {
    let error = CloudError(.serverRecordChanged, "no", serverRecord: records[1])
    let saves = records.map { RecordSave($0) }
    let ids = records.map(\.id)
    let all = records.map { ItemResult(id: $0.id, .success($0)) }
    var mixed = all
    mixed[1] = ItemResult(id: ids[1], .failure(error))
    let gone = [
      ItemResult(id: id("x"), .success(Done())), ItemResult(id: id("y \""), .failure(error)),
      ItemResult(id: id("z"), .success(Done())),
    ]
    let modify = ModifyRecords(save: saves, delete: gone.map(\.id))
    let query = QueryRecords(
      query: Query(recordType: "Note"), zone: zone, cursor: nil, limit: nil, fields: .all)
    let changes = FetchZoneChanges(zone: zone, since: nil)
    func page(_ modified: [Record], _ deleted: [RecordDeletion], more: Bool) -> CloudReply {
      .zoneChanges(
        ZoneChangesPage(
          zone: zone, modified: modified, deleted: deleted, token: token, moreComing: more))
    }
    let deletions = ["x", "y \""].map { RecordDeletion(id: id($0), type: "Note") }
    return [
      (.modifyRecords(modify), .recordsModified(saved: mixed, deleted: gone)),
      (.modifyRecords(ModifyRecords(save: saves)), .recordsModified(saved: all, deleted: [])),
      (
        .modifyRecords(ModifyRecords(delete: gone.map(\.id))),
        .recordsModified(saved: [], deleted: gone)
      ),
      (.fetchRecords(FetchRecords(ids: ids)), .records(mixed)),
      (.fetchRecords(FetchRecords(ids: [ids[3]])), .records([all[3]])),
      (.queryRecords(query), .queried(QueryPage(records: records, cursor: nil))),
      (.queryRecords(query), .queried(QueryPage(records: [], cursor: nil))),
      (
        .queryRecords(query),
        .queried(QueryPage(records: [records[3]], cursor: QueryCursor(bytes: [1, 2])))
      ),
      (.fetchZoneChanges(changes), page([records[0], records[1]], deletions, more: true)),
      (.fetchZoneChanges(changes), page([], deletions, more: false)),
      (.fetchZoneChanges(changes), page([records[3]], [], more: false)),
      (.fetchZoneChanges(changes), page([], [], more: true)),
    ]
  }()

  @Test("Replies with every kind of field and item are read directly, with a token and without")
  func repliesAreReadDirectly() throws {
    for (number, (request, reply)) in Self.answers.enumerated() {
      let client = try #require(ClientRequest(request, Self.notation))
      for wantsToken in [false, true] {
        let server = try exchange(client, wantsToken: wantsToken)
        let zone = Zone(id: Self.zone, capabilities: .custom, token: Self.token)
        let outcomes: [ServerRequest.Outcome] = server.requests.map { request in
          if case .fetchZones = request {
            return .success(.zones([ItemResult(id: Self.zone, .success(zone))]))
          }
          return .success(reply)
        }
        let text = try server.text(outcomes)
        let found = client.quickReply(to: text)
        // A number that is none is unlike itself.
        #expect(
          found.map { "\($0)" } == "\(reply)",
          "\(number) \(wantsToken): \(String(decoding: text, as: UTF8.self))")
        #expect(client.quickReply(to: text + [0x20]) == nil)
        #expect(client.quickReply(to: text.dropLast()) == nil)
      }
    }
  }

  @Test("Requests with every kind of operation are read directly")
  func requestsAreReadDirectly() throws {
    var update = RecordSave(Self.records[0])
    update.changes.append(.init(key: "v", field: nil))
    var replace = RecordSave(Self.records[1])
    replace.clearsOtherFields = true
    var moved = RecordSave(Self.records[3])
    moved.parent = .set(nil)
    var forced = RecordSave(Self.records[2])
    forced.policy = .allKeys
    let delete = [Self.id("x"), Self.id("y \"")]
    var tagged = ModifyRecords(
      save: [update, replace, moved, forced], delete: delete, isAtomic: false,
      fields: .keys(["a", "b"]))
    tagged.deleteTags[delete[1]] = ChangeTag("t\"")
    for request in [
      tagged, ModifyRecords(save: [moved]), ModifyRecords(delete: delete),
      ModifyRecords(save: [forced], fields: FieldSelection.none), ModifyRecords(save: [update]),
    ] {
      let client = try #require(ClientRequest(.modifyRecords(request), Self.notation))
      let path = ServicePath(
        container: "c", environment: .development, database: .private, endpoint: client.endpoint)
      let text = try #require(client.text)
      let quick = ServerRequest(
        quickly: path, text: text, notation: Self.notation, wantsToken: false)
      let tree = try ServerRequest(
        path, body: JSON(parsing: text), notation: Self.notation, wantsToken: false,
        newName: { "new" })
      let found = try #require(quick, "\(String(decoding: text, as: UTF8.self))")
      #expect("\(found.requests)" == "\(try #require(tree).requests)")
      #expect(client.body?.bytes == text)
    }
  }

  @Test("A number of up to 18 digits is read at once, and others as JSON numbers")
  func numbersAreReadAtOnce() {
    for (text, value) in [
      ("0", 0), ("-1", -1), ("123456789012345678", 123_456_789_012_345_678), ("10x", 10),
      ("1234567890123456789", nil), ("-0", nil), ("00", nil), ("01", nil), ("-", nil), ("", nil),
      ("x", nil),
    ] as [(String, Int64?)] {
      let found = RecordReader.read(Array(text.utf8), Self.notation) { reader -> Int64? in
        let number = reader.integer()
        reader.position = text.utf8.count
        return number
      }
      #expect(found == value, "'\(text)'")
    }
  }
}
