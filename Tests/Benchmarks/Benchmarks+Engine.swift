import CloudProtocol
import CloudSync
import Foundation
import Records
import Synchronization

/// What the engine itself costs for each record, with a server that answers at once.
enum EngineBenchmarks {
  private static let records = 20_000
  private static let most = 1_000_000
  private static let many = 100_000
  private static let few = 10_000

  /// P9: sending and fetching, the server's and the app's own work taken off; and what the ways
  /// to ask for the next changes cost while many are pending.
  ///
  /// P26: the whole push of many changes.
  static func all() -> [Benchmark] {
    let microsecond = Side("one microsecond") { .microseconds(1) }
    return [
      Benchmark(
        name: "P9 the engine's cost of a record sent", goal: 1.5,
        subject: sending("sendChanges()"), reference: microsecond, rounds: 7),
      Benchmark(
        name: "P9 the engine's cost of a record fetched", goal: 1.5,
        subject: Side("fetchChanges()", operations: records) {
          try await EngineWorld(fetching: records).timeOfFetching()
        },
        reference: microsecond, rounds: 7),
      Benchmark(
        name: "P9 a record sent with a tracer", goal: nil,
        subject: sending("a tracer that keeps nothing", NoTracer()),
        reference: sending("no tracer"), rounds: 7),
      Benchmark(
        name: "P9 a record sent while the status is watched", goal: nil,
        subject: Side("with an observer", operations: records) {
          let world = try EngineWorld(sending: records)
          async let count = world.countStatuses()
          let time = try await world.timeOfSending()
          world.stop()
          keep(await count)
          return time
        },
        reference: sending("without an observer"), rounds: 7),
      choosing("pendingRecordZoneChanges.filter", filtered),
      choosing("pendingRecordZoneChanges(in:limit:)") { state, scope in
        state.pendingRecordZoneChanges(in: scope, limit: 250)
      },
      pushing(many), pushing(most),
    ]
  }

  private static func sending(_ name: String, _ tracer: (any SyncTracer)? = nil) -> Side {
    Side(name, operations: records) {
      try await EngineWorld(sending: records, tracer: tracer).timeOfSending()
    }
  }

  /// The app's part of a batch while many changes are pending, against few.
  private static func choosing(
    _ name: String, _ choice: @escaping EngineWorld.Choice
  ) -> Benchmark {
    func side(_ name: String, _ count: Int) -> Side {
      Side(name, operations: count / 250) {
        try await EngineWorld(sending: count, choice: choice).timeOfBatches()
      }
    }
    return Benchmark(
      name: "P9 a batch through \(name), from 100,000", goal: nil,
      subject: side("the app's part of a batch", many), reference: side("from 10,000", few),
      rounds: 3)
  }
}

/// Pushing everything through the delegate of Apple's documentation.
extension EngineBenchmarks {
  /// P26: the cost of a record, the engine's and the app's, while `count` are pushed, against few.
  private static func pushing(_ count: Int) -> Benchmark {
    func side(_ count: Int, times: Int) -> Side {
      Side("from \(count)", operations: count * times) {
        var time = Duration.zero
        for _ in 0..<times {
          time += try await EngineWorld(sending: count, choice: filtered).timeOfPushing()
        }
        return time
      }
    }
    return Benchmark(
      name: "P26 a record pushed through pendingRecordZoneChanges.filter, from \(count)", goal: 2,
      subject: side(count, times: 1), reference: side(few, times: 10), rounds: 3, warmsUp: false)
  }

  private static let filtered: EngineWorld.Choice = { state, scope in
    state.pendingRecordZoneChanges.filter { scope.contains($0) }
  }
}

/// An engine, an app that does as little as can be, and a server that answers at once.
private final class EngineWorld: CKSyncEngineDelegate {
  /// The app's way to find the next changes.
  typealias Choice =
    @Sendable (CKSyncEngine.State, CKSyncEngine.SendChangesOptions.Scope)
    -> [CKSyncEngine.PendingRecordZoneChange]

  private struct Timing {
    var batches: [CKSyncEngine.RecordZoneChangeBatch] = []
    var ownTime = Duration.zero
  }

  private let choice: Choice?
  private let transport: InstantTransport
  private let timing = Mutex(Timing())
  private let engine = Mutex<CKSyncEngine?>(nil)

  /// - Parameters:
  ///   - sent: the number of pending changes.
  ///   - fetched: the number of records of the server.
  ///   - choice: the app's way to find the next changes; with `nil`, every batch is ready before
  ///     the app is asked for it.
  init(
    sending sent: Int = 0, fetching fetched: Int = 0, tracer: (any SyncTracer)? = nil,
    choice: Choice? = nil
  ) throws {
    self.choice = choice
    let zone = CKRecordZone.ID(zoneName: "Notes")
    let ids = (0..<sent).map { CKRecord.ID(recordName: PendingSample.name($0), zoneID: zone) }
    transport = InstantTransport(recordsToFetch: fetched)
    let container = CKContainer(identifier: "iCloud.bench", transport: transport)
    var configuration = CKSyncEngine.Configuration(
      database: container.privateCloudDatabase, stateSerialization: nil, delegate: self)
    configuration.automaticallySync = false
    configuration.tracer = tracer
    let engine = CKSyncEngine(configuration)
    engine.state.add(pendingRecordZoneChanges: ids.map { .saveRecord($0) })
    self.engine.withLock { $0 = engine }
    guard choice == nil else { return }
    timing.withLock { timing in
      for start in stride(from: 0, to: ids.count, by: 250) {
        let records = ids[start..<min(ids.count, start + 250)].map(Self.record)
        timing.batches.append(CKSyncEngine.RecordZoneChangeBatch(recordsToSave: records))
      }
      timing.batches.reverse()
    }
  }

