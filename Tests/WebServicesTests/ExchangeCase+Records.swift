import CloudProtocol
import Records
import WebServices

extension ExchangeCase {
  private static func save(
    _ name: String, in zone: ZoneID = .notes, type: String = "Note", tag: String? = nil,
    _ policy: SavePolicy = .changedKeys, clears: Bool = false, _ changes: (String, FieldValue?)...
  ) -> RecordSave {
    var save = RecordSave(
      id: .note(name, in: zone), type: type, changeTag: tag.map { ChangeTag($0) },
      changes: changes.map { RecordSave.Change(key: $0.0, field: $0.1.map { Field($0) }) })
    save.policy = policy
    save.clearsOtherFields = clears
    return save
  }

  private static func modify(
    _ save: [RecordSave], _ delete: [RecordID] = [], atomic: Bool = true,
    fields: FieldSelection = .all
  ) -> CloudRequest {
    .modifyRecords(ModifyRecords(save: save, delete: delete, isAtomic: atomic, fields: fields))
  }

  /// One `forceUpdate` of the field `f`, in Notes.
  private static func field(_ value: String) -> String {
    #"{"zoneID":{"zoneName":"Notes"},"operations":[{"operationType":"forceUpdate","record":"#
      + #"{"recordName":"n","recordType":"Note","fields":{"f":\#(value)}}}]}"#
  }

  private static let checksum = #"{"fileChecksum":"c","size":3,"receipt":"r"}"#

  private static let foreign =
    #"{"fileChecksum":"c","size":3,"referenceChecksum":"d","wrappingKey":"w","receipt":"r"}"#

