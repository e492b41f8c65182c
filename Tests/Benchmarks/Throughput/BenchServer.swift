import CloudMachine
import CloudProtocol
import CloudSync
import CommandLineKit
import Foundation
import LoopbackHTTP
import LoopbackServer
import Records
import VerificationSupport

/// A server in this process, which devices with an engine use, or a benchmark without one.
final class BenchServer: Sendable {
  /// The kind of server.
  enum Place: Sendable {
    /// In memory.
    case memory
    /// On a file.
    case file
    /// On a file, behind HTTP.
    case web
    /// In memory, behind HTTP.
    case webInMemory

    var isOnFile: Bool { self == .file || self == .web }
    var isBehindHTTP: Bool { self == .web || self == .webInMemory }
  }

  static let container = "iCloud.bench"
  static let zone = ZoneID(name: "Notes")

  let server: LoopbackServer
  let web: LoopbackWebServer?
  private let folder: TemporaryFolder

  init(
    _ place: Place, limits: ServerLimits = ServerLimits(), in folder: TemporaryFolder? = nil
  ) throws {
    let folder = try folder ?? TemporaryFolder("bench")
    self.folder = folder
    server =
      place.isOnFile
      ? try LoopbackServer(path: Self.path(in: folder), limits: limits)
      : LoopbackServer(limits: limits)
    web = place.isBehindHTTP ? try LoopbackWebServer(server) : nil
  }

  deinit { server.close() }

  /// The transport of a device of alice.
  func transport(_ device: String) throws -> any CloudTransport {
    guard let web else { return server.device(device, signedInAs: "alice") }
    return WebServicesTransport(
      url: URL(string: web.url), apiToken: web.apiToken(),
      webAuthToken: try web.webAuthToken(for: "alice"), device: device)
  }

  /// Stops the server behind HTTP.
  func stop() async { await web?.stop() }

  /// The times to send and then to fetch `notes` with engines.
  static func run(_ place: Place, _ notes: [SpikeNote]) async throws -> [Duration] {
    let server = try BenchServer(place)
    let phone = JobDevice(try server.transport("phone"), sending: notes)
    let push = try await phone.sendAll()
    let desk = JobDevice(try server.transport("desk"))
    let pull = try await desk.fetchAll(notes.count)
    await server.stop()
    return [push, pull]
  }

  // MARK: A server with many notes

  /// A server that holds `count` notes, which the storage wrote into its file as the server would
  /// have: by requests it takes most of a minute.
  static func holding(_ count: Int, in place: Place = .file) async throws -> BenchServer {
    let folder = try TemporaryFolder("bench")
    let empty = try BenchServer(.file, in: folder)
    try await empty.makeZone()
    empty.server.close()
    try fill(in: folder, 0..<count) { SpikeNote.sample($0).record }
    return try BenchServer(place, in: folder)
  }