  /// Lets the engine go.
  func stop() { engine.withLock { $0 = nil } }

  /// The number of statuses that the engine reports until it is deallocated.
  func countStatuses() async -> Int {
    guard let updates = engine.withLock({ $0?.statusUpdates }) else { return 0 }
    var count = 0
    for await status in updates {
      keep(status)
      count += 1
    }
    return count
  }

  private static func record(_ id: CKRecord.ID) -> CKRecord {
    let record = CKRecord(recordType: "Note", recordID: id)
    record["text"] = "Bread, milk, apples."
    return record
  }

  /// How long a send took, the server's and the app's part of it aside.
  func timeOfSending() async throws -> Duration {
    let engine = engine.withLock { $0 }
    let start = Stopwatch.now
    try await engine?.sendChanges()
    let time = Stopwatch.now - start
    return time - transport.ownTime - timing.withLock { $0.ownTime }
  }

  /// How long a send took, the server's part of it aside.
  func timeOfPushing() async throws -> Duration {
    try await timeOfSending() + timing.withLock { $0.ownTime }
  }

  /// How long a fetch took, the server's part of it aside.
  func timeOfFetching() async throws -> Duration {
    let engine = engine.withLock { $0 }
    let start = Stopwatch.now
    try await engine?.fetchChanges()
    return Stopwatch.now - start - transport.ownTime
  }

  /// How long the app took in a send to find out what to send.
  func timeOfBatches() async throws -> Duration {
    try await engine.withLock { $0 }?.sendChanges()
    return timing.withLock { $0.ownTime }
  }

  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {}

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    guard let choice else { return timing.withLock { $0.batches.popLast() } }
    let start = Stopwatch.now
    let pending = choice(syncEngine.state, context.options.scope)
    let time = Stopwatch.now - start
    timing.withLock { $0.ownTime += time }
    return await CKSyncEngine.RecordZoneChangeBatch(
      pendingChanges: pending, recordProvider: Self.record)
  }
}

/// Takes everything down and forgets it.
private struct NoTracer: SyncTracer {
  func record(_ entry: SyncTraceEntry) { keep(entry) }
}

/// A server that knows one zone and agrees to everything.
private final class InstantTransport: CloudTransport {
  private struct Silence: SignalObservation {
    func stop() {}
  }

  private let pages: [ZoneChangesPage]
  private let time = Mutex(Duration.zero)

  /// A zone with `count` records to fetch, 400 on a page.
  init(recordsToFetch count: Int) {
    let starts = Array(stride(from: 0, to: count, by: 400))
    pages = starts.map { start in
      let end = min(count, start + 400)
      return ZoneChangesPage(
        zone: PendingSample.zone,
        modified: (start..<end).map { number in
          Record(
            id: RecordID(name: PendingSample.name(number), zone: PendingSample.zone),
            type: "Note", changeTag: ChangeTag("1"),
            fields: ["text": .string("Bread, milk, apples.")])
        },
        deleted: [], token: ChangeToken(bytes: Array(String(end / 400).utf8)),
        moreComing: end < count)
    }
  }

  /// How long the server was busy.
  var ownTime: Duration { time.withLock { $0 } }

  func send(_ call: CloudCall) async throws(CloudError) -> CloudReply {
    let start = Stopwatch.now
    defer {
      let busy = Stopwatch.now - start
      time.withLock { $0 += busy }
    }
    switch call.request {
    case .fetchCurrentUser: return .currentUser(UserID("_bench"))
    case .fetchDatabaseChanges:
      return .databaseChanges(
        DatabaseChangesPage(
          modified: pages.isEmpty ? [] : [PendingSample.zone], deleted: [],
          token: ChangeToken(bytes: [1]), moreComing: false))
    case .fetchZoneChanges(let request):
      let page = request.since.flatMap { Int(String(decoding: $0.bytes, as: UTF8.self)) } ?? 0
      return .zoneChanges(pages[min(page, pages.count - 1)])
    case .modifyRecords(let request):
      return .recordsModified(
        saved: request.save.map {
          ItemResult(
            id: $0.id,
            .success(Record(id: $0.id, type: $0.type, changeTag: ChangeTag("1"))))
        },
        deleted: request.delete.map { ItemResult(id: $0, .success(Done())) })
    default: throw CloudError(.invalidArguments, "The bench's server does not know this request.")
    }
  }

  func observeSignals(
    _ listener: @escaping @Sendable (CloudSignal) -> Void
  ) -> any SignalObservation { Silence() }
}
