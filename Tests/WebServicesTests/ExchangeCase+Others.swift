import CloudProtocol
import Records
import WebServices

extension ExchangeCase {
  static let subscriptions: [ExchangeCase] = [
    ExchangeCase("all", .subscriptionsList, "{}", .fetchSubscriptions(nil)),
    ExchangeCase(
      "by name", .subscriptionsLookup, #"{"subscriptions":[{"subscriptionID":"s"}]}"#,
      .fetchSubscriptions([SubscriptionID("s")])),
    ExchangeCase(
      "of every kind, with and without a name", .subscriptionsModify,
      #"""
      {"operations":[
      {"operationType":"create","subscription":{"subscriptionType":"zone","zoneID":{"zoneName":"Notes"}}},
      {"operationType":"delete","subscription":{"subscriptionID":"old"}},
      {"operationType":"update","subscription":{"subscriptionID":"d","subscriptionType":"DATABASE"}},
      {"operationType":"create","subscription":{"subscriptionID":"q","subscriptionType":"query",
      "query":{"recordType":"Note"},"firesOn":["create","delete"],"firesOnce":true,
      "notificationInfo":{"alertBody":"x","soundName":"default","shouldBadge":true,
      "alertLocalizationKey":"k","alertLocalizationArgs":["a"]}}}]}
      """#,
      {
        var info = Subscription.NotificationInfo(
          alertBody: "x", shouldSendContentAvailable: false, shouldBadge: true)
        info.others = [
          "soundName": .string("default"), "alertLocalizationKey": .string("k"),
          "alertLocalizationArgs": .list([.string("a")]),
        ]
        let watched = QuerySubscription(
          query: Query(recordType: "Note"), zone: nil,
          options: [.firesOnRecordCreation, .firesOnRecordDeletion, .firesOnce])
        return .modifySubscriptions(
          ModifySubscriptions(
            save: [
              Subscription(id: SubscriptionID("new1"), kind: .zone(.notes, recordType: nil)),
              Subscription(id: SubscriptionID("d"), kind: .database(recordType: nil)),
              Subscription(
                id: SubscriptionID("q"), kind: .query(watched), notificationInfo: info),
            ], delete: [SubscriptionID("old")]))
      }()),
  ]

  static let people: [ExchangeCase] = [
    ExchangeCase("who asks", .usersCaller, "{}", .fetchCurrentUser),
    ExchangeCase("who asks, as before", .usersCurrent, "{}", .fetchCurrentUser),
    ExchangeCase(
      "in every way", .usersDiscover,
      #"{"lookupInfos":[{"emailAddress":"b@x.org"},{"phoneNumber":"1"},{"userRecordName":"_bob"}]}"#,
      in: .public, .findUsers([.email("b@x.org"), .phone("1"), .user(UserID("_bob"))])),
    ExchangeCase("everybody", .usersDiscover, "{}", in: .public),
    ExchangeCase(
      "by address", .usersLookupEmail, #"{"users":[{"emailAddress":"b@x.org"}]}"#, in: .public,
      .findUsers([.email("b@x.org")])),
    ExchangeCase(
      "by name", .usersLookupID, #"{"users":[{"userRecordName":"_bob"}]}"#, in: .public,
      .findUsers([.user(UserID("_bob"))])),
    ExchangeCase("in the address book", .usersLookupContacts, "{}", in: .public),
    ExchangeCase(
      "a share, by its short name alone", .recordsResolve, #"{"shortGUIDs":[{"value":"0aBc"}]}"#,
      in: .public, .resolveShares(ResolveShares(urls: [ShareMetadata.urlPrefix + "0aBc"]))),
    ExchangeCase(
      "a share with its root", .recordsResolve,
      #"{"shortGUIDs":[{"value":"0aBc","shouldFetchRootRecord":true}]}"#, in: .public,
      .resolveShares(ResolveShares(urls: [ShareMetadata.urlPrefix + "0aBc"], rootFields: .all))),
    ExchangeCase(
      "a share with some of its root", .recordsResolve,
      #"{"shortGUIDs":[{"value":"0aBc","shouldFetchRootRecord":true,"rootRecordDesiredKeys":["k"]}]}"#,
      in: .public,
      .resolveShares(
        ResolveShares(urls: [ShareMetadata.urlPrefix + "0aBc"], rootFields: .keys(["k"])))),
    ExchangeCase(
      "a share without its root", .recordsResolve,
      #"{"shortGUIDs":[{"value":"0aBc","shouldFetchRootRecord":false,"rootRecordDesiredKeys":["k"]}]}"#,
      in: .public, .resolveShares(ResolveShares(urls: [ShareMetadata.urlPrefix + "0aBc"]))),
    ExchangeCase(
      "a share that is joined", .recordsAccept, #"{"shortGUIDs":[{"value":"0aBc"}]}"#,
      in: .public, .acceptShares([ShareMetadata.urlPrefix + "0aBc"])),
  ]

  /// Bodies with a member that is missing or of a wrong type, and what names it.
  static var refused: [ExchangeCase] {
    var cases: [ExchangeCase] = []
    func add(_ endpoint: Endpoint, _ bodies: (String, String)...) {
      cases += bodies.map { ExchangeCase(endpoint, refuses: $0.0, $0.1) }
    }
    for endpoint in Endpoint.allCases where endpoint.rawValue.prefix(6) != "tokens" {
      if endpoint == .assetsUpload || endpoint == .assetsRereference { continue }
      for body in ["null", "[]", "1", "\"x\"", "true"] { add(endpoint, (body, "JSON object")) }
      add(endpoint, (#"{"numbersAsStrings":"true"}"#, "'numbersAsStrings'"))
    }
    add(
      .recordsModify, ("{}", "'operations'"), (#"{"operations":{}}"#, "'operations'"),
      (#"{"operations":[1]}"#, "'record'"),
      (#"{"operations":[{"operationType":"create"}]}"#, "'record'"),
      (#"{"operations":[{"record":{"recordName":"n"}}]}"#, "'operationType'"),
      (#"{"operations":[{"record":{"recordName":"n"},"operationType":1}]}"#, "'operationType'"),
      (
        #"{"operations":[{"record":{"recordName":"n"},"operationType":"drop"}]}"#, "'operationType'"
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
        "'recordChangeTag'"
      ),
      (
        #"{"operations":[{"record":{"recordChangeTag":7},"operationType":"update"}]}"#,
        "'recordChangeTag'"
      ),
      (#"{"operations":[{"record":{},"operationType":"forceDelete"}]}"#, "'recordName'"),
      (#"{"operations":[],"atomic":1}"#, "'atomic'"), (#"{"operations":[],"zoneID":1}"#, "zone ID"),
      (#"{"operations":[],"zoneID":{"zoneName":1}}"#, "'zoneName'"),
      (#"{"operations":[],"zoneID":{"ownerRecordName":1}}"#, "'ownerRecordName'"),
      (#"{"operations":[],"zoneID":{"ownerName":1}}"#, "'ownerName'"),
      (#"{"operations":[],"desiredKeys":"a"}"#, "'desiredKeys'"),
      (#"{"operations":[],"desiredKeys":[1]}"#, "'desiredKeys'"))
    let share =
      #"{"operations":[{"operationType":"create","record":{"recordType":"cloudkit.share",""#
    add(
      .recordsModify, (share + #"participants":{}}}]}"#, "'participants'"),
      (share + #"participants":[{}]}}]}"#, "'participantId'"),
      (share + #"publicPermission":1}}]}"#, "'publicPermission'"),
      (share + #"forRecord":{}}}]}"#, "'recordName'"),
      (share + #"shortGUID":{}}}]}"#, "'shortGUID'"))
    add(
      .recordsLookup, ("{}", "'records'"), (#"{"records":1}"#, "'records'"),
      (#"{"records":["a"]}"#, "'recordName'"), (#"{"records":[{}]}"#, "'recordName'"),
      (#"{"records":[{"recordName":"a","desiredKeys":1}]}"#, "'desiredKeys'"))
    add(
      .recordsQuery, ("{}", "'query'"), (#"{"query":[]}"#, "'query'"),
      (#"{"query":{}}"#, "'recordType'"),
      (#"{"query":{"recordType":"N"},"zoneWide":1}"#, "'zoneWide'"),
      (#"{"query":{"recordType":"N"},"resultsLimit":"x"}"#, "'resultsLimit'"),
      (#"{"query":{"recordType":"N"},"resultsLimit":1.5}"#, "'resultsLimit'"),
      (#"{"query":{"recordType":"N"},"continuationMarker":"*"}"#, "'continuationMarker'"),
      (#"{"query":{"recordType":"N"},"continuationMarker":1}"#, "'continuationMarker'"),
      (#"{"query":{"recordType":"N","filterBy":{}}}"#, "'filterBy'"),
      (#"{"query":{"recordType":"N","filterBy":[{}]}}"#, "'comparator'"),
      (#"{"query":{"recordType":"N","filterBy":[{"comparator":"LIKE"}]}}"#, "comparator"),
      (#"{"query":{"recordType":"N","filterBy":[{"comparator":"EQUALS"}]}}"#, "'fieldValue'"),
      (
        #"{"query":{"recordType":"N","filterBy":[{"comparator":"EQUALS","fieldValue":{}}]}}"#,
        "value"
      ),
      (
        #"{"query":{"recordType":"N","filterBy":[{"comparator":"EQUALS","systemFieldName":"x","fieldValue":{"value":1}}]}}"#,
        "system field"
      ),
      (
        #"{"query":{"recordType":"N","filterBy":[{"comparator":"NEAR","distance":"x","fieldName":"a","fieldValue":{"value":1}}]}}"#,
        "'distance'"
      ),
      (
        #"{"query":{"recordType":"N","filterBy":[{"comparator":"IN","fieldName":"a","fieldValue":{"value":[1]}}]}}"#,
        "BadRequestException: Unexpected input"
      ),
      (
        #"{"query":{"recordType":"N","filterBy":[{"comparator":"NOT_IN","fieldName":"a","fieldValue":{"value":1,"type":"INT64"}}]}}"#,
        "BadRequestException: Unexpected input"
      ), (#"{"query":{"recordType":"N","sortBy":1}}"#, "'sortBy'"),
      (#"{"query":{"recordType":"N","sortBy":[{"fieldName":1}]}}"#, "'fieldName'"),
      (
        #"{"query":{"recordType":"N","sortBy":[{"fieldName":"a","ascending":"x"}]}}"#, "'ascending'"
      ),
      (
        #"{"query":{"recordType":"N","sortBy":[{"fieldName":"a","relativeLocation":{"value":1}}]}}"#,
        "'relativeLocation'"
      ))
    add(
      .changesDatabase, (#"{"syncToken":1}"#, "'syncToken'"),
      (#"{"resultsLimit":true}"#, "'resultsLimit'"), (#"{"resultsLimit":1e300}"#, "'resultsLimit'"))
    add(.zonesChanges, (#"{"metaSyncToken":1}"#, "'metaSyncToken'"))
    add(
      .changesZone, ("{}", "'zones'"), (#"{"zones":[{}]}"#, "'zoneID'"),
      (#"{"zones":[1]}"#, "'zoneID'"), (#"{"zones":[{"zoneID":"Z"}]}"#, "'zoneID'"),
      (#"{"zones":[{"zoneID":{},"reverse":true}]}"#, "'reverse'"),
      (#"{"zones":[],"reverse":true}"#, "'reverse'"), (#"{"zones":[],"reverse":1}"#, "'reverse'"),
      (#"{"zones":[{"zoneID":{},"syncToken":1}]}"#, "'syncToken'"),
      (#"{"zones":[{"zoneID":{}}],"desiredRecordTypes":"x"}"#, "'desiredRecordTypes'"),
      (#"{"zones":[{"zoneID":{},"numberAsStrings":1}]}"#, "'numberAsStrings'"),
      (#"{"zones":[],"numberAsStrings":1}"#, "'numberAsStrings'"))
    add(
      .recordsChanges, ("{}", "'zoneID'"), (#"{"zoneID":1}"#, "'zoneID'"),
      (#"{"zoneID":{},"reverse":true}"#, "'reverse'"))
    add(
      .zonesLookup, ("{}", "'zones'"), (#"{"zones":["Z"]}"#, "zone ID"),
      (#"{"zones":[{"zoneID":1}]}"#, "zone ID"), (#"{"zones":[{"zoneName":1}]}"#, "'zoneName'"))
    add(
      .zonesModify, ("{}", "'operations'"), (#"{"operations":[{}]}"#, "'zone'"),
      (#"{"operations":[{"zone":{"zoneName":"Z"}}]}"#, "'operationType'"),
      (#"{"operations":[{"zone":{"zoneName":"Z"},"operationType":"update"}]}"#, "'operationType'"))
    add(
      .subscriptionsLookup, ("{}", "'subscriptions'"),
      (#"{"subscriptions":[{}]}"#, "'subscriptionID'"))
    let subscription =
      #"{"operations":[{"operationType":"create","subscription":{"subscriptionType":"#
    add(
      .subscriptionsModify, ("{}", "'operations'"), (#"{"operations":[{}]}"#, "'subscription'"),
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
      ), (subscription + #""database","notificationInfo":{"shouldBadge":1}}}]}"#, "'shouldBadge'"))
    for endpoint in [Endpoint.recordsResolve, .recordsAccept] {
      add(
        endpoint, ("{}", "'shortGUIDs'"), (#"{"shortGUIDs":[{}]}"#, "'value'"),
        (#"{"shortGUIDs":[{"value":1}]}"#, "'value'"))
    }
    add(
      .recordsResolve,
      (#"{"shortGUIDs":[{"value":"x","shouldFetchRootRecord":1}]}"#, "'shouldFetchRootRecord'"),
      (
        #"{"shortGUIDs":[{"value":"x","shouldFetchRootRecord":true,"rootRecordDesiredKeys":1}]}"#,
        "'rootRecordDesiredKeys'"
      ))
    add(
      .usersDiscover, (#"{"lookupInfos":1}"#, "'lookupInfos'"),
      (#"{"lookupInfos":[{}]}"#, "emailAddress"),
      (#"{"lookupInfos":[{"emailAddress":1}]}"#, "'emailAddress'"))
    add(.usersLookupEmail, ("{}", "'users'"), (#"{"users":[1]}"#, "emailAddress"))
    return cases
  }
}
