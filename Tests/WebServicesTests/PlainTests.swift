import CloudProtocol
import Records
import Testing
import WebServices

@Suite("What CloudKit Web Services' JSON can't hold")
struct PlainTests {
  private static let plain = Notation(container: "c", database: .private, isExact: false)
  private static let exact = Notation(container: "c", database: .private)
  private static let id = RecordID(name: "n", zone: .default)

  private static func date(_ seconds: Double) -> FieldValue {
    .date(Timestamp(secondsSinceReferenceDate: seconds))
  }

  /// A value, how it is written without the extra member, and what is read of that; a text for a
  /// reason of a refusal.
  private static var losses: [(FieldValue, String, Result<FieldValue?, CloudError>)] {
    let far = Location(
      latitude: .nan, longitude: 1, altitude: .infinity,
      timestamp: .init(secondsSinceReferenceDate: 0.0004))
    let near = Location(latitude: 0, longitude: 1)
    let zone = ZoneID(name: "Z", owner: "_bob")
    func refused(_ type: String) -> Result<FieldValue?, CloudError> {
      .failure(CloudError(.invalidArguments, "Invalid value, expected type \(type)."))
    }
    return [
      // Times are rounded to whole milliseconds; those too far away clear the field.
      (date(0.0004), #"{"value":978307200000,"type":"TIMESTAMP"}"#, .success(date(0))),
      (date(0.0006), #"{"value":978307200001,"type":"TIMESTAMP"}"#, .success(date(0.001))),
      (date(-0.0), #"{"value":978307200000,"type":"TIMESTAMP"}"#, .success(date(0))),
      (date(1e300), #"{"value":null,"type":"TIMESTAMP"}"#, .success(nil)),
      (date(.nan), #"{"value":null,"type":"TIMESTAMP"}"#, .success(nil)),
      // A number that is none clears the field; in a list, the list is refused.
      (.double(.nan), #"{"value":null,"type":"DOUBLE"}"#, .success(nil)),
      (.double(.infinity), #"{"value":null,"type":"DOUBLE"}"#, .success(nil)),
      (
        .list([.double(1), .double(.nan)]), #"{"value":[1.0,null],"type":"DOUBLE_LIST"}"#,
        refused("DOUBLE_LIST")
      ),
      // A list has the type of its first value.
      (
        .list([.int64(1), .string("a")]), #"{"value":[1,"a"],"type":"INT64_LIST"}"#,
        refused("INT64")
      ),
      (
        .list([.list([.int64(1)])]), #"{"value":[[1]],"type":"INT64_LIST_LIST"}"#,
        refused("INT64_LIST_LIST")
      ),
      // Where a place is not a number it is zero.
      (
        .location(far),
        #"""
        {"value":{"latitude":0.0,"longitude":1.0,"altitude":0.0,"timestamp":978307200000},"type":"LOCATION"}
        """#,
        .success(.location(near))
      ),
      // A file's place on the device stays there; another owner is taken for the reader.
      (
        .asset(Asset(checksum: "c", size: 1, location: "/tmp/x")),
        #"{"value":{"fileChecksum":"c","size":1},"type":"ASSETID"}"#,
        .success(.asset(Asset(checksum: "c", size: 1)))
      ),
      (
        .reference(Reference(target: RecordID(name: "m", zone: zone), action: .none)),
        #"""
        {"value":{"recordName":"m","action":"NONE","zoneID":{"zoneName":"Z","ownerRecordName":"_bob","zoneType":"REGULAR_CUSTOM_ZONE"}},"type":"REFERENCE"}
        """#,
        .success(
          .reference(
            Reference(target: RecordID(name: "m", zone: ZoneID(name: "Z")), action: .none)))
      ),
    ]
  }

  /// Proves WS-18, WS-31.
  @Test("Plain JSON has only the known losses, and the extra member restores them")
  func extraMemberRestoresLostValues() throws {
    var faults: [String] = []
    for (value, text, left) in Self.losses {
      let field = Field(value, isEncrypted: true)
      let json = Self.plain.json(field, "k", of: Self.id)
      let wanted = text.dropLast() + #","isEncrypted":true}"#
      if json.text != wanted { faults.append("\(value) is written as \(json.text)") }
      let found = Result { () throws(CloudError) in try Self.plain.field(json, in: .default) }
      if found != left.map({ $0.map { Field($0, isEncrypted: true) } }) {
        faults.append("\(json.text) is read as \(found)")
      }
      let exact = Self.exact.json(field, "k", of: Self.id)
      if try Self.exact.field(exact, in: .default) != field { faults.append("lost \(exact.text)") }
      if !exact.text.contains(Notation.extra) { faults.append("no extra member: \(exact.text)") }
    }
    #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
  }

  /// Proves WS-31.
  @Test("A value that JSON can represent needs no extra member", arguments: DatabaseScope.allCases)
  func plainValuesNeedNoExtraMember(database: DatabaseScope) {
    var sampler = Sampler(seed: 9, isPlain: true, database: database)
    let notation = Notation(container: "c", database: database, user: UserID("_alice"))
    var faults: [String] = []
    for _ in 0..<300 {
      let text = notation.json(sampler.field(), "k", of: Self.id).text
      if text.contains(Notation.extra) { faults.append(text) }
    }
    #expect(faults.isEmpty, "\(faults.prefix(3))")
  }

  /// Proves WS-31.
  @Test("A damaged extra member is refused, and none of it is used")
  func damagedExtraMemberIsRefused() {
    let texts = [
      "", "*", "AQ", "AQ==", "/w==", "AAAAAAAAAAAAAAA=", "CQEJAQkBCQEJAQkBCQEBAA==", "CQD/", "BP//",
      "CAAA", "BgFh", "CP///////////w==", "CYCAgICAgICAgAE=",
    ]
    let taken = texts.filter { text in
      let json = JSON.members([
        "value": .integer(1), "type": .string("INT64"), Notation.extra: .string(text),
      ])
      do throws(CloudError) { _ = try Self.exact.field(json, in: .default) } catch {
        return error.code != .invalidArguments
      }
      return true
    }
    #expect(taken.isEmpty, "\(taken)")
  }

  /// Proves WS-27.
  @Test("Another service's upload answer is returned unchanged; this package's receipt is kept")
  func foreignUploadAnswerIsReturnedUnchanged() throws {
    let answer =
      #"{"wrappingKey":"w","fileChecksum":"c","receipt":"r","size":3,"referenceChecksum":"d"}"#
    let json = try JSON(parsing: Array(answer.utf8))
    let asset = try Self.plain.uploadedAsset(json)
    #expect(asset == Asset(checksum: "c", size: 3, receipt: answer))
    let field = Self.plain.json(Field(.asset(asset)), "k", of: Self.id)
    #expect(field.text == #"{"value":\#(answer),"type":"ASSETID"}"#)
    let own = try Self.exact.uploadedAsset(json)
    #expect(own == Asset(checksum: "c", size: 3, receipt: "r"))
  }

  /// Proves WS-73.
  @Test("Pushes are written in the format of the web service")
  func pushesUseWebServiceFormat() throws {
    let notation = Notation(
      container: "c", database: .private, user: UserID("_alice"), isExact: false)
    let id = SubscriptionID("s")
    let zone = ZoneID(name: "Z", owner: "_bob")
    let fields: Fields = ["t": .string("x"), "n": .double(.nan)]
    let cases: [(CloudPush, Subscription.NotificationInfo?, String)] = [
      (
        CloudPush(container: "iCloud.c", database: .private, subscription: id), nil,
        #"""
        {"aps":{"content-available":1},"ck":{"nid":"7","cid":"iCloud.c","met":{"sid":"s","dbs":2}}}
        """#
      ),
      (
        CloudPush(container: "c", database: .private, subscription: id, zone: .notes),
        Subscription.NotificationInfo(alertBody: "x", shouldBadge: true),
        #"""
        {"aps":{"alert":{"body":"x"},"badge":1,"content-available":1},"ck":{"nid":"7","cid":"c","fet":{"sid":"s","zid":"Notes","zoid":"_alice","dbs":2}}}
        """#
      ),
      (
        CloudPush(
          container: "c", database: .shared, subscription: id,
          query: QueryPush(
            record: RecordID(name: "n", zone: zone), reason: .updated, fields: fields)),
        Subscription.NotificationInfo(
          shouldSendContentAvailable: false,
          others: [
            "soundName": .string("default"), "alertLocalizationKey": .string("NEW"),
            "alertLocalizationArgs": .list([.string("t"), .string("n")]),
            "alertActionLocalizationKey": .string("OPEN"), "alertLaunchImage": .string("i.png"),
          ]),
        #"""
        {"aps":{"alert":{"loc-key":"NEW","loc-args":["t","n"],"action-loc-key":"OPEN","launch-image":"i.png"},"sound":"default"},"ck":{"nid":"7","cid":"c","qry":{"sid":"s","zid":"Z","zoid":"_bob","dbs":3,"rid":"n","fo":2,"af":{"n":null,"t":"x"}}}}
        """#
      ),
    ]
    var faults: [String] = []
    for (push, info, wanted) in cases {
      let text = notation.json(push, number: "7", info: info).text
      if text != wanted { faults.append(text) }
    }
    let refused = [
      #"{"ck":{"met":{"sid":"s"}}}"#, #"{"ck":{"met":{"dbs":0}}}"#, #"{"ck":{"met":{"dbs":256}}}"#,
      #"{"ck":{"qry":{"dbs":1,"rid":"r"}}}"#, #"{"ck":{"qry":{"dbs":1,"rid":"r","fo":4}}}"#,
      #"{"ck":{"fet":{"dbs":2,"zid":1}}}"#, #"{"ck":{"cloudsync":"*","met":{"dbs":1}}}"#,
      #"{"ck":{"cid":1,"met":{"dbs":1}}}"#,
    ]
    let nothing = ["{}", "null", "[]", #"{"ck":{}}"#, #"{"ck":1}"#, #"{"aps":{}}"#]
    for text in refused + nothing {
      let json = try JSON(parsing: Array(text.utf8))
      let push = Result { () throws(CloudError) in try notation.push(json) }
      let isRight =
        switch push {
        case .success(let push): push == nil && nothing.contains(text)
        case .failure(let error): error.code == .invalidArguments && refused.contains(text)
        }
      if !isRight { faults.append("\(text): \(push)") }
    }
    #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
  }
}
