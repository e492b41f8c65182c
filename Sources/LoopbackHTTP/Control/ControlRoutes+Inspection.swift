import CloudProtocol
import LoopbackServer
import Records
import WebServices

/// The server's contents, read without faults applied.
extension ControlRoutes {
  /// The maximum number of entries in one response.
  package static let longestPage = 10_000

  func status(_ head: HTTPRequestHead) throws(HTTPRefusal) -> JSON {
    _ = try ControlQuery(head.query, knowing: [])
    let accounts = try people().count
    let databases = try ask { () throws(CloudError) in try server.databases().count }
    return .members([
      "name": .string("swift-cloud-sync"), "faultControl": .bool(allowsFaults),
      "accounts": .integer(accounts), "databases": .integer(databases),
      "devices": .integer(server.knownDevices().count),
      "openRequests": .integer(server.controls.openRequestCount),
      "lastEvent": .integer(server.lastEventNumber),
    ])
  }

  func accounts(_ head: HTTPRequestHead) throws(HTTPRefusal) -> JSON {
    _ = try ControlQuery(head.query, knowing: [])
    return .members(["accounts": .array(try people().map(ControlNotation.json))])
  }

  /// The accounts, without those of server-to-server keys.
  func people() throws(HTTPRefusal) -> [ServerAccount] {
    try ask { () throws(CloudError) in try server.accounts() }
      .filter { !ServerKeys.isKey(account: $0.name) }
  }

  func databases(_ head: HTTPRequestHead) throws(HTTPRefusal) -> JSON {
    _ = try ControlQuery(head.query, knowing: [])
    let databases = try ask { () throws(CloudError) in try server.databases() }
    return .members(["databases": .array(databases.map(ControlNotation.json))])
  }

  func devices(_ head: HTTPRequestHead) throws(HTTPRefusal) -> JSON {
    _ = try ControlQuery(head.query, knowing: [])
    return .members(["devices": .array(server.knownDevices().map(ControlNotation.json))])
  }

  func zones(_ head: HTTPRequestHead) throws(HTTPRefusal) -> JSON {
    let query = try ControlQuery(head.query, knowing: DatabaseName.parameters)
    let name = try DatabaseName(query)
    let notation = try notation(of: name)
    let (zones, gone) = try ask { () throws(CloudError) in
      let zones = try server.zones(
        container: name.container, account: name.account, environment: name.environment)
      let gone = try server.deletedZones(
        container: name.container, account: name.account, environment: name.environment)
      return (zones, gone)
    }
    return .members([
      "zones": .array(zones.map { .members(["zoneID": notation.json($0)]) }),
      "deletedZones": .array(
        gone.map {
          .members(["zoneID": notation.json($0.zone), "reason": .string("\($0.reason)")])
        }),
    ])
  }

  func records(_ head: HTTPRequestHead) throws(HTTPRefusal) -> JSON {
    let query = try ControlQuery(
      head.query,
      knowing: DatabaseName.parameters.union([
        "zone", "record", "after", "limit", "numbersAsStrings", "order",
      ]))
    let name = try DatabaseName(query)
    let zone = ZoneID(name: try query.text("zone"))
    let limit = try query.count("limit", in: 1...ControlRoutes.longestPage, or: 200)
    var notation = try notation(of: name)
    notation.numbersAsStrings = try query.flag("numbersAsStrings")
    let order = try query.word("order", or: RecordOrder.name) { $0.rawValue }
    if order == .latest {
      return try latestRecords(zone, name, notation, limit, query)
    }
    let (records, newest) = try ask { () throws(CloudError) in
      try server.recordsAndNewest(
        in: zone, container: name.container, account: name.account, environment: name.environment)
    }
    // A page starts after a record name, so it is correct even when records were added or deleted.
    let after = query.optionalText("after").map { RecordID(name: $0, zone: zone) }
    let one = query.optionalText("record")
    let rest = records[...].drop { record in after.map { record.id <= $0 } ?? false }
      .filter { one == nil || $0.id.name == one }
    let page = rest.prefix(limit)
    return .members([
      "records": .array(page.map { notation.json($0) }), "count": .integer(records.count),
      "next": rest.count > page.count ? ControlNotation.text(page.last?.id.name) : nil,
      "newest": ControlNotation.text(newest?.name),
    ])
  }

