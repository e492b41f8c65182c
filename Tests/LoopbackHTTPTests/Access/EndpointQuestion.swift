import Records
import WebServices

/// A sensible question to each endpoint.
enum EndpointQuestion {
  /// Names of things, as somebody says them who knows alice's or guesses.
  struct Names: Sendable {
    var zone: String
    var record: String
    var share: String
    var subscription: String
    var shareName: String

    static let alices = Names(
      zone: "ALICES-zone", record: "ALICES-record", share: "ALICES-share",
      subscription: "ALICES-subscription", shareName: "")
    /// As long as alice's, and of nothing that there is.
    static let nobodys = Names(
      zone: "NOBODY-zone", record: "NOBODY-record", share: "NOBODY-share",
      subscription: "NOBODY-subscription", shareName: "")
    /// Somebody's own; the public database has one zone only.
    static func own(_ database: DatabaseScope) -> Names {
      Names(
        zone: database == .public ? "_defaultZone" : "zone", record: "record", share: "share",
        subscription: "subscription", shareName: "0123456789abcdef0123456789abcdef")
    }
  }

  /// The body of a question about `names`, in zones of `owner`; the caller's own for `nil`.
  static func body(_ endpoint: Endpoint, _ names: Names, owner: String?) -> String {
    let ownerMember = owner.map { #","ownerRecordName":"\#($0)""# } ?? ""
    let id = #"{"zoneName":"\#(names.zone)"\#(ownerMember)}"#
    let zone = #""zoneID":\#(id)"#
    switch endpoint {
    case .recordsModify:
      return #"""
        {\#(zone),"atomic":false,"operations":[{"operationType":"update","record":{
        "recordName":"\#(names.record)","recordType":"Note","recordChangeTag":"1","fields":{}}}]}
        """#
    case .recordsLookup:
      return #"""
        {\#(zone),"records":[{"recordName":"\#(names.record)"},{"recordName":"\#(names.share)"}]}
        """#
    case .recordsQuery: return #"{\#(zone),"query":{"recordType":"Note"}}"#
    case .recordsChanges: return #"{\#(zone)}"#
    case .recordsResolve, .recordsAccept:
      return #"{"shortGUIDs":[{"value":"\#(names.shareName)","shouldFetchRootRecord":true}]}"#
    case .changesZone: return #"{"zones":[{\#(zone)}]}"#
    case .zonesLookup: return #"{"zones":[\#(id)]}"#
    case .zonesModify:
      return #"{"operations":[{"operationType":"delete","zone":{\#(zone)}}]}"#
    case .subscriptionsLookup:
      return #"{"subscriptions":[{"subscriptionID":"\#(names.subscription)"}]}"#
    case .subscriptionsModify:
      return #"""
        {"operations":[{"operationType":"delete","subscription":{
        "subscriptionID":"\#(names.subscription)"}}]}
        """#
    case .usersDiscover: return #"{"lookupInfos":[{"emailAddress":"a@example.com"}]}"#
    case .usersLookupEmail: return #"{"users":[{"emailAddress":"a@example.com"}]}"#
    case .usersLookupID: return #"{"users":[{"userRecordName":"_nobody"}]}"#
    case .assetsUpload:
      return #"""
        {\#(zone),"tokens":[{"recordName":"\#(names.record)","recordType":"Note",
        "fieldName":"file"}]}
        """#
    case .assetsRereference:
      return #"{\#(zone),"assets":[{"recordName":"\#(names.record)","fieldName":"file"}]}"#
    case .tokensCreate, .tokensRegister:
      return #"{"apnsEnvironment":"development","apnsToken":"00"}"#
    case .changesDatabase, .zonesChanges, .zonesList, .subscriptionsList, .usersCaller,
      .usersCurrent, .usersLookupContacts:
      return "{}"
    }
  }

  /// Requests that are possible without an account.
  enum Business {
    case allowed
    /// There is nothing like it in this database, for anybody.
    case nonsense
    case forbidden
  }

  /// Requests that are allowed without an account, by WS-8 to WS-13 and WS-54 to WS-65: reads in
  /// the public database, which has no feeds.
  static func worldsBusiness(_ endpoint: Endpoint, _ database: DatabaseScope) -> Business {
    guard database == .public else { return .forbidden }
    switch endpoint {
    case .recordsLookup, .recordsQuery, .zonesList, .zonesLookup: return .allowed
    case .recordsChanges, .changesDatabase, .changesZone, .zonesChanges: return .nonsense
    case .recordsModify, .recordsResolve, .recordsAccept, .zonesModify, .subscriptionsList,
      .subscriptionsLookup, .subscriptionsModify, .usersCaller, .usersCurrent, .usersDiscover,
      .usersLookupEmail, .usersLookupID, .usersLookupContacts, .assetsUpload, .assetsRereference,
      .tokensCreate, .tokensRegister:
      return .forbidden
    }
  }
}
