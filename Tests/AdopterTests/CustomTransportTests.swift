import CloudSync
import Foundation
import LoopbackServer
import Synchronization
import Testing

/// A transport as an adopter writes it: it records the requests and forwards them to a server.
private final class RecordingTransport: CloudTransport {
  private let destination: any CloudTransport
  private let recorded = Mutex<[CloudCall]>([])
  private let failure = Mutex<CloudError?>(nil)

  init(to destination: any CloudTransport) { self.destination = destination }

  var calls: [CloudCall] { recorded.withLock { $0 } }

  /// Fails the next request that changes data.
  func failNext(with error: CloudError) { failure.withLock { $0 = error } }

  func send(_ call: CloudCall) async throws(CloudError) -> CloudReply {
    recorded.withLock { $0.append(call) }
    if call.request.isMutation, let error = failure.withLock({ $0.take() }) { throw error }
    return try await destination.send(call)
  }

  func observeSignals(
    _ listener: @escaping @Sendable (CloudSignal) -> Void
  ) -> any SignalObservation {
    destination.observeSignals(listener)
  }
}

/// A transport to nowhere, which answers by itself.
private struct OfflineTransport: CloudTransport {
  private struct Observation: SignalObservation {
    func stop() {}
  }

  func send(_ call: CloudCall) async throws(CloudError) -> CloudReply {
    guard case .fetchCurrentUser = call.request else {
      throw CloudError(.networkUnavailable, "there is no network")
    }
    return .currentUser(.init("alice"))
  }

  func observeSignals(
    _ listener: @escaping @Sendable (CloudSignal) -> Void
  ) -> any SignalObservation { Observation() }
}

/// A delegate with one record, which counts the records of others.
private final class Delegate: CKSyncEngineDelegate {
  let fetched = Mutex<[String]>([])

  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    guard case .fetchedRecordZoneChanges(let changes) = event else { return }
    fetched.withLock { $0 += changes.modifications.map(\.record.recordID.recordName) }
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    let pending = syncEngine.state.pendingRecordZoneChanges.filter(context.options.scope.contains)
    return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: pending) { id in
      CKRecord(recordType: "Note", recordID: id)
    }
  }
}

/// Uses the public API through plain imports, as code outside this package does.
@Suite("A transport written outside of this package")
struct CustomTransportTests {
  private static let zone = CKRecordZone(zoneName: "Notes")

  private static func engine(
    _ transport: any CloudTransport, _ delegate: Delegate
  ) -> CKSyncEngine {
    let container = CKContainer(identifier: "iCloud.test", transport: transport)
    var configuration = CKSyncEngine.Configuration(
      database: container.privateCloudDatabase, stateSerialization: nil, delegate: delegate)
    configuration.automaticallySync = false
    return CKSyncEngine(configuration)
  }

  @Test func anEngineSyncsThroughATransportOfTheAdopter() async throws {
    let server = LoopbackServer()
    let transport = RecordingTransport(to: server.device("phone", signedInAs: "alice"))
    let delegate = Delegate()
    let engine = Self.engine(transport, delegate)
    engine.state.add(pendingDatabaseChanges: [.saveZone(Self.zone)])
    engine.state.add(
      pendingRecordZoneChanges: [
        .saveRecord(CKRecord.ID(recordName: "first", zoneID: Self.zone.zoneID))
      ])
    try await engine.sendChanges()

    let zone = ZoneID(name: "Notes")
    let saves = transport.calls.compactMap { call -> [RecordID]? in
      guard case .modifyRecords(let request) = call.request else { return nil }
      return request.save.map(\.id)
    }
    #expect(saves == [[RecordID(name: "first", zone: zone)]])
    #expect(transport.calls.allSatisfy { $0.environment == .development })
    #expect(transport.calls.contains { $0.database == DatabaseScope.private })

    let other = Delegate()
    try await Self.engine(server.device("tablet", signedInAs: "alice"), other).fetchChanges()
    #expect(other.fetched.withLock { $0 } == ["first"])
  }

  @Test func anErrorOfTheTransportReachesTheCaller() async throws {
    let server = LoopbackServer()
    let transport = RecordingTransport(to: server.device("phone", signedInAs: "alice"))
    let container = CKContainer(identifier: "iCloud.test", transport: transport)
    transport.failNext(with: CloudError(.quotaExceeded, "full", retryAfter: 7))
    do {
      _ = try await container.privateCloudDatabase.save(Self.zone)
      Issue.record("the zone was saved")
    } catch let error as CKError {
      #expect(error.code == .quotaExceeded)
      #expect(error.retryAfterSeconds == 7)
    }
    _ = try await container.privateCloudDatabase.save(Self.zone)
  }

  @Test func aTransportCanAnswerByItself() async throws {
    let container = CKContainer(identifier: "iCloud.test", transport: OfflineTransport())
    #expect(try await container.userRecordID().recordName == "alice")
    await #expect(throws: CKError.self) {
      _ = try await container.privateCloudDatabase.allRecordZones()
    }
  }
}
