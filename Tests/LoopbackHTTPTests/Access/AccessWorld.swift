import CloudProtocol
import CloudSyncTesting
import Foundation
import LoopbackServer
import Records
import Synchronization
import Testing
import WebServices

@testable import LoopbackHTTP

/// A server over HTTP with things of alice's that nobody else may learn of.
final class AccessWorld: Sendable {
  static let container = "iCloud.mine"
  static let otherContainer = "iCloud.other"
  /// In every name and value of alice's, and in nothing that others say.
  static let mark = "ALICES"
  static let alice = "ALICES-account"
  static let lifetime: Double = 3600

  let server: LoopbackServer
  let web: LoopbackWebServer
  let httpClock = SimulatedClock()
  /// Alice's user record name, which others may know.
  let alicesUser: String
  private let time: SharedTime

  private final class SharedTime: Sendable {
    let seconds = Mutex<Double>(1_000_000)
  }

  /// Listens; on a file at `path`, or in memory.
  init(
    path: String? = nil, origins: [String] = [], limits: HTTPLimits = HTTPLimits(),
    _ change: (inout LoopbackWebServer.Options) -> Void = { _ in }
  ) throws {
    let time = SharedTime()
    self.time = time
    let clock: @Sendable () -> Timestamp = {
      Timestamp(secondsSinceReferenceDate: time.seconds.withLock { $0 })
    }
    let server =
      try path.map { try LoopbackServer(path: $0, clock: clock) } ?? LoopbackServer(clock: clock)
    self.server = server
    var options = LoopbackWebServer.Options(
      allowedOrigins: origins, webTokenSeconds: AccessWorld.lifetime)
    change(&options)
    web = try LoopbackWebServer(
      server, options: options,
      http: HTTPServerOptions(host: options.host, clock: httpClock) { $0.limits = limits })
    alicesUser = try server.user(of: AccessWorld.alice).rawValue
  }

  /// Runs a test on a world of its own.
  static func run(
    path: String? = nil, origins: [String] = [], limits: HTTPLimits = HTTPLimits(),
    options change: (inout LoopbackWebServer.Options) -> Void = { _ in },
    sourceLocation: SourceLocation = #_sourceLocation, _ test: (AccessWorld) async throws -> Void
  ) async throws {
    let world = try AccessWorld(path: path, origins: origins, limits: limits, change)
    do {
      try await test(world)
    } catch {
      Issue.record(error, sourceLocation: sourceLocation)
    }
    await world.close()
  }

  func close() async {
    await web.stop()
    server.close()
  }

  /// Lets the server's clock go on.
  func pass(seconds: Double) { time.seconds.withLock { $0 += seconds } }

  // MARK: Asking

  /// The answer to a request on a connection of its own.
  func ask(
    _ method: String, _ target: String, fields: [String] = [], body: [UInt8]? = nil
  ) async throws -> TestClient.Answer {
    let length = body.map { ["Content-Length: \($0.count)"] } ?? []
    let lines = ["\(method) \(target) HTTP/1.1", "Host: 127.0.0.1:\(web.port)"] + fields + length
    return try await send((lines + ["", ""]).joined(separator: "\r\n"), body ?? [], method)
  }

  /// The answer to these very bytes.
  func send(
    _ head: String, _ body: [UInt8] = [], _ method: String = "GET",
    address: UInt32 = 0x7F00_0001
  ) async throws -> TestClient.Answer {
    let client = try TestClient(port: web.port, address: address)
    // A server that refuses before it has read a body may end first.
    await client.send(Array(head.utf8) + body)
    let answer = try await client.answer(to: method)
    await client.close()
    return answer
  }

  func path(_ endpoint: Endpoint, _ database: DatabaseScope = .private) -> String {
    ServicePath(
      container: AccessWorld.container, environment: .development,
      database: endpoint.isOfDevice ? .public : database, endpoint: endpoint
    ).text
  }

  /// The answer to a request that shows these query items.
  func post(
    _ endpoint: Endpoint, _ database: DatabaseScope = .private, query: String, _ body: String,
    fields: [String] = []
  ) async throws -> TestClient.Answer {
    try await ask(
      "POST", path(endpoint, database) + "?" + query, fields: fields, body: Array(body.utf8))
  }

