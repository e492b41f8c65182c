import CloudProtocol
import CloudSync
import Foundation
import LoopbackHTTP
import LoopbackServer
import Records
import SQLite
import Synchronization

/// How long it takes until a change that is safe on the server is on the other device.
enum PushBenchmark {
  private static let zone = CKRecordZone(zoneName: "Notes")

  /// An engine that notes when its changes were taken and when others' arrived.
  private final class Device: CKSyncEngineDelegate {
    private struct State {
      var times: [String: ContinuousClock.Instant] = [:]
      var waiting: [String: CheckedContinuation<ContinuousClock.Instant, Never>] = [:]
    }

    private let state = Mutex(State())
    private let running = Mutex<CKSyncEngine?>(nil)

    init(_ transport: WebServicesTransport) {
      let container = CKContainer(identifier: "iCloud.bench", transport: transport)
      running.withLock {
        $0 = CKSyncEngine(
          CKSyncEngine.Configuration(
            database: container.privateCloudDatabase, stateSerialization: nil, delegate: self))
      }
    }

    /// Makes the zone.
    func begin() async throws {
      let engine = running.withLock { $0 }
      engine?.state.add(pendingDatabaseChanges: [.saveZone(zone)])
      try await engine?.sendChanges()
    }

    func stop() { running.withLock { $0 = nil } }

    func write(_ name: String) async throws {
      let engine = running.withLock { $0 }
      defer { keep(engine) }
      engine?.state.add(
        pendingRecordZoneChanges: [
          .saveRecord(CKRecord.ID(recordName: name, zoneID: zone.zoneID))
        ])
      try await engine?.sendChanges()
    }

    /// When the record called `name` was taken by the server, or came from there.
    func time(of name: String) async -> ContinuousClock.Instant {
      await withCheckedContinuation { continuation in
        let time = state.withLock { state in
          if let time = state.times[name] { return time as ContinuousClock.Instant? }
          state.waiting[name] = continuation
          return nil
        }
        if let time { continuation.resume(returning: time) }
      }
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
      let now = ContinuousClock.now
      switch event {
      case .sentRecordZoneChanges(let sent): note(sent.savedRecords, now)
      case .fetchedRecordZoneChanges(let changes): note(changes.modifications.map(\.record), now)
      default: break
      }
    }

    private func note(_ records: [CKRecord], _ now: ContinuousClock.Instant) {
      let ready = state.withLock { state in
        records.compactMap { record in
          let name = record.recordID.recordName
          // One's own changes come back too; the first time is the one.
          guard state.times[name] == nil else {
            return nil as CheckedContinuation<ContinuousClock.Instant, Never>?
          }
          state.times[name] = now
          return state.waiting.removeValue(forKey: name)
        }
      }
      for continuation in ready { continuation.resume(returning: now) }
    }

    func nextRecordZoneChangeBatch(
      _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
      let pending = syncEngine.state.pendingRecordZoneChanges
        .filter(context.options.scope.contains)
      return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: pending) { id in
        let record = CKRecord(recordType: "Note", recordID: id)
        record["text"] = "Bread, milk, apples."
        return record
      }
    }
  }

  private final class World: Sendable {
    let folder: TemporaryFolder
    let web: LoopbackWebServer
    let (phone, desk): (Device, Device)
    private let raw: Raw

    init() throws {
      folder = try TemporaryFolder()
      let web = try LoopbackWebServer(try LoopbackServer(path: folder.path("cloud.db")))
      self.web = web
      func transport(_ device: String) throws -> WebServicesTransport {
        WebServicesTransport(
          url: URL(string: web.url), apiToken: web.apiToken(),
          webAuthToken: try web.webAuthToken(for: "alice"), device: device)
      }
      let database = try Connection(path: folder.path("raw.db"))
      try database.useWriteAheadLog()
      try database.execute("CREATE TABLE rows (name TEXT PRIMARY KEY, body BLOB NOT NULL) STRICT")
      let server = try HTTPServer(
        admission: { _ in .accept(bodyBytes: 1 << 16) },
        handler: { _ in HTTPResponse(200, body: Array(repeating: 0x78, count: 400)) })
      raw = Raw(
        server: server, connection: try RawConnection(port: server.port), database: database)
      phone = Device(try transport("phone"))
      desk = Device(try transport("desk"))
    }

    /// A round trip to a server that answers a constant, and one small commit that is on the disk
    /// when it is over.
    func ask() async throws -> Duration {
      let start = ContinuousClock.now
      keep(try raw.connection.post("/", Array(repeating: 0x78, count: 400)))
      try raw.database.run(
        "INSERT INTO rows (name, body) VALUES (?, ?)",
        [.text(UUID().uuidString), .blob(Array(repeating: 0x78, count: 300))])
      return ContinuousClock.now - start
    }
  }

  /// The floor: sockets that answer a constant, and a table.
  // Guarded by the bench itself: one turn after the other uses it, never two at once.
  private struct Raw: @unchecked Sendable {
    let server: HTTPServer
    let connection: RawConnection
    let database: Connection
  }

  /// One save, sent at once, until the app of another device has the record, by push, against a
  /// bare round trip and a bare commit.
  static func latency() -> Benchmark {
    let kept = Keeper()
    @Sendable func current() async throws -> World {
      if let world = kept.world.withLock({ $0 }) { return world }
      let made = try World()
      try await made.phone.begin()
      kept.world.withLock { $0 = made }
      return made
    }
    return Benchmark(
      name: "P14 one save until another device has it by push", goal: 4,
      subject: Side("from sendChanges() to the other app") {
        let world = try await current()
        let name = UUID().uuidString
        // Pushes that follow each other within 100 ms are answered together; this is one save.
        try await Task.sleep(for: .milliseconds(150))
        let start = ContinuousClock.now
        try await world.phone.write(name)
        return await world.desk.time(of: name) - start
      },
      reference: Side("bare round trip + one durable commit") { try await current().ask() },
      rounds: 41)
  }

  private final class Keeper: Sendable {
    let world = Mutex<World?>(nil)
  }
}