  /// What a client says of a field, and the value it sets.
  private static let values: [(String, FieldValue?)] = [
    // without a type
    (#"{"value":"x"}"#, .string("x")), (#"{"value":7}"#, .int64(7)),
    (#"{"value":7.5}"#, .double(7.5)),
    (#"{"value":["a","b"]}"#, .list([.string("a"), .string("b")])),
    (#"{"value":[]}"#, .list([])), (#"{"value":[1,2]}"#, .list([.int64(1), .int64(2)])),
    (#"{"value":[1,0.5]}"#, .list([.double(1), .double(0.5)])),
    (#"{"value":[0.5,1]}"#, .list([.double(0.5), .double(1)])),
    (
      #"{"value":{"recordName":"m","action":"NONE"}}"#,
      .reference(Reference(target: .note("m"), action: .none))
    ),
    (
      #"{"value":{"latitude":1,"longitude":2.5}}"#, .location(Location(latitude: 1, longitude: 2.5))
    ),
    (#"{"value":\#(checksum)}"#, .asset(Asset(checksum: "c", size: 3, receipt: "r"))),
    // with one
    (#"{"value":"x","type":"STRING"}"#, .string("x")),
    (#"{"value":"7","type":"INT64"}"#, .int64(7)),
    (#"{"value":"-9223372036854775808","type":"INT64"}"#, .int64(.min)),
    (#"{"value":1,"type":"DOUBLE"}"#, .double(1)),
    (#"{"value":"1e3","type":"DOUBLE"}"#, .double(1000)),
    (#"{"value":-0.0,"type":"DOUBLE"}"#, .double(-0.0)),
    (#"{"value":978307200000,"type":"TIMESTAMP"}"#, .date(Timestamp(secondsSinceReferenceDate: 0))),
    (
      #"{"value":"978307200000","type":"TIMESTAMP"}"#,
      .date(Timestamp(secondsSinceReferenceDate: 0))
    ),
    (
      #"{"value":978307200000.0,"type":"TIMESTAMP"}"#,
      .date(Timestamp(secondsSinceReferenceDate: 0))
    ),
    (#"{"value":"AQID","type":"BYTES"}"#, .bytes([1, 2, 3])),
    (#"{"value":"","type":"BYTES"}"#, .bytes([])),
    (#"{"value":"AQ==","type":"ENCRYPTED_BYTES"}"#, .bytes([1])),
    (
      #"""
      {"value":{"recordName":"m","action":"DELETE_SELF","zoneID":{"zoneName":"Z"}},"type":"REFERENCE"}
      """#,
      .reference(Reference(target: .note("m", in: ZoneID(name: "Z")), action: .deleteSelf))
    ),
    (
      #"""
      {"value":{"recordName":"m","zoneID":{"zoneName":"Z","ownerRecordName":"_alice"}},"type":"REFERENCE"}
      """#,
      .reference(Reference(target: .note("m", in: ZoneID(name: "Z")), action: .none))
    ),
    (
      #"{"value":\#(checksum),"type":"ASSETID"}"#,
      .asset(Asset(checksum: "c", size: 3, receipt: "r"))
    ),
    (
      #"{"value":\#(checksum),"type":"ASSET"}"#,
      .asset(Asset(checksum: "c", size: 3, receipt: "r"))
    ),
    (
      #"{"value":\#(foreign),"type":"ASSETID"}"#,
      .asset(Asset(checksum: "c", size: 3, receipt: "r"))
    ),
    (
      #"""
      {"value":{"latitude":1,"longitude":2.5,"timestamp":978307200000,"altitude":4},"type":"LOCATION"}
      """#,
      .location(Location(latitude: 1, longitude: 2.5, altitude: 4))
    ),
    (#"{"value":[1,2.5],"type":"DOUBLE_LIST"}"#, .list([.double(1), .double(2.5)])),
    (#"{"value":["AQ=="],"type":"BYTES_LIST"}"#, .list([.bytes([1])])),
    (
      #"{"value":[978307200000],"type":"TIMESTAMP_LIST"}"#,
      .list([.date(Timestamp(secondsSinceReferenceDate: 0))])
    ),
    (#"{"value":[],"type":"EMPTY_LIST"}"#, .list([])),
    (#"{"value":["a"],"type":"UNKNOWN_LIST"}"#, .list([.string("a")])),
    // nothing
    (#"{"value":null}"#, nil), (#"{"type":"TIMESTAMP"}"#, nil), ("{}", nil),
    (#"{"value":null,"type":"STRING"}"#, nil), (#"{"value":null,"type":"NONSENSE"}"#, nil),
  ]

  /// What a client may not say of a field, and what names it.
  private static let unfit: [(String, String)] = [
    (#"{"value":1.5,"type":"TIMESTAMP"}"#, "Invalid value, expected type TIMESTAMP."),
    (#"{"value":"1.5","type":"TIMESTAMP"}"#, "Invalid value, expected type TIMESTAMP."),
    (#"{"value":1e300,"type":"TIMESTAMP"}"#, "Invalid value, expected type TIMESTAMP."),
    (#"{"value":{},"type":"TIMESTAMP"}"#, "Invalid value, expected type TIMESTAMP."),
    (#"{"value":1,"type":"STRING"}"#, "expected type STRING"),
    (#"{"value":"x","type":"INT64"}"#, "expected type INT64"),
    (#"{"value":1.5,"type":"INT64"}"#, "expected type INT64"),
    (#"{"value":9223372036854775808,"type":"INT64"}"#, "expected type INT64"),
    (#"{"value":true,"type":"INT64"}"#, "expected type INT64"),
    (#"{"value":"nan","type":"DOUBLE"}"#, "expected type DOUBLE"),
    (#"{"value":"0x1","type":"DOUBLE"}"#, "expected type DOUBLE"),
    (#"{"value":"*","type":"BYTES"}"#, "expected type BYTES"),
    (#"{"value":"AQ=","type":"BYTES"}"#, "expected type BYTES"),
    (#"{"value":"A","type":"BYTES"}"#, "expected type BYTES"),
    (#"{"value":"AQ==AQ==","type":"BYTES"}"#, "expected type BYTES"),
    (#"{"value":" AQ==","type":"BYTES"}"#, "expected type BYTES"),
    (#"{"value":"AQ\u0000=","type":"BYTES"}"#, "expected type BYTES"),
    (#"{"value":[1],"type":"BYTES"}"#, "expected type BYTES"),
    (#"{"value":"x","type":"REFERENCE"}"#, "expected type REFERENCE"),
    (#"{"value":{},"type":"REFERENCE"}"#, "'recordName'"),
    (#"{"value":{"recordName":1},"type":"REFERENCE"}"#, "'recordName'"),
    (#"{"value":{"recordName":"m","action":"X"}}"#, "'action'"),
    (#"{"value":{"recordName":"m","action":1}}"#, "'action'"),
    (#"{"value":{"recordName":"m","zoneID":"Z"}}"#, "zone ID"),
    (#"{"value":7,"type":"ASSETID"}"#, "expected type ASSETID"),
    (#"{"value":{"size":3},"type":"ASSETID"}"#, "'fileChecksum'"),
    (#"{"value":{"fileChecksum":"c"},"type":"ASSETID"}"#, "'size'"),
    (#"{"value":{"fileChecksum":"c","size":-1},"type":"ASSETID"}"#, "'size'"),
    (#"{"value":{"fileChecksum":"c","size":1.5},"type":"ASSETID"}"#, "'size'"),
    (#"{"value":{"fileChecksum":"c","size":3,"receipt":1},"type":"ASSETID"}"#, "'receipt'"),
    (#"{"value":{"latitude":1},"type":"LOCATION"}"#, "expected type LOCATION"),
    (#"{"value":{"latitude":1,"longitude":"x"},"type":"LOCATION"}"#, "expected type LOCATION"),
    (
      #"{"value":{"latitude":1,"longitude":2,"speed":[]},"type":"LOCATION"}"#,
      "expected type LOCATION"
    ),
    (
      #"{"value":{"latitude":1,"longitude":2,"timestamp":0.5},"type":"LOCATION"}"#,
      "expected type LOCATION"
    ),
    (#"{"value":"x","type":"STRING_LIST"}"#, "expected type STRING_LIST"),
    (#"{"value":[1],"type":"STRING_LIST"}"#, "expected type STRING"),
    (#"{"value":[null],"type":"STRING_LIST"}"#, "expected type STRING_LIST"),
    (#"{"value":[[]],"type":"STRING_LIST"}"#, "expected type STRING_LIST"),
    (#"{"value":[1,"a"]}"#, "expected type INT64"),
    (#"{"value":[1,"a",0.5]}"#, "expected type DOUBLE"), (#"{"value":[[1]]}"#, "expected type"),
    (#"{"value":true}"#, "fits no type"), (#"{"value":{}}"#, "fits no type"),
    (
      #"{"value":1,"type":"NONSENSE"}"#,
      "the field type 'NONSENSE' is unknown; it must be one of STRING, INT64"
    ),
    (#"{"value":1,"type":7}"#, "'type'"),
    (#"{"value":1,"isEncrypted":1}"#, "'isEncrypted'"), ("7", "must be an object"),
    ("[]", "must be an object"), ("null", "must be an object"),
  ]

  /// A save of one field, for every way to say it.
  static var fields: [ExchangeCase] {
    return values.map {
      ExchangeCase(
        $0.0, .recordsModify, field($0.0), modify([save("n", .changedKeys, ("f", $0.1))]))
    }
      + unfit.map { ExchangeCase(.recordsModify, refuses: field($0.0), $0.1) }
      + unfit.map { ExchangeCase(.recordsModify, refuses: field($0.0), "Field 'f'") }
  }

  static let modifications: [ExchangeCase] = [
    ExchangeCase(
      "Apple's example of a new record", .recordsModify,
      #"""
      {"operations":[{"operationType":"create","record":{"recordType":"Note","fields":{"b":{"value":"x"},"a":{"value":1}}}}]}
      """#,
      modify([
        save(
          "new1", in: .default, .ifServerRecordUnchanged, ("a", .int64(1)), ("b", .string("x")))
      ])),
    ExchangeCase(
      "every operation, in one zone, with a change tag where one is needed", .recordsModify,
      #"""
      {"zoneID":{"zoneName":"Notes","ownerRecordName":"_alice"},"atomic":false,"operations":[
       {"operationType":"create","record":{"recordName":"1","recordType":"Note","recordChangeTag":"x"}},
       {"operationType":"forceDelete","record":{"recordName":"2"}},
       {"operationType":"update","record":{"recordName":"3","recordType":"Note","recordChangeTag":"e"}},
       {"operationType":"replace","record":{"recordName":"4","recordType":"Note","recordChangeTag":"1e"}},
       {"operationType":"delete","record":{"recordName":"5","recordChangeTag":"25d"}},
       {"operationType":"forceUpdate","record":{"recordName":"6","recordType":"Note"}},
       {"operationType":"forceReplace","record":{"recordName":"7","recordType":"Note","recordChangeTag":"2"}}]}
      """#,
      {
        var request = ModifyRecords(
          save: [
            save("1", .ifServerRecordUnchanged), save("3", tag: "e", .ifServerRecordUnchanged),
            save("4", tag: "1e", .ifServerRecordUnchanged, clears: true), save("6"),
            save("7", tag: "2", clears: true),
          ], delete: [.note("2"), .note("5")], isAtomic: false)
        request.deleteTags[.note("5")] = ChangeTag("25d")
        return .modifyRecords(request)
      }()),
    ExchangeCase(
      "a zone in each record, as pyicloud and OpenCloudKit say it", .recordsModify,
      #"""
      {"operations":[{"operationType":"forceUpdate","record":{"recordName":"n","recordType":"Note",
      "zoneID":{"zoneName":"Notes"},"fields":{}}}],"zoneID":{"zoneName":"Other"},"atomic":true}
      """#, modify([save("n")])),
    ExchangeCase(
      "an owner under another name, as MistKit says it", .recordsModify,
      #"{"zoneID":{"zoneName":"Notes","ownerName":"_bob"},"operations":[]}"#, in: .shared,
      modify([])),
    ExchangeCase(
      "a share for a record, in the words of the archived reference", .recordsModify,
      #"""
      {"zoneID":{"zoneName":"Notes"},"operations":[{"operationType":"create","record":{
      "recordName":"s","recordType":"cloudkit.share","forRecord":{"recordName":"n","recordChangeTag":"1"},
      "publicPermission":"READ_ONLY","participants":[{"participantId":"p","type":"USER",
      "permission":"READ_WRITE","acceptanceStatus":"INVITED",
      "userIdentity":{"lookupInfo":{"emailAddress":"bob@example.com"}}}]}}]}
      """#, share(.privateUser, .pending, rootTag: "1")),
    ExchangeCase(
      "a share for a record, in newer words", .recordsModify,
      #"""
      {"zoneID":{"zoneName":"Notes"},"operations":[{"operationType":"create","record":{
      "recordName":"s","recordType":"cloudkit.share","forRecord":{"recordName":"n"},
      "publicPermission":"READ_ONLY","participants":[{"participantId":"p","type":"PUBLIC_USER",
      "permission":"READ_WRITE","acceptanceStatus":"PENDING",
      "userIdentity":{"lookupInfo":{"emailAddress":"bob@example.com"}}}]}}]}
      """#, share(.publicUser, .pending)),
    ExchangeCase(
      "a parent that is set, and one that is cleared", .recordsModify,
      #"""
      {"zoneID":{"zoneName":"Notes"},"operations":[
      {"operationType":"forceUpdate","record":{"recordName":"1","recordType":"Note","parent":{"recordName":"p"}}},
      {"operationType":"forceUpdate","record":{"recordName":"2","recordType":"Note","parent":null}}]}
      """#,
      {
        var (first, second) = (save("1"), save("2"))
        first.parent = .set(.note("p"))
        second.parent = .set(nil)
        return modify([first, second])
      }()),
    ExchangeCase(
      "no fields in the answer", .recordsModify, #"{"operations":[],"desiredKeys":[]}"#,
      modify([], fields: .none)),
    ExchangeCase(
      "some fields in the answer", .recordsModify,
      #"{"operations":[],"desiredKeys":["a","b"],"numbersAsStrings":true}"#,
      modify([], fields: .keys(["a", "b"]))),
    ExchangeCase(
      "all fields in the answer", .recordsModify,
      #"{"operations":[],"desiredKeys":null,"zoneID":null,"atomic":null}"#, modify([])),
  ]

  /// A share, and the save of its root that is added.
  private static func share(
    _ role: ShareRole, _ acceptance: ShareAcceptance, rootTag: String? = nil
  ) -> CloudRequest {
    var save = save("s", type: "cloudkit.share", .ifServerRecordUnchanged)
    save.sharing = ShareDetails(
      root: .note("n"), publicPermission: .readOnly,
      participants: [
        ShareParticipant(
          id: "p", identity: UserIdentity(lookup: .email("bob@example.com"), hasAccount: false),
          role: role, permission: .readWrite, acceptance: acceptance)
      ])
    var root = RecordSave(
      id: .note("n"), type: "", changeTag: rootTag.map { ChangeTag($0) }, changes: [])
    root.policy = rootTag == nil ? .changedKeys : .ifServerRecordUnchanged
    return modify([save, root])
  }
}