  /// The query items of an account.
  func query(_ account: String) throws -> String {
    "ckAPIToken=\(web.apiToken())&ckWebAuthToken=\(try web.webAuthToken(for: account))"
  }

  /// The response to alice, which must be a success.
  func alices(
    _ endpoint: Endpoint, _ database: DatabaseScope = .private, _ body: String
  ) async throws -> JSON {
    let answer = try await post(
      endpoint, database, query: try query(AccessWorld.alice), body)
    try #require(
      answer.status == 200 && !answer.text.contains("serverErrorCode"),
      "\(endpoint): \(answer.text)")
    return try JSON(parsing: answer.body)
  }

  // MARK: What alice keeps

  static let zone = #""zoneID":{"zoneName":"ALICES-zone"}"#

  /// The names and paths of alice's data.
  struct Belongings: Sendable {
    /// The short name of her share.
    var shareName: String
    /// The path where her file can be had.
    var filePath: String
    /// A path where she may bring a file, and one where she waits for pushes.
    var uploadPath: String
    var courierPath: String

    /// The signed part of each path.
    var signatures: [String] {
      [filePath, uploadPath, courierPath].map { String($0.split(separator: "/").last ?? "") }
    }
  }

  /// Saves alice's things: a zone, records, a file, a share, a subscription.
  func settle() async throws -> Belongings {
    let zone = AccessWorld.zone
    _ = try await alices(
      .zonesModify,
      body: #"{"operations":[{"operationType":"create","zone":{\#(zone)}}]}"#)
    let uploadPath = try await uploadTicket()
    let brought = try await ask("POST", uploadPath, body: Array("ALICES-file-content".utf8))
    let file = try #require(try JSON(parsing: brought.body)["singleFile"])
    let text = String(decoding: file.bytes, as: UTF8.self)
    let saved = try await alices(
      .recordsModify,
      body: #"""
        {\#(zone),"operations":[{"operationType":"create","record":{"recordName":"ALICES-record",
        "recordType":"Note","createShortGUID":true,"fields":{"title":{"value":"ALICES-title"},
        "file":{"type":"ASSETID","value":\#(text)}}}},
        {"operationType":"create","record":{"recordName":"ALICES-share",
        "recordType":"cloudkit.share","fields":{"cloudkit.title":{"value":"ALICES-share-title"}},
        "publicPermission":"NONE","participants":[],"forRecord":{"recordName":"ALICES-record"}}}]}
        """#)
    _ = try await alices(
      .subscriptionsModify,
      body: #"""
        {"operations":[{"operationType":"create","subscription":{
        "subscriptionID":"ALICES-subscription","subscriptionType":"zone",\#(zone)}}]}
        """#)
    let found = try await alices(
      .recordsLookup, body: #"{\#(zone),"records":[{"recordName":"ALICES-record"}]}"#)
    let url = found["records"]?.array?.first?["fields"]?["file"]?["value"]?["downloadURL"]?.string
    let share = saved["records"]?.array?.last?["shortGUID"]?.string
    return Belongings(
      shareName: try #require(share), filePath: try path(of: url),
      uploadPath: try await uploadTicket(), courierPath: try await createToken())
  }

  func uploadTicket() async throws -> String {
    let tokens = try await alices(
      .assetsUpload,
      body: #"""
        {\#(AccessWorld.zone),"tokens":[{"recordName":"ALICES-record","recordType":"Note",
        "fieldName":"file"}]}
        """#)
    return try path(of: tokens["tokens"]?.array?.first?["url"]?.string)
  }

  func createToken() async throws -> String {
    let push = try await alices(.tokensCreate, body: #"{"apnsEnvironment":"development"}"#)
    return try path(of: push["webcourierURL"]?.string)
  }

  /// The response to alice on her private database, which must be a success.
  func alices(_ endpoint: Endpoint, body: String) async throws -> JSON {
    try await alices(endpoint, .private, body)
  }

  /// The path and query of a URL of this server.
  func path(of url: String?) throws -> String {
    let url = try #require(url)
    return String(url.dropFirst(web.url.count))
  }
}
