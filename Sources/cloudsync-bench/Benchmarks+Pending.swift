import CloudSync
import Foundation
import LoopbackServer
import Records
import SyncMachine

/// What pending changes cost when there are many of them.
enum PendingBenchmarks {
  private static let many = 100_000
  private static let few = 100
  private static let added = 1_000
  private static let zone = ZoneID(name: "Notes")

  /// Adding with 100,000 pending against adding with 100, in memory and durably; opening a state
  /// of 100,000 against building a set of the same names.
  static func all() -> [Benchmark] {
    let blob = machine(holding: many).state.encoded()
    let names = (0..<many).map { "record-\($0)-of-the-bench" }
    return [
      Benchmark(
        name: "add a pending change at 100,000", goal: 2.5, subject: adding(to: many),
        reference: adding(to: few)),
      Benchmark(
        name: "add a pending change durably at 100,000", goal: 2.5,
        subject: addingDurably(to: many), reference: addingDurably(to: few)),
      Benchmark(
        name: "open a state of 100,000 pending changes", goal: nil,
        subject: Side("SyncState(decoding:)", operations: many) {
          keep(try SyncState(decoding: blob))
        },
        reference: Side("a Set of the names", operations: many) { keep(Set(names)) }),
    ]
  }

  private static func machine(holding count: Int) -> SyncMachine {
    var machine = SyncMachine(configuration: .init(session: "bench", automaticallySync: false))
    machine.add(changes(0..<count), now: .start)
    return machine
  }

  private static func changes(_ numbers: Range<Int>) -> [PendingChange<RecordID>] {
    numbers.map {
      PendingChange(.save, RecordID(name: "record-\($0)-of-the-bench", zone: zone))
    }
  }

  private static func adding(to count: Int) -> Side {
    let more = changes(count..<(count + added))
    return Side(
      "with \(count) pending", operations: added, setUp: { machine(holding: count) },
      body: { machine in for change in more { machine.add([change], now: .start) } })
  }

  /// An engine with a state file; what it is given lies on the disk when `add` returns.
  private struct Durable: Sendable {
    let engine: CKSyncEngine
    let delegate: Silent
    let file: TemporaryFile
  }

  private final class TemporaryFile: Sendable {
    let url = FileManager.default.temporaryDirectory
      .appendingPathComponent("bench-\(UUID().uuidString)")

    deinit {
      try? FileManager.default.removeItem(at: url)
      try? FileManager.default.removeItem(atPath: url.path + ".lock")
    }
  }

  private final class Silent: CKSyncEngineDelegate {
    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {}

    func nextRecordZoneChangeBatch(
      _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? { nil }
  }

  private static func addingDurably(to count: Int) -> Side {
    let added = 100
    let zone = CKRecordZone.ID(zoneName: "Notes")
    let changes = (0..<(count + added)).map {
      CKSyncEngine.PendingRecordZoneChange.saveRecord(
        CKRecord.ID(recordName: "record-\($0)-of-the-bench", zoneID: zone))
    }
    return Side(
      "with \(count) pending", operations: added,
      setUp: {
        let server = LoopbackServer()
        let container = CKContainer(
          identifier: "iCloud.bench", transport: server.device("bench"))
        let (delegate, file) = (Silent(), TemporaryFile())
        var configuration = CKSyncEngine.Configuration(
          database: container.privateCloudDatabase, stateSerialization: nil, delegate: delegate)
        configuration.automaticallySync = false
        configuration.stateStore = try FileStateStore(url: file.url)
        let engine = CKSyncEngine(configuration)
        engine.state.add(pendingRecordZoneChanges: Array(changes[..<count]))
        return Durable(engine: engine, delegate: delegate, file: file)
      },
      body: { durable in
        for change in changes[count...] {
          durable.engine.state.add(pendingRecordZoneChanges: [change])
        }
      })
  }
}
