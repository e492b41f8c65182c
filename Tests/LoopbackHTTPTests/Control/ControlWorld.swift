import CloudProtocol
import CloudSyncTesting
import LoopbackServer
import Records
import WebServices

@testable import LoopbackHTTP

/// A server with a zone, two records and a subscription of alice, and its control routes.
final class ControlWorld: Sendable {
  static let token = "correct-horse-battery"
  static let hostile = "<script>alert(1)</script>"

  let clock = SimulatedClock()
  let server: LoopbackServer
  let phone: LoopbackDevice
  let tablet: LoopbackDevice
  let routes: ControlRoutes
  let zone = ZoneID(name: "notes")

  init(allowsFaults: Bool = true) {
    server = LoopbackServer(
      clock: { Timestamp(secondsSinceReferenceDate: 1_000) }, delayClock: clock, identity: 1)
    phone = server.device("phone", signedInAs: "alice")
    tablet = server.device("tablet", signedInAs: "alice")
    routes = ControlRoutes(
      server: server, token: ControlWorld.token, allowsFaults: allowsFaults,
      signIn: { account in "token-of-\(account)" }, clock: clock)
  }

  /// Stores something; five requests and, since the tablet hears of what the phone does, pushes.
  func prepare() async throws {
    try await send("1", .modifyZones(ModifyZones(save: [zone])))
    let watch = Subscription(id: SubscriptionID("all"), kind: .database(recordType: nil))
    try await send("2", .modifySubscriptions(ModifySubscriptions(save: [watch])), from: tablet)
    try await save("a", ["text": .string(ControlWorld.hostile), "count": .int64(1 << 60)])
    try await save("b", ["text": .string("two")])
    try await send(
      "5", .modifyRecords(ModifyRecords(delete: [recordID("b")])))
  }

  func recordID(_ name: String) -> RecordID { RecordID(name: name, zone: zone) }

  func save(_ name: String, _ fields: Fields) async throws {
    let record = Record(id: recordID(name), type: "Note", fields: fields)
    try await send("save-\(name)", .modifyRecords(ModifyRecords(save: [RecordSave(record)])))
  }

  @discardableResult
  func send(
    _ id: String, _ request: CloudRequest, from device: LoopbackDevice? = nil
  ) async throws -> CloudReply {
    try await (device ?? phone).send(
      CloudCall(container: "c", database: .private, requestID: id, request: request))
  }

  /// A request with the right token.
  func request(
    _ method: String, _ target: String, _ body: String = "",
    authorization: String? = "Bearer \(ControlWorld.token)", type: String? = "application/json"
  ) -> HTTPRequest {
    let parts = target.split(separator: "?", maxSplits: 1)
    var head = HTTPRequestHead(
      method: method, path: String(parts[0]), query: parts.count > 1 ? String(parts[1]) : nil,
      minorVersion: 1, fields: [])
    if let authorization {
      head.fields.append(.init(name: "authorization", value: authorization))
    }
    if let type, method == "POST" { head.fields.append(.init(name: "content-type", value: type)) }
    return HTTPRequest(head: head, body: Array(body.utf8))
  }

  /// The status and the body of an answer, as one line.
  func answer(_ request: HTTPRequest) async -> String {
    let response = await routes.answer(request)
    return "\(response.status) \(String(decoding: response.body, as: UTF8.self))"
  }

  /// The answer to `GET` below the prefix.
  func get(_ target: String) async -> String {
    await answer(request("GET", "/cloudsync/1/\(target)"))
  }

  /// The answer to faults.
  func post(_ body: String) async -> String {
    await answer(request("POST", "/cloudsync/1/faults", body))
  }

  /// The JSON of the answer to `GET` below the prefix.
  func json(_ target: String) async throws -> JSON {
    let response = await routes.answer(request("GET", "/cloudsync/1/\(target)"))
    return try JSON(parsing: response.body)
  }
}
