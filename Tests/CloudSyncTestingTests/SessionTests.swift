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

  private static func call(_ request: CloudRequest, named name: String = "1") -> CloudCall {
    CloudCall(container: "iCloud.a", database: .private, requestID: name, request: request)
  }

  @Test("A replay repeats each signal after the calls before it, whoever asks who is signed in")
  func replayRepeatsPushesInOrder() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("session.jsonl")
    let cloud = SimulatedCloud()
    let phone = cloud.server.device("phone", signedInAs: "alice")
    let recorder = try SessionRecorder(phone, file: file)
    let recorded = RecordedSignals()
    let listening = recorder.observeSignals { recorded.note($0) }
    let (zones, user) = (Self.call(.fetchZones(nil)), Self.call(.fetchCurrentUser))
    _ = try await recorder.send(zones)
    let alice = try await recorder.send(user)
    let push = CloudPush(
      container: "iCloud.a", database: .private, subscription: SubscriptionID("news"))
    cloud.server.controls.deliver(push, to: "phone")
    phone.isOnline = false
    phone.isOnline = true
    phone.signIn(as: "bob")
    let bob = try await recorder.send(user)
    let last = try await recorder.send(zones)
    listening.stop()
    try recorder.finish()
    #expect(recorded.all == [.push(push), .networkReturned, .accountChanged] && alice != bob)

    let replay = try SessionReplay(file)
    let repeated = RecordedSignals()
    let observation = replay.observeSignals { repeated.note($0) }
    #expect(repeated.all.isEmpty)
    _ = try await replay.send(Self.call(.fetchZones(nil), named: "another name"))
    #expect(repeated.all == recorded.all, "also if the app does not ask who is signed in")
    #expect(try await replay.send(user) == bob, "the user after the signals")
    #expect(try await replay.send(zones) == last)
    observation.stop()
    #expect(try await replay.send(user) == bob, "who is signed in may be asked again")
    try replay.check()
    await #expect(throws: CloudError.self) { try await replay.send(zones) }

    let inOrder = try SessionReplay(file)
    _ = try await inOrder.send(zones)
    #expect(try await inOrder.send(user) == alice)
    #expect(try await inOrder.send(user) == bob)
  }

  @Test("Calls that were made at once may be repeated in any order, and later ones not before them")
  func concurrentCallsAreRepeatedInAnyOrder() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("session.jsonl")
    let cloud = SimulatedCloud()
    let recorder = try SessionRecorder(
      cloud.server.device("phone", signedInAs: "alice"), file: file)
    let controls = cloud.server.controls
    controls.hold(next: 2)
    async let zones = recorder.send(Self.call(.fetchZones(nil)))
    async let subscriptions = recorder.send(Self.call(.fetchSubscriptions(nil)))
    await controls.waitForHeldRequests(2)
    controls.release()
    let replies = try await (zones, subscriptions)
    let last = try await recorder.send(Self.call(.fetchZones([.default])))
    try recorder.finish()
    for isReversed in [false, true] {
      let replay = try SessionReplay(file)
      for isZones in [!isReversed, isReversed] {
        let reply = try await replay.send(
          Self.call(isZones ? .fetchZones(nil) : .fetchSubscriptions(nil)))
        #expect(reply == (isZones ? replies.0 : replies.1))
      }
      #expect(try await replay.send(Self.call(.fetchZones([.default]))) == last)
      try replay.check()
    }
    let early = try SessionReplay(file)
    await #expect(throws: CloudError.self) {
      try await early.send(Self.call(.fetchZones([.default])))
    }
  }

  @Test("A file that is not a session is refused", arguments: ["", "{}\n", "[]\n", "{"])
  func otherFileIsRefused(_ text: String) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("session.jsonl")
    #expect(throws: SessionError.self) { try SessionReplay(file) }
    try Data(text.utf8).write(to: file)
    #expect(throws: SessionError.self) { try SessionReplay(file) }
  }
}
