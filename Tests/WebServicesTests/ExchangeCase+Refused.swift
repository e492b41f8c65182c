import WebServices

/// Bodies with a member that is missing or of a wrong type, and what names it.
extension ExchangeCase {
  /// Bodies of one endpoint.
  private typealias Refusals = (endpoint: Endpoint, bodies: [(String, String)])

  /// All of them.
  static var refused: [ExchangeCase] {
    let tables = badChanges + badReadings + badFeeds + badOthers
    return anywhere
      + tables.flatMap { refusals in
        refusals.bodies.map { ExchangeCase(refusals.endpoint, refuses: $0.0, $0.1) }
      }
  }

  /// What is refused wherever it is sent.
  private static var anywhere: [ExchangeCase] {
    let without: [Endpoint] = [
      .assetsUpload, .assetsRereference, .tokensCreate, .tokensRegister,
    ]
    return Endpoint.allCases.filter { !without.contains($0) }.flatMap { endpoint in
      ["null", "[]", "1", "\"x\"", "true"].map {
        ExchangeCase(endpoint, refuses: $0, "JSON object")
      } + [
        ExchangeCase(endpoint, refuses: #"{"numbersAsStrings":"true"}"#, "'numbersAsStrings'")
      ]
    }
  }

  private static let share =
    #"{"operations":[{"operationType":"create","record":{"recordType":"cloudkit.share",""#

  /// What makes no sense in changes to records.
  private static let badChanges: [Refusals] = [
    (
      .recordsModify,
      [
        ("{}", "'operations'"), (#"{"operations":{}}"#, "'operations'"),
        (#"{"operations":[1]}"#, "'record'"),
        (#"{"operations":[{"operationType":"create"}]}"#, "'record'"),
        (
          #"{"operations":[{"record":{"recordName":"n"}}]}"#,
          "'operationType' is missing: it must be text"
        ),
        (
          #"{"operations":[{"record":{"recordName":"n"},"operationType":1}]}"#,
          "'operationType' must be text"
        ),
        (
          #"{"operations":[{"record":{"recordName":"n"},"operationType":"drop"}]}"#,
          "the 'operationType' 'drop' is unknown; it must be one of create, update, forceUpdate, "
            + "replace, forceReplace, delete, forceDelete"
        ),
        (
          #"{"operations":[{"record":{"fields":{"t":"x"}},"operationType":"create"}]}"#,
          "a field must be an object with a 'value'. Field 't'."
        ),
        (#"{"operations":[{"record":[],"operationType":"create"}]}"#, "'record'"),
        (#"{"operations":[{"record":{"recordName":1},"operationType":"create"}]}"#, "'recordName'"),
        (#"{"operations":[{"record":{"recordType":1},"operationType":"create"}]}"#, "'recordType'"),
        (#"{"operations":[{"record":{"fields":[]},"operationType":"create"}]}"#, "'fields'"),
        (#"{"operations":[{"record":{"zoneID":"Z"},"operationType":"create"}]}"#, "zone ID"),
        (#"{"operations":[{"record":{"parent":"p"},"operationType":"create"}]}"#, "'recordName'"),
        (
          #"{"operations":[{"record":{"recordName":"n"},"operationType":"update"}]}"#,
          "'recordChangeTag'"
        ),
        (
          #"{"operations":[{"record":{"recordName":"n"},"operationType":"replace"}]}"#,
          "'recordChangeTag'"
        ),
        (
          #"{"operations":[{"record":{"recordName":"n"},"operationType":"delete"}]}"#,
          "the operation delete needs the record's 'recordChangeTag'; forceDelete needs none. "
            + "Record 'n'."
        ),
        (
          #"{"operations":[{"record":{"recordChangeTag":7},"operationType":"update"}]}"#,
          "'recordChangeTag'"
        ),
        (#"{"operations":[{"record":{},"operationType":"forceDelete"}]}"#, "'recordName'"),
        (#"{"operations":[],"atomic":1}"#, "'atomic'"),
        (#"{"operations":[],"zoneID":1}"#, "zone ID"),
        (#"{"operations":[],"zoneID":{"zoneName":1}}"#, "'zoneName'"),
        (#"{"operations":[],"zoneID":{"ownerRecordName":1}}"#, "'ownerRecordName'"),
        (#"{"operations":[],"zoneID":{"ownerName":1}}"#, "'ownerName'"),
        (#"{"operations":[],"desiredKeys":"a"}"#, "'desiredKeys'"),
        (#"{"operations":[],"desiredKeys":[1]}"#, "'desiredKeys'"),
      ]
    ),
    (
      .recordsModify,
      [
        (share + #"participants":{}}}]}"#, "'participants'"),
        (share + #"participants":[{"participantId":1}]}}]}"#, "'participantId'"),
        (share + #"publicPermission":1}}]}"#, "'publicPermission'"),
        (share + #"forRecord":{}}}]}"#, "'recordName'"),
        (share + #"shortGUID":{}}}]}"#, "'shortGUID'"),
      ]
    ),
  ]

  /// What makes no sense in lookups and queries.
  private static let badReadings: [Refusals] = [
    (
      .recordsLookup,
      [
        ("{}", "'records'"), (#"{"records":1}"#, "'records'"),
        (#"{"records":["a"]}"#, "'recordName'"), (#"{"records":[{}]}"#, "'recordName'"),
        (#"{"records":[{"recordName":"a","desiredKeys":1}]}"#, "'desiredKeys'"),
      ]
    ),
    (
      .recordsQuery,
      [
        ("{}", "'query'"), (#"{"query":[]}"#, "'query'"),
        (#"{"query":{}}"#, "'recordType' is missing: it must be text"),
        (#"{"query":{"recordType":"N"},"zoneWide":1}"#, "'zoneWide'"),
        (#"{"query":{"recordType":"N"},"resultsLimit":"x"}"#, "'resultsLimit'"),
        (#"{"query":{"recordType":"N"},"resultsLimit":1.5}"#, "'resultsLimit'"),
        (#"{"query":{"recordType":"N"},"continuationMarker":"*"}"#, "'continuationMarker'"),
        (#"{"query":{"recordType":"N"},"continuationMarker":1}"#, "'continuationMarker'"),
        (#"{"query":{"recordType":"N","filterBy":{}}}"#, "'filterBy'"),
        (#"{"query":{"recordType":"N","filterBy":[{}]}}"#, "'comparator'"),
        (
          #"{"query":{"recordType":"N","filterBy":[{"comparator":"LIKE"}]}}"#,
          "the comparator 'LIKE' is unknown; it must be one of EQUALS, LESS_THAN"
        ),
        (#"{"query":{"recordType":"N","filterBy":[{"comparator":"EQUALS"}]}}"#, "'fieldValue'"),
        (
          #"{"query":{"recordType":"N","filterBy":[{"comparator":"EQUALS","fieldValue":{}}]}}"#,
          "value"
        ),
        (
          #"""
          {"query":{"recordType":"N","filterBy":[{"comparator":"EQUALS","systemFieldName":"x","fieldValue":{"value":1}}]}}
          """#,
          "the system field 'x' is unknown; it must be one of recordName, share"
        ),
        (
          #"""
          {"query":{"recordType":"N","filterBy":[{"comparator":"EQUALS","fieldName":"a","systemFieldName":"recordName","fieldValue":{"value":"x"}}]}}
          """#,
          "'fieldName' and 'systemFieldName' exclude each other"
        ),
        (
          #"{"query":{"recordType":"N","sortBy":[{"fieldName":"a","systemFieldName":"share"}]}}"#,
          "'fieldName' and 'systemFieldName' exclude each other"
        ),
        (
          #"""
          {"query":{"recordType":"N","filterBy":[{"comparator":"NEAR","distance":"x","fieldName":"a","fieldValue":{"value":1}}]}}
          """#,
          "'distance'"
        ),
        (
          #"""
          {"query":{"recordType":"N","filterBy":[{"comparator":"IN","fieldName":"a","fieldValue":{"value":[1]}}]}}
          """#,
          "BadRequestException: Unexpected input"
        ),
        (
          #"""
          {"query":{"recordType":"N","filterBy":[{"comparator":"NOT_IN","fieldName":"a","fieldValue":{"value":1,"type":"INT64"}}]}}
          """#,
          "BadRequestException: Unexpected input"
        ), (#"{"query":{"recordType":"N","sortBy":1}}"#, "'sortBy'"),
        (#"{"query":{"recordType":"N","sortBy":[{"fieldName":1}]}}"#, "'fieldName'"),
        (
          #"{"query":{"recordType":"N","sortBy":[{"fieldName":"a","ascending":"x"}]}}"#,
          "'ascending'"
        ),
        (
          #"""
          {"query":{"recordType":"N","sortBy":[{"fieldName":"a","relativeLocation":{"value":1}}]}}
          """#,
          "'relativeLocation'"
        ),
      ]
    ),
  ]

  /// What makes no sense in feeds and zones.
  private static let badFeeds: [Refusals] = [
    (
      .changesDatabase,
      [
        (#"{"syncToken":1}"#, "'syncToken'"),
        (#"{"resultsLimit":true}"#, "'resultsLimit'"),
        (#"{"resultsLimit":1e300}"#, "'resultsLimit'"),
      ]
    ),
    (
      .zonesChanges,
      [
        (#"{"metaSyncToken":1}"#, "'metaSyncToken'")
      ]
    ),
    (
      .changesZone,
      [
        ("{}", "'zones'"), (#"{"zones":[{}]}"#, "'zoneID'"),
        (#"{"zones":[1]}"#, "'zoneID'"), (#"{"zones":[{"zoneID":"Z"}]}"#, "'zoneID'"),
        (#"{"zones":[{"zoneID":{},"reverse":true}]}"#, "'reverse'"),
        (#"{"zones":[],"reverse":true}"#, "'reverse'"), (#"{"zones":[],"reverse":1}"#, "'reverse'"),
        (#"{"zones":[{"zoneID":{},"syncToken":1}]}"#, "'syncToken'"),
        (#"{"zones":[{"zoneID":{}}],"desiredRecordTypes":"x"}"#, "'desiredRecordTypes'"),
        (#"{"zones":[{"zoneID":{},"numberAsStrings":1}]}"#, "'numberAsStrings'"),
        (#"{"zones":[],"numberAsStrings":1}"#, "'numberAsStrings'"),
      ]
    ),
    (
      .recordsChanges,
      [
        ("{}", "'zoneID'"), (#"{"zoneID":1}"#, "'zoneID'"),
        (#"{"zoneID":{},"reverse":true}"#, "'reverse'"),
      ]
    ),
    (
      .zonesLookup,
      [
        ("{}", "'zones'"), (#"{"zones":["Z"]}"#, "zone ID"),
        (#"{"zones":[{"zoneID":1}]}"#, "zone ID"), (#"{"zones":[{"zoneName":1}]}"#, "'zoneName'"),
      ]
    ),
    (
      .zonesModify,
      [
        ("{}", "'operations'"), (#"{"operations":[{}]}"#, "'zone'"),
        (#"{"operations":[{"zone":{"zoneName":"Z"}}]}"#, "'operationType'"),
        (
          #"{"operations":[{"zone":{"zoneName":"Z"},"operationType":"update"}]}"#,
          "the 'operationType' of a zone 'update' is unknown; it must be one of create, delete"
        ),
      ]
    ),
  ]

  private static let subscription =
    #"{"operations":[{"operationType":"create","subscription":{"subscriptionType":"#

  /// What makes no sense of subscriptions and people.
  private static let badOthers: [Refusals] = [
    (
      .subscriptionsLookup,
      [
        ("{}", "'subscriptions'"),
        (#"{"subscriptions":[{}]}"#, "'subscriptionID'"),
      ]
    ),
    (
      .subscriptionsModify,
      [
        ("{}", "'operations'"), (#"{"operations":[{}]}"#, "'subscription'"),
        (#"{"operations":[{"subscription":{}}]}"#, "'operationType'"),
        (#"{"operations":[{"subscription":{},"operationType":"x"}]}"#, "'operationType'"),
        (#"{"operations":[{"subscription":{},"operationType":"delete"}]}"#, "'subscriptionID'"),
        (subscription + "1}}]}", "'subscriptionType'"),
        (subscription + #""x"}}]}"#, "'subscriptionType'"),
        (subscription + #""zone"}}]}"#, "'zoneID'"), (subscription + #""query"}}]}"#, "'query'"),
        (subscription + #""query","query":{"recordType":"N"},"firesOn":["x"]}}]}"#, "'firesOn'"),
        (subscription + #""database","notificationInfo":1}}]}"#, "'notificationInfo'"),
        (subscription + #""database","notificationInfo":{"alertBody":1}}}]}"#, "'alertBody'"),
        (
          subscription + #""database","notificationInfo":{"alertLocalizationArgs":[1]}}}]}"#,
          "'alertLocalizationArgs'"
        ),
        (subscription + #""database","notificationInfo":{"shouldBadge":1}}}]}"#, "'shouldBadge'"),
      ]
    ),
    (
      .recordsResolve,
      [
        ("{}", "'shortGUIDs'"), (#"{"shortGUIDs":[{}]}"#, "'value'"),
        (#"{"shortGUIDs":[{"value":1}]}"#, "'value'"),
      ]
    ),
    (
      .recordsAccept,
      [
        ("{}", "'shortGUIDs'"), (#"{"shortGUIDs":[{}]}"#, "'value'"),
        (#"{"shortGUIDs":[{"value":1}]}"#, "'value'"),
      ]
    ),
    (
      .recordsResolve,
      [
        (#"{"shortGUIDs":[{"value":"x","shouldFetchRootRecord":1}]}"#, "'shouldFetchRootRecord'"),
        (
          #"{"shortGUIDs":[{"value":"x","shouldFetchRootRecord":true,"rootRecordDesiredKeys":1}]}"#,
          "'rootRecordDesiredKeys'"
        ),
      ]
    ),
    (
      .usersDiscover,
      [
        (#"{"lookupInfos":1}"#, "'lookupInfos'"),
        (#"{"lookupInfos":[{}]}"#, "emailAddress"),
        (#"{"lookupInfos":[{"emailAddress":1}]}"#, "'emailAddress'"),
      ]
    ),
    (
      .usersLookupEmail,
      [
        ("{}", "'users'"), (#"{"users":[1]}"#, "emailAddress"),
      ]
    ),
  ]
}
