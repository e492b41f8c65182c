import CloudProtocol
import CloudSync
import Foundation
import LoopbackHTTP
import LoopbackServer
import Records
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

    func stop() { running.withLock { $0 = nil } }

    func write(_ name: String) {
      let engine = running.withLock { $0 }
      engine?.state.add(pendingDatabaseChanges: [.saveZone(zone)])
      engine?.state.add(
        pendingRecordZoneChanges: [
          .saveRecord(CKRecord.ID(recordName: name, zoneID: zone.zoneID))
        ])
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
    let transport: WebServicesTransport

    init() throws {
      folder = try TemporaryFolder()
      let web = try LoopbackWebServer(try LoopbackServer(path: folder.path("cloud.db")))
      self.web = web
      func transport(_ device: String) throws -> WebServicesTransport {
        WebServicesTransport(
          url: URL(string: web.url), apiToken: web.apiToken(),
          webAuthToken: try web.webAuthToken(for: "alice"), device: device)
      }
      self.transport = try transport("asking")
      phone = Device(try transport("phone"))
      desk = Device(try transport("desk"))
    }

    func ask() async throws -> Duration {
      let start = ContinuousClock.now
      _ = try await transport.send(
        CloudCall(
          container: "iCloud.bench", database: .private, requestID: UUID().uuidString,
          request: .fetchCurrentUser))
      return ContinuousClock.now - start
    }
  }

  /// From a save that the server acknowledged until another device's app has the record, by push,
  /// against one request over HTTP.
  static func latency() -> Benchmark {
    let kept = Keeper()
    @Sendable func current() throws -> World {
      try kept.world.withLock { world in
        if let world { return world }
        let made = try World()
        world = made
        return made
      }
    }
    return Benchmark(
      name: "a saved change on the other device, by push", goal: nil,
      subject: Side("from the acknowledgement to the app") {
        let world = try current()
        let name = UUID().uuidString
        world.phone.write(name)
        let (sent, seen) = (await world.phone.time(of: name), await world.desk.time(of: name))
        return max(.zero, seen - sent)
      },
      reference: Side("one request over HTTP") { try await current().ask() })
  }

  private final class Keeper: Sendable {
    let world = Mutex<World?>(nil)
  }
}
