import CloudProtocol
import Records
import WebServices

@testable import LoopbackServer

extension FuzzTarget {
  /// Bodies of requests, as a server reads them.
  static let exchange = FuzzTarget(name: "exchange") { input, planted in
    var input = input
    let endpoint = input.choice(of: Endpoint.allCases)
    let (database, isExact, wantsToken) = WebWorld.settings(&input)
    guard let body = try? JSON(parsing: input.rest) else { return }
    let path = ServicePath(
      container: WebWorld.container, environment: .development, database: database,
      endpoint: endpoint)
    let server = WebWorld.server(database, isExact: isExact)
    guard
      let exchange = try? Exchange(
        path, body: body, notation: server, wantsToken: wantsToken, newName: { "new" })
    else { return }
    for request in exchange.requests {
      if case .modifyRecords(let request) = request, let name = request.save.first?.id.name {
        try plant(planted, name.utf8)
      }
      // As a client of ours would ask for the same, where it can.
      guard isExact, let errand = Errand(request, WebWorld.client(database)) else { continue }
      let again = try WebWorld.exchange(errand, server)
      try check(
        again?.requests.first.map { WebWorld.isSame($0, request) } ?? true,
        "\(endpoint.rawValue): a request that is another one when sent again")
    }
  }

  /// Bodies of answers, as a client reads them.
  static let reply = FuzzTarget(name: "reply") { input, planted in
    var input = input
    let kind = input.choice(WebWorld.requests.count + 2)
    let (database, isExact, _) = WebWorld.settings(&input)
    guard let body = try? JSON(parsing: input.rest) else { return }
    let client = WebWorld.client(database, isExact: isExact)
    guard kind < WebWorld.requests.count else {
      if kind == WebWorld.requests.count {
        guard let push = try? client.push(body), isExact else { return }
        let json = client.json(push, number: "1")
        try check(
          WebWorld.isSame(try client.push(json), push), "a push that is another one when written")
      } else if let error = try? client.error(body) {
        try plant(planted, error.message.utf8)
      }
      return
    }
    let request = WebWorld.requests[kind]
    guard let errand = Errand(request, client), let reply = try? errand.reply(to: body) else {
      return
    }
    if case .records(let results) = reply, let record = results.first?.value,
      case .string(let text)? = record.fields.first?.field.value
    {
      try plant(planted, text.utf8)
    }
    guard isExact else { return }
    let server = WebWorld.server(database, isExact: true)
    guard let exchange = try WebWorld.exchange(errand, server) else { return }
    let outcomes = exchange.requests.map { _ in Exchange.Outcome.success(reply) }
    guard let json = try? exchange.body(outcomes) else { return }
    var writer = ByteWriter()
    writer.write(reply)
    var second = ByteWriter()
    second.write(try errand.reply(to: json))
    try check(
      writer.bytes == second.bytes,
      "\(errand.endpoint.rawValue): an answer that is another one when written again")
  }
}

/// Two sides that talk in JSON.
private enum WebWorld {
  static let container = "iCloud.test"

  static let zone = ZoneID(name: "Notes")
  static let id = RecordID(name: "a", zone: zone)

  /// What answers are read as answers to.
  static let requests: [CloudRequest] = [
    .fetchCurrentUser,
    .fetchDatabaseChanges(FetchDatabaseChanges(since: nil)),
    .fetchZoneChanges(FetchZoneChanges(zone: zone, since: nil)),
    .fetchZones(nil), .fetchZones([zone]),
    .modifyZones(ModifyZones(save: [zone], delete: [ZoneID(name: "b")])),
    .fetchRecords(FetchRecords(ids: [id])),
    .modifyRecords(
      ModifyRecords(
        save: [RecordSave(id: id, type: "Note", changes: [])],
        delete: [RecordID(name: "b", zone: zone)])),
    .fetchSubscriptions(nil), .fetchSubscriptions([SubscriptionID("s")]),
    .modifySubscriptions(
      ModifySubscriptions(
        save: [Subscription(id: SubscriptionID("s"), kind: .database(recordType: nil))],
        delete: [SubscriptionID("t")])),
    .queryRecords(QueryRecords(query: Query(recordType: "Note"), zone: zone)),
    .resolveShares(ResolveShares(urls: ["https://share.test/a"])),
    .acceptShares(["https://share.test/a"]),
    .findUsers([.email("a@b.test")]),
  ]

  static func settings(_ input: inout FuzzInput) -> (DatabaseScope, Bool, Bool) {
    let bits = input.byte()
    let scopes = DatabaseScope.allCases
    return (scopes[Int(bits >> 2) % scopes.count], bits & 1 == 0, bits & 2 != 0)
  }

  static func server(_ database: DatabaseScope, isExact: Bool) -> Notation {
    Notation(
      container: container, database: database, user: UserID("_alice"), isExact: isExact)
  }

  static func client(_ database: DatabaseScope, isExact: Bool = true) -> Notation {
    Notation(container: container, database: database, isExact: isExact)
  }

  /// What a server makes of `errand`.
  static func exchange(_ errand: Errand, _ server: Notation) throws -> Exchange? {
    try Exchange(
      ServicePath(
        container: container, environment: .development, database: errand.database,
        endpoint: errand.endpoint), body: errand.body ?? .members([:]), notation: server,
      wantsToken: false, newName: { "new" })
  }

  /// Whether two values are the same, also where a number in them is none.
  static func isSame<Value: Equatable>(_ first: Value, _ second: Value) -> Bool {
    first == second || "\(first)".utf8.elementsEqual("\(second)".utf8)
  }
}
