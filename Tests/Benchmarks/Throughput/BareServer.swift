import CloudMachine
import CloudProtocol
import CommandLineKit
import Foundation
import LoopbackHTTP
import LoopbackServer
import Records
import VerificationSupport

/// A server in this process and one device that asks it without an engine.
final class BareServer: Sendable {
  private static let zone = ZoneID(name: "Notes")

  private let folder: TemporaryFolder
  private let server: LoopbackServer
  private let device: LoopbackDevice

  convenience init() throws { try self.init(TemporaryFolder("bench")) }

  private init(_ folder: TemporaryFolder) throws {
    self.folder = folder
    server = try LoopbackServer(path: BareServer.path(in: folder))
    device = server.device("bench", signedInAs: "alice")
  }

  /// A server that holds `count` notes, which the storage wrote into its file as the server would
  /// have: by requests it takes most of a minute.
  static func holding(_ count: Int) async throws -> BareServer {
    let folder = try TemporaryFolder("bench")
    let empty = try BareServer(folder)
    try await empty.makeZone()
    empty.server.close()
    try fill(path(in: folder), count)
    return try BareServer(folder)
  }

  private static func fill(_ path: String, _ count: Int) throws {
    let storage = try ServerStorage.file(path: path, identity: 0)
    guard var database = try storage.databases().first(where: { $0.id.scope == .private }),
      let user = database.id.owner, var zone = try storage.zone(zone, in: database.id)
    else { throw ToolError("the server has no zone") }
    for start in stride(from: 0, to: count, by: 10_000) {
      var changes: [StorageChange] = []
      for number in start..<min(count, start + 10_000) {
        database.sequence += 1
        var record = record(Job.note(number))
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

  static func record(_ note: SpikeNote) -> Record {
    Record(
      id: RecordID(name: note.name, zone: zone), type: "Note",
      fields: [
        "text": .string(note.text), "position": .int64(Int64(note.position)),
        "isDone": .int64(Int64(note.isDone)),
        "lastModified": .date(
          Timestamp(secondsSinceReferenceDate: note.modified / 1000 - 978_307_200)),
      ])
  }

  deinit { server.close() }

  func send(_ request: CloudRequest) async throws -> CloudReply {
    try await device.ask(request)
  }

  func makeZone() async throws { _ = try await send(.modifyZones(ModifyZones(save: [Self.zone]))) }

  func save(_ records: [RecordSave], policy: SavePolicy = .ifServerRecordUnchanged) async throws {
    for start in stride(from: 0, to: records.count, by: 400) {
      let batch = Array(records[start..<min(start + 400, records.count)])
      guard
        case .recordsModified(let saved, _) = try await send(
          .modifyRecords(ModifyRecords(save: batch, policy: policy))),
        saved.allSatisfy({ $0.error == nil })
      else { throw ToolError("records were not saved") }
    }
  }

  /// The current token of the zone's feed.
  func token() async throws -> ChangeToken? {
    guard case .zones(let zones) = try await send(.fetchZones([Self.zone])) else { return nil }
    return zones.first?.value?.token
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

extension LoopbackDevice {
  /// Sends one request to the private database.
  func ask(_ request: CloudRequest) async throws(CloudError) -> CloudReply {
    try await send(
      CloudCall(
        container: Job.container, database: .private, requestID: UUID().uuidString,
        request: request))
  }
}

extension LoopbackWebServer {
  /// The bytes of a request that looks up one record of `account`.
  func lookupRequest(of name: String, _ account: String) throws -> [UInt8] {
    let body = #"{"zoneID":{"zoneName":"Notes"},"records":[{"recordName":"\#(name)"}]}"#
    let target =
      "/database/1/\(Job.container)/development/private/records/lookup"
      + "?ckAPIToken=\(apiToken())&ckWebAuthToken=\(try webAuthToken(for: account))"
    return HTTPMessage.request(
      "POST", target, host: "127.0.0.1:\(port)", fields: "content-type: text/plain\r\n",
      body: Array(body.utf8))
  }
}

/// Sends `request` `count` times on one connection, on a separate thread: a client that blocks must
/// not take a thread from the tasks of the server.
///
/// - Returns: The time of each answer in nanoseconds.
func askOnThread(_ request: [UInt8], _ count: Int, port: Int) async throws -> [Double] {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread {
      continuation.resume(
        with: Result {
          let client = try LocalClient(port: port)
          return try (0..<count).map { _ in
            let start = ContinuousClock.now
            _ = try client.expect(request, "a request")
            return (ContinuousClock.now - start) / .nanoseconds(1)
          }
        })
    }
  }
}
