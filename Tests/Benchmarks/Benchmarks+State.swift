import CloudSync
import Foundation
import LoopbackServer
import Records
import SyncMachine

/// The cost of storing a state, of opening it, and of adding one change to it.
enum StateBenchmarks {
  private static let million = 1_000_000
  private static let many = 100_000
  private static let few = 1_000

  /// P5 to P7 and P17: a serialized state against an array of structs, an update made durable
  /// with 1,000,000 pending against 1,000, opening, and the memory of all of it.
  static func all() -> [Benchmark] {
    [
      encoding, decoding, durable, handedOut, opening, openingLog, compacting, openingEngine,
      memory,
    ]
  }

  // MARK: P5

  /// A pending change as an app without this package would store it.
  private struct Change: Codable, Sendable {
    let kind: String
    let recordName: String
    let zoneName: String
    let ownerName: String
  }

  private struct Wrapped: Codable { let data: Data }

  private static func serialization(_ count: Int) throws -> CKSyncEngine.State.Serialization {
    let json = try JSONEncoder().encode(Wrapped(data: Data(PendingSample.blob(count))))
    return try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: json)
  }

  private static func structs() -> [Change] {
    PendingSample.names.prefix(many).map {
      Change(
        kind: "save", recordName: $0, zoneName: PendingSample.zone.name,
        ownerName: PendingSample.zone.owner)
    }
  }

  private static var encoding: Benchmark {
    Benchmark(
      name: "P5 encode a state of 100,000 with JSONEncoder", goal: 0.2,
      subject: Side("State.Serialization", operations: many, setUp: { try serialization(many) }) {
        keep(try JSONEncoder().encode($0))
      },
      reference: Side("an array of structs", operations: many, setUp: { structs() }) {
        keep(try JSONEncoder().encode($0))
      }, rounds: 7)
  }

  private static var decoding: Benchmark {
    Benchmark(
      name: "P5 decode a state of 100,000 with JSONDecoder", goal: 0.15,
      subject: Side(
        "State.Serialization", operations: many,
        setUp: { try JSONEncoder().encode(try serialization(many)) },
        body: {
          keep(try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: $0))
        }),
      reference: Side(
        "an array of structs", operations: many, setUp: { try JSONEncoder().encode(structs()) },
        body: { keep(try JSONDecoder().decode([Change].self, from: $0)) }), rounds: 7)
  }

  // MARK: P6

  private static func adding(_ count: Int, to pending: Int) -> Side {
    Side(
      "with \(pending) pending", operations: count,
      setUp: {
        let engine = try IdleEngine(pending)
        let more = (0..<count).map {
          CKSyncEngine.PendingRecordZoneChange.saveRecord(
            CKRecord.ID(
              recordName: "new-\($0)", zoneID: CKRecordZone.ID(zoneName: PendingSample.zone.name)))
        }
        return (engine, more)
      },
      body: { context in
        for change in context.1 { context.0.engine.state.add(pendingRecordZoneChanges: [change]) }
      })
  }

  private static var durable: Benchmark {
    Benchmark(
      name: "P6 a change made durable, with 1,000,000 pending", goal: 1.2,
      subject: adding(100, to: million), reference: adding(100, to: few), rounds: 5, warmsUp: false)
  }

  /// The app keeps every state it is given, while more is added.
  private static func handingOut(_ pending: Int) -> Side {
    Side(
      "with \(pending) pending", operations: 100,
      setUp: {
        var machine = SyncMachine(configuration: .init(session: "bench", automaticallySync: false))
        machine.add(PendingSample.changes(pending), now: .start)
        return machine
      },
      body: { machine in
        for number in 0..<100 {
          let kept = machine.state.snapshot
          let id = RecordID(name: "new-\(number)", zone: PendingSample.zone)
          machine.add([PendingChange(.save, id)], now: .start)
          keep(kept)
        }
      })
  }

  private static var handedOut: Benchmark {
    Benchmark(
      name: "P6 a change, the app keeping each state, with 1,000,000 pending", goal: nil,
      subject: handingOut(million), reference: handingOut(few), rounds: 3)
  }

  // MARK: P7

  private static func plainly(_ blob: [UInt8]) throws -> [(UInt64, String)] {
    var reader = ByteReader(blob[14...])
    _ = try reader.raw(blob.count - 14 - 4 - million * (PendingSample.nameLength + 2) - 3)
    let count = try reader.count()
    var changes: [(UInt64, String)] = []
    changes.reserveCapacity(count)
    for _ in 0..<count { changes.append((try reader.variable(), try reader.string())) }
    return changes
  }

  private static var opening: Benchmark {
    Benchmark(
      name: "P7 open a state of 1,000,000", goal: 2,
      subject: Side(
        "SyncState(decoding:)", operations: 1, setUp: { PendingSample.blob(million) },
        body: { keep(try SyncState(decoding: $0)) }),
      reference: Side(
        "reading numbers and texts from the bytes", operations: 1,
        setUp: { PendingSample.blob(million) }, body: { keep(try plainly($0)) }), rounds: 5,
      warmsUp: false)
  }

  private static var openingLog: Benchmark {
    Benchmark(
      name: "P7 open a log of 100,000 entries", goal: nil,
      subject: Side(
        "applying the entries", operations: many,
        setUp: {
          PendingSample.changes(many).map { StateChange.encoded([.addRecord($0)]) }
        },
        body: { entries in
          var state = SyncState()
          for entry in entries {
            for change in try StateChange.decoded(entry) { state.apply(change) }
          }
          keep(state)
        }),
      reference: Side(
        "a checksum of the bytes", operations: many,
        setUp: {
          PendingSample.changes(many).flatMap { StateChange.encoded([.addRecord($0)]) }
        }, body: { keep(Checksum.of($0)) }), rounds: 3)
  }

  private static var compacting: Benchmark {
    Benchmark(
      name: "P7 fold a log into a state of 1,000,000", goal: nil,
      subject: Side(
        "encoded and replaced on disk", operations: 1,
        setUp: {
          let file = try StateFile()
          let state = try SyncState(decoding: PendingSample.blob(million))
          return (file, try FileStateStore(url: file.url), state)
        },
        body: { try $0.1.replace(with: $0.2.encoded()) }),
      reference: Side(
        "the same bytes written and synchronized", operations: 1,
        setUp: { (try StateFile(), PendingSample.blob(million)) },
        body: { try StateFile.write($0.1, to: $0.0.url) }), rounds: 3,
      warmsUp: false)
  }

  private static var openingEngine: Benchmark {
    Benchmark(
      name: "open an engine with 1,000,000 pending and add one", goal: nil,
      subject: Side(
        "from a state file", operations: 1,
        setUp: { try StateFile(holding: million) },
        body: { keep(try IdleEngine(opening: $0)) }),
      reference: Side(
        "a Set of as many keys", operations: 1, setUp: { PendingSample.keys(million) },
        body: { keep(Set($0)) }), rounds: 3, warmsUp: false)
  }

  private static var memory: Benchmark {
    Benchmark(
      name: "P17 memory of a device with 1,000,000 pending, opened, one added", goal: 1,
      subject: Side(
        "the engine and its state", bytesFor: 1,
        setUp: { try StateFile(holding: million) },
        make: { try IdleEngine(opening: $0) }),
      reference: Side("300 MB") { .nanoseconds(300_000_000) },
      rounds: 1, unit: .bytes, warmsUp: false)
  }
}
