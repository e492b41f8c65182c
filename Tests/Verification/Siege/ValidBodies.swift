import WebServices

/// A body that works, or could, for each endpoint: what hostile ones are made from.
enum ValidBodies {
  static func body(_ endpoint: Endpoint, alicesName: String) -> JSON {
    let text = text(endpoint).replacing("ALICE", with: alicesName)
    return (try? JSON(parsing: Array(text.utf8))) ?? .null
  }

  private static let zone = #""zoneID":{"zoneName":"Den"}"#
  private static let foreign = #""zoneID":{"zoneName":"Vault","ownerRecordName":"ALICE"}"#

  private static func text(_ endpoint: Endpoint) -> String {
    switch endpoint {
    case .recordsModify:
      """
      {\(zone),"atomic":false,"operations":[
      {"operationType":"forceUpdate","record":{"recordName":"a","recordType":"Note","fields":{
      "title":{"value":"x"},"number":{"value":4,"type":"INT64"},"half":{"value":0.5},
      "when":{"value":1400000000000,"type":"TIMESTAMP"},"raw":{"value":"AAEC","type":"BYTES"},
      "place":{"value":{"latitude":1.5,"longitude":2},"type":"LOCATION"},
      "texts":{"value":["a","b"],"type":"STRING_LIST"},
      "friend":{"value":{"recordName":"b","action":"NONE"},"type":"REFERENCE"},
      "file":{"value":{"fileChecksum":"AAAA","size":3,"receipt":"AAAA"},"type":"ASSETID"}}}},
      {"operationType":"create","record":{"recordName":"b","recordType":"Note","fields":{}}},
      {"operationType":"forceDelete","record":{"recordName":"c"}},
      {"operationType":"update","record":{"recordName":"d","recordType":"Note",
      "recordChangeTag":"1","fields":{"title":{"value":null}},"parent":{"recordName":"a"}}},
      {"operationType":"forceUpdate","record":{"recordName":"s","recordType":"cloudkit.share",
      "forRecord":{"recordName":"a"},"publicPermission":"READ_WRITE","participants":[
      {"participantId":"p","permission":"READ_ONLY","type":"USER","acceptanceStatus":"INVITED",
      "userIdentity":{"lookupInfo":{"userRecordName":"ALICE"}}}]}}]}
      """
    case .recordsLookup:
      """
      {\(foreign),"records":[{"recordName":"paper-3"},
      {"recordName":"a","desiredKeys":["title"]}]}
      """
    case .recordsQuery:
      """
      {\(zone),"resultsLimit":5,"query":{"recordType":"Note","filterBy":[
      {"comparator":"EQUALS","fieldName":"title","fieldValue":{"value":"x","type":"STRING"}},
      {"comparator":"NEAR","fieldName":"place","distance":1000,
      "fieldValue":{"value":{"latitude":1,"longitude":2},"type":"LOCATION"}}],
      "sortBy":[{"fieldName":"number","ascending":false},{"systemFieldName":"createdTimestamp"}]}}
      """
    case .recordsChanges: #"{\#(zone),"syncToken":"AAAA","resultsLimit":3}"#
    case .recordsResolve, .recordsAccept:
      #"{"shortGUIDs":[{"value":"0123456789abcdef","shouldFetchRootRecord":true}]}"#
    case .changesDatabase: #"{"syncToken":"AAAA","resultsLimit":10}"#
    case .changesZone:
      """
      {"zones":[{\(foreign)},
      {\(zone),"syncToken":"AAAA","desiredKeys":["title"],"resultsLimit":2}]}
      """
    case .zonesList, .subscriptionsList, .usersCaller, .usersCurrent, .usersLookupContacts: "{}"
    case .zonesLookup:
      #"{"zones":[{"zoneName":"Vault","ownerRecordName":"ALICE"},{"zoneName":"Den"}]}"#
    case .zonesModify: #"{"operations":[{"operationType":"create","zone":{\#(zone)}}]}"#
    case .zonesChanges: #"{"metaSyncToken":"AAAA"}"#
    case .subscriptionsLookup: #"{"subscriptions":[{"subscriptionID":"one"}]}"#
    case .subscriptionsModify:
      """
      {"operations":[{"operationType":"create","subscription":{"subscriptionID":"one",
      "subscriptionType":"query","firesOn":["create","update"],"zoneWide":false,\(zone),
      "query":{"recordType":"Note","filterBy":[{"comparator":"LESS_THAN","fieldName":"number",
      "fieldValue":{"value":7,"type":"INT64"}}]},
      "notificationInfo":{"alertBody":"hm","shouldBadge":true}}},
      {"operationType":"create","subscription":{"subscriptionID":"two","subscriptionType":"zone",
      \(zone)}},{"operationType":"delete","subscription":{"subscriptionID":"three"}}]}
      """
    case .usersDiscover:
      #"{"lookupInfos":[{"userRecordName":"ALICE"},{"emailAddress":"a@b"},{"phoneNumber":"1"}]}"#
    case .usersLookupEmail: #"{"users":[{"emailAddress":"alice@example.com"}]}"#
    case .usersLookupID: #"{"users":[{"userRecordName":"ALICE"}]}"#
    case .assetsUpload:
      #"{\#(zone),"tokens":[{"recordName":"a","recordType":"Note","fieldName":"file"}]}"#
    case .assetsRereference:
      #"{\#(foreign),"assets":[{"recordName":"paper-file","fieldName":"content"}]}"#
    case .tokensCreate: #"{"apnsEnvironment":"development","clientId":"here"}"#
    case .tokensRegister: #"{"apnsEnvironment":"development","apnsToken":"00"}"#
    }
  }
}
