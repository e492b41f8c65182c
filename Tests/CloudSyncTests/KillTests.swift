import CloudSync
import Foundation
import LoopbackServer
import Synchronization
import Testing

/// A process that is killed at any moment loses nothing that `add` returned for.
@Suite("Killed between add and didSendChanges", .serialized)
struct KillTests {
  static let rounds = 200

  /// Opens server, state and engine in `folder`, as every launch does.
  static func launch(in folder: URL, _ delegate: Recorder) throws -> CKSyncEngine {
    let server = try LoopbackServer(path: folder.appendingPathComponent("server.sqlite").path)
    var configuration = EngineTests.configuration(server, "phone", delegate)
    configuration.stateStore = try FileStateStore(url: folder.appendingPathComponent("state"))
    return CKSyncEngine(configuration)
  }

  /// Adds three records, notes each in a ledger once `add` returned, sends, and dies on the way.
  static func live(in folder: URL, round: Int, microseconds: Int) async throws {
    let delegate = Recorder()
    let engine = try launch(in: folder, delegate)
    let ledger = folder.appendingPathComponent("ledger")
    if !FileManager.default.fileExists(atPath: ledger.path) { try Data().write(to: ledger) }
    DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(microseconds)) {
      kill(getpid(), SIGKILL)
    }
    engine.state.add(pendingDatabaseChanges: [.saveZone(EngineTests.zone)])
    for number in 0..<3 {
      let name = "r\(round)-\(number)"
      engine.state.add(pendingRecordZoneChanges: [.saveRecord(EngineTests.id(name))])
      let file = try FileHandle(forWritingTo: ledger)
      try file.seekToEnd()
      try file.write(contentsOf: Data("\(name)\n".utf8))
      try file.close()
    }
    // A conflict says that a record had arrived before an earlier process died.
    try? await engine.sendChanges()
    try? await engine.sendChanges()
    kill(getpid(), SIGKILL)
  }

  /// Proves CE-52, CE-86, FB-1, I3, SC-128.
  @Test("Through 200 kills at random points, each change that add returned for arrives once")
  func addedChangesSurviveProcessKills() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("kills-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.path
    for round in 0..<KillTests.rounds {
      // Spread over the life of a child, which takes about 20 ms.
      let microseconds = round * 7_919 % 25_000
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, round = round as Int, microseconds = microseconds as Int] in
        try await KillTests.live(
          in: URL(fileURLWithPath: path), round: round, microseconds: microseconds)
      }
    }
    let delegate = Recorder()
    let engine = try KillTests.launch(in: folder, delegate)
    for _ in 0..<4 where !engine.state.pendingRecordZoneChanges.isEmpty {
      try? await engine.sendChanges()
    }
    #expect(engine.state.pendingRecordZoneChanges.isEmpty)
    let reader = Recorder()
    let server = try LoopbackServer(path: folder.appendingPathComponent("server.sqlite").path)
    let laptop = CKSyncEngine(EngineTests.configuration(server, "laptop", reader))
    try await laptop.fetchChanges()
    let arrived = Set(reader.contents.withLock { $0.names })
    let count = reader.contents.withLock { $0.names.count }
    let ledger = try String(
      contentsOf: folder.appendingPathComponent("ledger"), encoding: .utf8)
    let promised = ledger.split(separator: "\n").map(String.init)
    #expect(promised.count > KillTests.rounds, "the kills came before anything was added")
    #expect(promised.filter { !arrived.contains($0) } == [])
    #expect(arrived.count == count, "a record arrived twice")
  }
}