  /// Writes records into the file of a server that is closed and has the zone.
  static func fill(
    in folder: TemporaryFolder, _ numbers: Range<Int>, _ record: (Int) -> Record
  ) throws {
    let storage = try ServerStorage.file(path: path(in: folder), identity: 0)
    guard var database = try storage.databases().first(where: { $0.id.scope == .private }),
      let user = database.id.owner, var zone = try storage.zone(zone, in: database.id)
    else { throw ToolError("the server has no zone") }
    for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 10_000) {
      var changes: [StorageChange] = []
      for number in start..<min(numbers.upperBound, start + 10_000) {
        database.sequence += 1
        var record = record(number)
        record.changeTag = ChangeTag(String(database.sequence, radix: 36))
        record.created = RecordStamp(time: database.latest, user: user, device: "bench")
        record.modified = record.created
        database.byteCount += record.storedByteCount
        zone.byteCount += record.storedByteCount
        let row = RecordRow(
          id: record.id, type: record.type, record: record, changedAt: database.sequence,
          device: "bench")
        changes.append(.putRecord(row, in: database.id))
      }
      zone.changedAt = database.sequence
      try storage.commit(changes + [.putDatabase(database), .putZone(zone, in: database.id)])
    }
  }

  private static func path(in folder: TemporaryFolder) -> String { folder.path("cloud.db") }

  // MARK: Requests without an engine

  /// Sends one request of an account to its private database.
  func send(
    _ request: CloudRequest, as account: String = "alice"
  ) async throws(CloudError) -> CloudReply {
    try await server.device("bench-\(account)", signedInAs: account).send(
      CloudCall(
        container: Self.container, database: .private, requestID: UUID().uuidString,
        request: request))
  }

  func makeZone(as account: String = "alice") async throws {
    _ = try await send(.modifyZones(ModifyZones(save: [Self.zone])), as: account)
  }

  func save(
    _ records: [RecordSave], policy: SavePolicy = .ifServerRecordUnchanged,
    as account: String = "alice"
  ) async throws {
    for start in stride(from: 0, to: records.count, by: 400) {
      let batch = Array(records[start..<min(start + 400, records.count)])
      guard
        case .recordsModified(let saved, _) = try await send(
          .modifyRecords(ModifyRecords(save: batch, policy: policy)), as: account),
        saved.allSatisfy({ $0.error == nil })
      else { throw ToolError("records were not saved") }
    }
  }

  /// The current token of the zone's feed.
  func token() async throws -> ChangeToken? {
    guard case .zones(let zones) = try await send(.fetchZones([Self.zone])) else { return nil }
    return zones.first?.value?.token
  }

  /// The port of the server behind HTTP.
  var port: Int { web?.port ?? 0 }

  /// The bytes of a request over HTTP that looks up one record of `account`.
  func lookupRequest(of name: String, _ account: String) throws -> [UInt8] {
    guard let web else { throw ToolError("the server is not behind HTTP") }
    let body = #"{"zoneID":{"zoneName":"Notes"},"records":[{"recordName":"\#(name)"}]}"#
    let target =
      "/database/1/\(Self.container)/development/private/records/lookup"
      + "?\(try web.tokenQuery(for: account))"
    return HTTPMessage.request(
      "POST", target, host: "127.0.0.1:\(port)", fields: "content-type: text/plain\r\n",
      body: Array(body.utf8))
  }

  /// The number of records that changed since.
  func fetch(since: ChangeToken?) async throws -> Int {
    var token = since
    var count = 0
    while true {
      let request = FetchZoneChanges(zone: Self.zone, since: token, limit: 400)
      guard case .zoneChanges(let page) = try await send(.fetchZoneChanges(request)) else {
        throw ToolError("no page came")
      }
      count += page.modified.count
      token = page.token
      if !page.moreComing { return count }
    }
  }
}

extension SpikeNote {
  /// The note with this number, of the size of a small record.
  static func sample(_ number: Int, name: String? = nil) -> SpikeNote {
    SpikeNote(
      name: name ?? PendingSample.name(number),
      text: "Bread, milk, apples, and whatever looks good today.", position: number, isDone: 0,
      modified: 1_700_000_000_123 + Double(number))
  }

  /// The first `count` notes.
  static func samples(_ count: Int) -> [SpikeNote] { (0..<count).map { sample($0) } }

  /// The note as a record of the server.
  var record: Record {
    Record(
      id: RecordID(name: name, zone: BenchServer.zone), type: "Note",
      fields: [
        "text": .string(text), "position": .int64(Int64(position)),
        "isDone": .int64(Int64(isDone)),
        "lastModified": .date(Timestamp(secondsSinceReferenceDate: modified / 1000 - 978_307_200)),
      ])
  }
}

extension LoopbackWebServer {
  /// The query with the tokens of an account.
  func tokenQuery(for account: String) throws -> String {
    "ckAPIToken=\(apiToken())&ckWebAuthToken=\(try webAuthToken(for: account))"
  }
}

/// Sends `request` `count` times on one connection.
///
/// - Returns: The time of each answer in nanoseconds.
func askOnThread(_ request: [UInt8], _ count: Int, port: Int) async throws -> [Double] {
  try await withClientOnThread(port: port) { client in
    try (0..<count).map { _ in
      let start = ContinuousClock.now
      _ = try client.expect(request, "a request")
      return (ContinuousClock.now - start) / .nanoseconds(1)
    }
  }
}

/// Runs `body` with a connection, on a separate thread: a client that blocks must not take a thread
/// from the tasks of the server.
func withClientOnThread<Value: Sendable>(
  port: Int, _ body: @escaping @Sendable (LocalClient) throws -> Value
) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread {
      continuation.resume(with: Result { try body(LocalClient(port: port)) })
    }
  }
}
