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
    let text = input.rest
    let path = ServicePath(
      container: WebWorld.container, environment: .development, database: database,
      endpoint: endpoint)
    let server = WebWorld.server(database, isExact: isExact)
    let quick = ServerRequest(quickly: path, text: text, notation: server, wantsToken: wantsToken)
    guard let body = try? JSON(parsing: text),
      let exchange = try? ServerRequest(
        path, body: body, notation: server, wantsToken: wantsToken, newName: { "new" })
    else { return try check(quick == nil, "a request that only the quick reader takes") }
    try check(
      quick.map { WebWorld.isSame($0.requests, exchange.requests) } ?? true,
      "a request that is another one when read quickly")
    for request in exchange.requests {
      if case .modifyRecords(let request) = request {
        for name in request.save.flatMap({ [$0.id.name, $0.id.zone.name, $0.type] }) {
          try plant(planted, name.utf8)
        }
      }
      // As a client of ours would ask for the same, where it can.
      guard isExact, let clientRequest = ClientRequest(request, WebWorld.client(database)) else {
        continue
      }
      let again = try WebWorld.exchange(clientRequest, server)
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
    let text = input.rest
    let client = WebWorld.client(database, isExact: isExact)
    let body = try? JSON(parsing: text)
    guard kind < WebWorld.requests.count else {
      guard let body else { return }
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
    guard let clientRequest = ClientRequest(request, client) else { return }
    let quick = clientRequest.quickReply(to: text)
    guard let body, let reply = try? clientRequest.reply(to: body) else {
      return try check(quick == nil, "an answer that only the quick reader takes")
    }
    try check(
      quick.map { WebWorld.bytes($0) == WebWorld.bytes(reply) } ?? true,
      "an answer that is another one when read quickly")
    if case .records(let results) = reply, let record = results.first?.value,
      case .string(let text)? = record.fields.first?.field.value
    {
      try plant(planted, text.utf8)
    }
    guard isExact else { return }
    let server = WebWorld.server(database, isExact: true)
    guard let exchange = try WebWorld.exchange(clientRequest, server) else { return }
    let outcomes = exchange.requests.map { _ in ServerRequest.Outcome.success(reply) }
    let json = try? exchange.body(outcomes)
    let written = try? exchange.text(outcomes)
    try check(written == json?.bytes, "an answer that is another one when written without a tree")
    guard let json, let written else { return }
    let bytes = WebWorld.bytes(reply)
    try check(
      WebWorld.bytes(try clientRequest.reply(to: json)) == bytes
        && WebWorld.bytes(try clientRequest.reply(toText: written)) == bytes,
      "\(clientRequest.endpoint.rawValue): an answer that is another one when written again")
  }
}

/// Two sides that talk in JSON.
private enum WebWorld {
  static let container = "iCloud.test"

  static let zone = ZoneID(name: "Notes")
  static let id = RecordID(name: "a", zone: zone)

  /// The requests that responses are read as responses to.
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

  /// The server's reading of `clientRequest`, which is written and read with a tree and without.
  static func exchange(_ clientRequest: ClientRequest, _ server: Notation) throws -> ServerRequest?
  {
    let path = ServicePath(
      container: container, environment: .development, database: clientRequest.database,
      endpoint: clientRequest.endpoint)
    let (body, text) = (clientRequest.body, clientRequest.text)
    try check(body?.bytes == text, "a request that is another one when written without a tree")
    let exchange = try ServerRequest(
      path, body: body ?? .members([:]), notation: server, wantsToken: false, newName: { "new" })
    let quick = text.flatMap {
      ServerRequest(quickly: path, text: $0, notation: server, wantsToken: false)
    }
    try check(
      quick.map { isSame($0.requests, exchange?.requests ?? []) } ?? true,
      "what a client wrote that is another request when read quickly")
    return exchange
  }

  /// The binary form of an answer; nothing for none.
  static func bytes(_ reply: CloudReply?) -> [UInt8] {
    var writer = ByteWriter()
    if let reply { writer.write(reply) }
    return writer.bytes
  }

  /// Whether two values are the same, also where a number in them is none.
  static func isSame<Value: Equatable>(_ first: Value, _ second: Value) -> Bool {
    first == second || "\(first)".utf8.elementsEqual("\(second)".utf8)
  }
}
