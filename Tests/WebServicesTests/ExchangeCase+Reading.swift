import CloudProtocol
import Records
import WebServices

extension ExchangeCase {
  private static let bob = ZoneID(name: "Notes", owner: "_bob")

  private static func fetch(_ ids: [RecordID], _ fields: FieldSelection = .all) -> CloudRequest {
    .fetchRecords(FetchRecords(ids: ids, fields: fields))
  }

  static let lookups: [ExchangeCase] = [
    ExchangeCase(
      "by name", .recordsLookup, #"{"records":[{"recordName":"a"},{"recordName":"b"}]}"#,
      fetch([.note("a", in: .default), .note("b", in: .default)])),
    ExchangeCase(
      "in a zone", .recordsLookup,
      #"{"zoneID":{"zoneName":"Notes"},"records":[{"recordName":"a"}],"desiredKeys":["k"]}"#,
      fetch([.note("a")], .keys(["k"]))),
    ExchangeCase(
      "with keys of its own", .recordsLookup,
      #"{"records":[{"recordName":"a","desiredKeys":["k"]}],"desiredKeys":["l"]}"#,
      fetch([.note("a", in: .default)], .keys(["k"]))),
    ExchangeCase(
      "all keys, over those of the request", .recordsLookup,
      #"{"records":[{"recordName":"a","desiredKeys":null}],"desiredKeys":[]}"#,
      fetch([.note("a", in: .default)])),
    ExchangeCase(
      "different keys are sorted out later", .recordsLookup,
      #"{"records":[{"recordName":"a","desiredKeys":[]},{"recordName":"b"}],"desiredKeys":["l"]}"#,
      fetch([.note("a", in: .default), .note("b", in: .default)])),
    ExchangeCase("nothing", .recordsLookup, #"{"records":[]}"#, fetch([])),
    ExchangeCase(
      "of somebody else", .recordsLookup,
      #"{"zoneID":{"zoneName":"Notes","ownerRecordName":"_bob"},"records":[{"recordName":"a"}]}"#,
      in: .shared, fetch([.note("a", in: bob)])),
  ]

  private static func query(
    _ query: Query, _ zone: ZoneID? = .default, cursor: QueryCursor? = nil, limit: Int? = 200,
    fields: FieldSelection = .all
  ) -> CloudRequest {
    .queryRecords(
      QueryRecords(query: query, zone: zone, cursor: cursor, limit: limit, fields: fields))
  }

  private static func filter(
    _ key: String, _ comparator: Query.Filter.Comparator, _ value: FieldValue,
    distance: Double? = nil
  ) -> Query {
    Query(
      recordType: "Note",
      filters: [
        Query.Filter(key: key, comparator: comparator, value: value, distance: distance)
      ])
  }

  /// A query with one filter.
  private static func filtered(_ filter: String) -> String {
    #"{"query":{"recordType":"Note","filterBy":[\#(filter)]}}"#
  }

  static let queries: [ExchangeCase] = [
    ExchangeCase(
      "all of a type", .recordsQuery, #"{"query":{"recordType":"Note"}}"#,
      query(Query(recordType: "Note"))),
    ExchangeCase(
      "in a zone, though wide", .recordsQuery,
      #"{"zoneID":{"zoneName":"Notes"},"zoneWide":true,"query":{"recordType":"Note"}}"#,
      query(Query(recordType: "Note"), .notes)),
    ExchangeCase(
      "in all zones, page by page", .recordsQuery,
      #"""
      {"zoneWide":true,"resultsLimit":10,"continuationMarker":"AQI=","query":{"recordType":"Note"},"desiredKeys":[]}
      """#,
      query(
        Query(recordType: "Note"), nil, cursor: QueryCursor(bytes: [1, 2]), limit: 10,
        fields: .none)),
    ExchangeCase(
      "with a filter and sorted", .recordsQuery,
      #"""
      {"query":{"recordType":"Note","filterBy":[{"comparator":"EQUALS","fieldName":"title",
      "fieldValue":{"value":"x","type":"STRING"}}],"sortBy":[{"fieldName":"title"},
      {"systemFieldName":"createdTimestamp","ascending":false},{"fieldName":"place","relativeLocation":
      {"type":"LOCATION","value":{"latitude":1,"longitude":2}}}]}}
      """#,
      {
        var wanted = filter("title", .equals, .string("x"))
        wanted.sorts = [
          Query.Sort(key: "title", ascending: true),
          Query.Sort(key: "___createTime", ascending: false),
          Query.Sort(
            key: "place", ascending: true, relativeTo: Location(latitude: 1, longitude: 2)),
        ]
        return query(wanted)
      }()),
    ExchangeCase(
      "by a system field's raw name", .recordsQuery,
      filtered(
        #"""
        {"comparator":"LESS_THAN","systemFieldName":"___modTime","fieldValue":{"value":978307200000,"type":"TIMESTAMP"}}
        """#
      ), query(filter("___modTime", .lessThan, .date(Timestamp(secondsSinceReferenceDate: 0))))),
    ExchangeCase(
      "by a reference without an action", .recordsQuery,
      filtered(
        #"""
        {"comparator":"EQUALS","systemFieldName":"recordName","fieldValue":{"value":{"recordName":"n"},"type":"REFERENCE"}}
        """#
      ),
      query(
        filter(
          "___recordID", .equals,
          .reference(Reference(target: .note("n", in: .default), action: .none))))),
    ExchangeCase(
      "in a list", .recordsQuery,
      filtered(
        #"{"comparator":"IN","fieldName":"a","fieldValue":{"value":[1],"type":"INT64_LIST"}}"#),
      query(filter("a", .isIn, .list([.int64(1)])))),
    ExchangeCase(
      "pyicloud's word for one comparator", .recordsQuery,
      filtered(
        #"""
        {"comparator":"CONTAINS_ANY","fieldName":"a","fieldValue":{"value":["x"],"type":"STRING_LIST"}}
        """#
      ), query(filter("a", .listContainsAny, .list([.string("x")])))),
    ExchangeCase(
      "near a place", .recordsQuery,
      filtered(
        #"""
        {"comparator":"NEAR","fieldName":"a","distance":100,"fieldValue":{"value":{"latitude":1,"longitude":2},"type":"LOCATION"}}
        """#
      ),
      query(filter("a", .near, .location(Location(latitude: 1, longitude: 2)), distance: 100))),
    ExchangeCase(
      "by the text of all fields", .recordsQuery,
      filtered(
        #"{"comparator":"CONTAINS_ALL_TOKENS","fieldValue":{"value":"x","type":"STRING"}}"#),
      query(filter("", .containsAllTokens, .string("x")))),
  ]

  private static func changes(
    _ zone: ZoneID, since token: [UInt8]? = nil, limit: Int? = nil, _ fields: FieldSelection = .all
  ) -> CloudRequest {
    .fetchZoneChanges(
      FetchZoneChanges(
        zone: zone, since: token.map { ChangeToken(bytes: $0) }, limit: limit, fields: fields))
  }

  private static func databaseChanges(since token: [UInt8]?, limit: Int? = nil) -> CloudRequest {
    .fetchDatabaseChanges(
      FetchDatabaseChanges(since: token.map { ChangeToken(bytes: $0) }, limit: limit))
  }

  static let feeds: [ExchangeCase] = [
    ExchangeCase("from the start", .changesDatabase, "{}", databaseChanges(since: nil)),
    ExchangeCase(
      "since then", .changesDatabase, #"{"syncToken":"AQI=","resultsLimit":50}"#,
      databaseChanges(since: [1, 2], limit: 50)),
    ExchangeCase(
      "a token that is none", .changesDatabase, #"{"syncToken":"not base64"}"#,
      databaseChanges(since: Array("not base64".utf8))),
    ExchangeCase(
      "the older feed takes another token", .zonesChanges,
      #"{"metaSyncToken":"AQI=","syncToken":"AwQ="}"#, databaseChanges(since: [1, 2])),
    ExchangeCase(
      "the older feed without its token", .zonesChanges, #"{"syncToken":"AwQ="}"#,
      databaseChanges(since: nil)),
    ExchangeCase(
      "several zones, with settings of their own", .changesZone,
      #"""
      {"zones":[{"zoneID":{"zoneName":"Notes"},"syncToken":"AQI="},
      {"zoneID":{"zoneName":"Tasks"},"desiredKeys":[],"resultsLimit":7},
      {"zoneID":{"zoneName":"All"},"desiredKeys":null,"syncToken":null}],
      "syncToken":"Aw==","desiredKeys":["k"],"resultsLimit":99,"reverse":false,"numberAsStrings":true}
      """#, changes(.notes, since: [1, 2], limit: 99, .keys(["k"])),
      changes(ZoneID(name: "Tasks"), since: [3], limit: 7, .none),
      changes(ZoneID(name: "All"), since: nil, limit: 99)),
    ExchangeCase("no zones", .changesZone, #"{"zones":[]}"#),
    ExchangeCase(
      "the older feed of a zone", .recordsChanges,
      #"""
      {"zoneID":{"zoneName":"Notes"},"syncToken":"AQI=","desiredKeys":["k"],"numbersAsStrings":true}
      """#,
      changes(.notes, since: [1, 2], .keys(["k"]))),
    ExchangeCase(
      "a zone of somebody else", .changesZone,
      #"""
      {"zones":[{"zoneID":{"zoneName":"Notes","ownerRecordName":"_bob","zoneType":"REGULAR_CUSTOM_ZONE"}}]}
      """#,
      in: .shared, changes(bob)),
  ]

  static let zones: [ExchangeCase] = [
    ExchangeCase("all, as pyicloud asks", .zonesList, "{}", .fetchZones(nil)),
    ExchangeCase(
      "by bare IDs, as CloudKit JS asks", .zonesLookup, #"{"zones":[{"zoneName":"Notes"}]}"#,
      .fetchZones([.notes])),
    ExchangeCase(
      "by wrapped IDs", .zonesLookup, #"{"zones":[{"zoneID":{"zoneName":"Notes"}},{}]}"#,
      .fetchZones([.notes, .default])),
    ExchangeCase(
      "by an owner under another name", .zonesLookup,
      #"{"zones":[{"zoneName":"Notes","ownerName":"_bob"}]}"#, in: .shared, .fetchZones([bob])),
    ExchangeCase(
      "the owner is who asks", .zonesLookup,
      #"{"zones":[{"zoneName":"Notes","ownerRecordName":"_alice"}]}"#, .fetchZones([.notes])),
    ExchangeCase(
      "created and deleted", .zonesModify,
      #"""
      {"operations":[{"operationType":"delete","zone":{"zoneID":{"zoneName":"Old"}}},
      {"operationType":"create","zone":{"zoneID":{"zoneName":"Notes"},"atomic":true}},
      {"operationType":"create","zone":{"zoneName":"Bare"}}]}
      """#,
      .modifyZones(
        ModifyZones(save: [.notes, ZoneID(name: "Bare")], delete: [ZoneID(name: "Old")]))),
  ]
}
