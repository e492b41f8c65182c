import CloudProtocol
import CloudSyncTesting
import Foundation
import Records
import Testing

@Suite("Recorded sessions")
struct SessionTests {
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("sessions-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  /// Writes a note and syncs it, by whatever way there is to a server.
  private func live(
    _ transport: any CloudTransport, _ text: String, in name: String
  ) async throws -> Notes {
    let home = folder.appendingPathComponent(name)
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    let notes = try Notes(home)
    let container = CKContainer(identifier: "iCloud.com.example.app", transport: transport)
    var configuration = CKSyncEngine.Configuration(
      database: container.privateCloudDatabase, stateSerialization: nil, delegate: notes)
    configuration.automaticallySync = false
    configuration.clock = SimulatedClock()
    let engine = CKSyncEngine(configuration)
    try notes.write(text, as: "shopping", engine)
    for _ in 0..<3 {
      do {
        try await engine.fetchChanges()
        try await engine.sendChanges()
      } catch let error as CKError where error.code != .internalError {
        continue
      }
    }
    return notes
  }

  @Test("A session replays without its server, faults included, and refuses a different session")
  func sessionReplaysWithoutServer() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("session.jsonl")
    let cloud = SimulatedCloud()
    let other = try cloud.device("other") { try Notes($0.folder) }
    try other.app.write("Bread", as: "shopping", other.engine)
    try other.app.write("Ann", as: "calls", other.engine)
    try await other.sync()
    let recorder = try SessionRecorder(
      cloud.server.device("phone", signedInAs: "alice"), file: file)
    cloud.fail(with: .zoneBusy, of: .fetchZoneChanges)
    let live = try await live(recorder, "Bread, milk", in: "live")
    try recorder.finish()
    #expect(live.texts == ["shopping": "Bread, milk", "calls": "Ann"])
    cloud.server.close()

    let replay = try SessionReplay(file)
    let again = try await self.live(replay, "Bread, milk", in: "again")
    #expect(again.texts == live.texts)
    try replay.check()

    let different = try SessionReplay(file)
    await #expect(throws: CKError.self) {
      try await self.live(different, "Bread, tea", in: "different")
    }
    let difference = #expect(throws: SessionError.self) { try different.check() }
    let lines = difference?.description.split(separator: "\n") ?? []
    #expect(lines.contains { $0.hasPrefix("-") && $0.contains("Bread, milk") })
    #expect(lines.contains { $0.hasPrefix("+") && $0.contains("Bread, tea") })

    let unused = #expect(throws: SessionError.self) { try SessionReplay(file).check() }
    #expect(unused?.description.contains("were not made") == true)
  }

  @Test("Signals are recorded once, whichever listener ends first, and not without a listener")
  func signalsAreRecordedWhileThereIsAListener() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("session.jsonl")
    let phone = SimulatedCloud().server.device("phone", signedInAs: "alice")
    let recorder = try SessionRecorder(phone, file: file)
    let signals = RecordedSignals()
    let first = recorder.observeSignals { _ in }
    let second = recorder.observeSignals { signals.note($0) }
    phone.signIn(as: "bob")
    first.stop()
    phone.signIn(as: "carol")
    second.stop()
    phone.signIn(as: "dave")
    try recorder.finish()
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    #expect(lines.count { $0.contains("accountChanged") } == 2)
    #expect(signals.all == [.accountChanged, .accountChanged])
  }

  @Test("A replay repeats pushes at the same position, and a file that is not a session is refused")
  func replayRepeatsPushesInOrder() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("session.jsonl")
    let cloud = SimulatedCloud()
    let phone = cloud.server.device("phone", signedInAs: "alice")
    let recorder = try SessionRecorder(phone, file: file)
    let quiet = recorder.observeSignals { _ in }
    var call = CloudCall(
      container: "iCloud.a", database: .private, requestID: "1", request: .fetchCurrentUser)
    let first = try await recorder.send(call)
    phone.signIn(as: "bob")
    let second = try await recorder.send(call)
    #expect(first != second)
    quiet.stop()
    try recorder.finish()

    let replay = try SessionReplay(file)
    let events = RecordedSignals()
    let observation = replay.observeSignals { events.note($0) }
    var renamed = call
    renamed.requestID = "another name"
    #expect(try await replay.send(renamed) == first)
    #expect(events.all == [.accountChanged])
    #expect(try await replay.send(renamed) == second)
    observation.stop()
    #expect(try await replay.send(call) == second, "who is signed in may be asked again")
    call.request = .fetchZones(nil)
    await #expect(throws: CloudError.self) { try await replay.send(call) }

    try Data("{}\n".utf8).write(to: file)
    #expect(throws: SessionError.self) { try SessionReplay(file) }
    #expect(throws: SessionError.self) { try SessionReplay(folder.appendingPathComponent("no")) }
  }
}
