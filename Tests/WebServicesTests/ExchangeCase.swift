import CloudProtocol
import Records
import WebServices

/// A body as some client sends it, and what a server is to make of it.
struct ExchangeCase {
  /// Either what is to be asked of the cloud, or a part of the reason of a refusal.
  enum Outcome {
    case asks([CloudRequest])
    case refuses(String)
  }

  var name: String
  var endpoint: Endpoint
  var database: DatabaseScope
  var body: String
  var outcome: Outcome

  init(
    _ name: String, _ endpoint: Endpoint, _ body: String, in database: DatabaseScope = .private,
    _ requests: CloudRequest...
  ) {
    self.name = name
    self.endpoint = endpoint
    self.database = database
    self.body = body
    outcome = .asks(requests)
  }

  /// A body that is refused with a reason that has `reason` in it.
  init(_ endpoint: Endpoint, refuses body: String, _ reason: String) {
    name = "\(endpoint.rawValue) \(body)"
    self.endpoint = endpoint
    database = .private
    self.body = body
    outcome = .refuses(reason)
  }

  static let alice = UserID("_alice")

  /// The exchange that comes of it, for the user `alice` and without extra members.
  func exchange() throws -> ServerRequest? {
    try ExchangeCase.exchange(JSON(parsing: Array(body.utf8)), endpoint, database)
  }

  static func exchange(
    _ body: JSON, _ endpoint: Endpoint, _ database: DatabaseScope = .private,
    isExact: Bool = false, wantsToken: Bool = false
  ) throws -> ServerRequest? {
    let path = ServicePath(
      container: "iCloud.test", environment: .development, database: database, endpoint: endpoint)
    let notation = Notation(
      container: "iCloud.test", database: database, user: alice, isExact: isExact)
    var count = 0
    return try ServerRequest(path, body: body, notation: notation, wantsToken: wantsToken) {
      count += 1
      return "new\(count)"
    }
  }
}

/// Short names for what tables are full of.
extension ZoneID {
  static let notes = ZoneID(name: "Notes")
}

extension RecordID {
  static func note(_ name: String, in zone: ZoneID = .notes) -> RecordID {
    RecordID(name: name, zone: zone)
  }
}