  /// A page of records, the latest change first, or a single record; the cost does not depend on
  /// the size of the zone.
  private func latestRecords(
    _ zone: ZoneID, _ name: DatabaseName, _ notation: Notation, _ limit: Int, _ query: ControlQuery
  ) throws(HTTPRefusal) -> JSON {
    if let one = query.optionalText("record") {
      let record = try ask { () throws(CloudError) in
        try server.record(
          RecordID(name: one, zone: zone), container: name.container, account: name.account,
          environment: name.environment)
      }
      return .members(["records": .array(record.map { [notation.json($0)] } ?? [])])
    }
    let before = try query.optionalText("after").map { _ throws(HTTPRefusal) in
      try query.count("after", in: 0...UInt64.max, or: 0)
    }
    let page = try ask { () throws(CloudError) in
      try server.latestRecords(
        in: zone, container: name.container, account: name.account, environment: name.environment,
        before: before, limit: limit)
    }
    return .members([
      "records": .array(page.records.map { notation.json($0) }), "count": .integer(page.count),
      "countIsMinimum": page.count < LatestRecords.mostCounted ? nil : .bool(true),
      "next": page.next.map { .string("\($0)") },
      "newest": before == nil ? ControlNotation.text(page.records.first?.id.name) : nil,
    ])
  }

  func changes(_ head: HTTPRequestHead) throws(HTTPRefusal) -> JSON {
    let query = try ControlQuery(
      head.query, knowing: DatabaseName.parameters.union(["zone", "after", "limit", "latest"]))
    let name = try DatabaseName(query)
    let zone = ZoneID(name: try query.text("zone"))
    let latest = try query.count("latest", in: 1...ControlRoutes.longestPage, or: Int.max)
    let after = try query.count("after", in: 0...UInt64.max, or: 0)
    let limit = try query.count("limit", in: 1...ControlRoutes.longestPage, or: 200)
    let log = try ask { () throws(CloudError) in
      guard latest == Int.max else {
        return try server.latestChanges(
          of: zone, container: name.container, account: name.account,
          environment: name.environment, limit: latest)
      }
      return try server.changeLog(
        of: zone, container: name.container, account: name.account, environment: name.environment)
    }
    let page = log.suffix(latest).drop { $0.sequence <= after }.prefix(limit)
    return .members([
      "changes": .array(page.map(ControlNotation.json)),
      "next": .integer(Int64(clamping: page.last?.sequence ?? after)),
    ])
  }

  func subscriptions(_ head: HTTPRequestHead) throws(HTTPRefusal) -> JSON {
    let query = try ControlQuery(head.query, knowing: DatabaseName.parameters.union(["scope"]))
    let name = try DatabaseName(query)
    let account = try query.text("account")
    let scope = try query.word("scope", or: DatabaseScope.private) { $0.pathName }
    var notation = try notation(of: name)
    notation.database = scope
    let subscriptions = try ask { () throws(CloudError) in
      try server.subscriptions(
        container: name.container, account: account, scope: scope, environment: name.environment)
    }
    return .members(["subscriptions": .array(subscriptions.map { notation.json($0) })])
  }

  func schema(_ head: HTTPRequestHead) throws(HTTPRefusal) -> JSON {
    let query = try ControlQuery(head.query, knowing: ["container", "environment"])
    let container = try query.text("container")
    let environment = try query.word("environment", or: CloudEnvironment.development) {
      $0.rawValue
    }
    let schema = try ask { () throws(CloudError) in
      try server.recordTypes(container: container, environment: environment)
    }
    return .members([
      "recordTypes": .array(
        schema.types.map {
          .members([
            "recordType": .string($0.id.name),
            "fields": .array($0.fields.map(ControlNotation.json)),
          ])
        }), "isClosed": .bool(schema.isClosed),
    ])
  }

  /// The JSON notation for the database, without the members that only this package's engine reads.
  private func notation(of name: DatabaseName) throws(HTTPRefusal) -> Notation {
    var user: UserID?
    if let account = name.account {
      user = try ask { () throws(CloudError) in try server.accounts() }
        .first { $0.name == account }?.user
    }
    return Notation(
      container: name.container, database: name.account == nil ? .public : .private, user: user,
      isExact: false)
  }
}

/// A private database, by its account, or a public one.
private struct DatabaseName {
  static let parameters: Set<String> = ["container", "environment", "account"]

  var container: String
  var environment: CloudEnvironment
  var account: String?

  init(_ query: ControlQuery) throws(HTTPRefusal) {
    container = try query.text("container")
    environment = try query.word("environment", or: .development) { $0.rawValue }
    account = query.optionalText("account")
  }
}

/// The order in which records are listed.
private enum RecordOrder: String, CaseIterable {
  /// By name.
  case name
  /// The latest change first.
  case latest
}
