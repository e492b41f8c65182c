import CloudProtocol
import Records
import WebServices

extension ExchangeCase {
  static let subscriptions: [ExchangeCase] = [
    ExchangeCase("all", .subscriptionsList, "{}", .fetchSubscriptions(nil)),
    ExchangeCase(
      "by name", .subscriptionsLookup, #"{"subscriptions":[{"subscriptionID":"s"}]}"#,
      .fetchSubscriptions([SubscriptionID("s")])),
    queries(#""zoneWide":false"#, watch: .default),
    queries(#""zoneWide":true,"zoneID":{"zoneName":"Notes"}"#, watch: .notes),
    queries(#""zoneWide":true"#, watch: nil),
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

  /// A query subscription with `members`, which name a zone or all.
  private static func queries(_ members: String, watch zone: ZoneID?) -> ExchangeCase {
    let watched = QuerySubscription(
      query: Query(recordType: "Note"), zone: zone, options: .firesOnRecordUpdate)
    return ExchangeCase(
      "of a query with \(members)", .subscriptionsModify,
      #"""
      {"operations":[{"operationType":"create","subscription":{"subscriptionID":"q",
      "subscriptionType":"query","query":{"recordType":"Note"},"firesOn":["update"],
      """# + members + "}}]}",
      .modifySubscriptions(
        ModifySubscriptions(save: [Subscription(id: SubscriptionID("q"), kind: .query(watched))])))
  }

  static let people: [ExchangeCase] = [
    ExchangeCase("who asks", .usersCaller, "{}", .fetchCurrentUser),
    ExchangeCase("who asks, as before", .usersCurrent, "{}", .fetchCurrentUser),
    ExchangeCase(
      "in every way", .usersDiscover,
      #"""
      {"lookupInfos":[{"emailAddress":"b@x.org"},{"phoneNumber":"1"},{"userRecordName":"_bob"}]}
      """#,
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
      #"""
      {"shortGUIDs":[{"value":"0aBc","shouldFetchRootRecord":true,"rootRecordDesiredKeys":["k"]}]}
      """#,
      in: .public,
      .resolveShares(
        ResolveShares(urls: [ShareMetadata.urlPrefix + "0aBc"], rootFields: .keys(["k"])))),
    ExchangeCase(
      "a share without its root", .recordsResolve,
      #"""
      {"shortGUIDs":[{"value":"0aBc","shouldFetchRootRecord":false,"rootRecordDesiredKeys":["k"]}]}
      """#,
      in: .public, .resolveShares(ResolveShares(urls: [ShareMetadata.urlPrefix + "0aBc"]))),
    ExchangeCase(
      "a share that is joined", .recordsAccept, #"{"shortGUIDs":[{"value":"0aBc"}]}"#,
      in: .public, .acceptShares([ShareMetadata.urlPrefix + "0aBc"])),
  ]
}
