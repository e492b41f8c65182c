import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import SyncMachine
import Synchronization
import Testing

/// A clock on which short sleeps end at once, and long ones never do.
///
/// Retries on it happen without a back-off.
private final class ShortSleepClock: Clock, Sendable {
  private let leaping = LeapingClock()

  var now: LeapingClock.Instant { leaping.now }
  var minimumResolution: Duration { .zero }

  func sleep(until deadline: LeapingClock.Instant, tolerance: Duration?) async throws {
    if now.duration(to: deadline) <= .milliseconds(200) {
      return try await leaping.sleep(until: deadline, tolerance: tolerance)
    }
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    for await _ in stream {}
    withExtendedLifetime(continuation) {}
    throw CancellationError()
  }
}

@Suite("A network that comes back", .timeLimit(.minutes(20)))
struct NetworkReturnTests {
  private func waitForFailedSend(_ app: NotesApp) async throws {
    let engine = try app.engine
    for await status in engine.statusUpdates where status.lastFailure != nil { return }
  }

  /// Proves CE-122, SC-170.
  @Test("A device that comes back on line sends at once, in process")
  func onlineAgainInProcess() async throws {
    let server = LoopbackServer()
    let phone = NotesApp(server, "phone", automatically: true, clock: ShortSleepClock())
    phone.write(["a": "1"])
    await phone.wait { $0.notes["a"]?.server != nil }
    phone.device.isOnline = false
    phone.write(["b": "2"])
    try await waitForFailedSend(phone)
    while try phone.engine.stage != .idle { await Task.yield() }
    phone.device.isOnline = true
    await phone.wait { $0.notes["b"]?.server != nil }
    #expect(try stored(server) == ["a": "1", "b": "2"])
  }

  /// Proves CE-122, SC-170.
  @Test("The first request that gets through ends the back-off, over HTTP")
  func onlineAgainOverHTTP() async throws {
    let world = try WebWorld()
    let phone = NotesApp(
      world.server.remoteDevice("phone", account: "alice"), by: try world.transport("phone"),
      clock: ShortSleepClock())
    phone.start(automatically: true)
    phone.enqueueAll(try phone.engine.state)
    phone.write(["a": "1"])
    await phone.wait { $0.notes["a"]?.server != nil }
    await world.goAway()
    phone.write(["b": "2"])
    try await waitForFailedSend(phone)
    while try phone.engine.stage != .idle { await Task.yield() }
    try world.comeBack()
    await phone.wait { $0.notes["b"]?.server != nil }
    #expect(try stored(world.server) == ["a": "1", "b": "2"])
    phone.stop()
    #expect(await world.end())
  }
}
