import CloudProtocol
import CloudSync
import Foundation
import LoopbackServer
import Records
import SyncSupport
import Synchronization
import Testing

@testable import GameResultStore

/// A clock that stands still until a test moves it.
final class StandingClock: Clock, Sendable {
  struct Instant: InstantProtocol {
    var offset: Duration
    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (first: Instant, second: Instant) -> Bool { first.offset < second.offset }
  }

  private struct Sleeper {
    var id: UInt64
    var deadline: Instant
    var continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now = Instant(offset: .zero)
    var sleepers: [Sleeper] = []
    var cancelled: Set<UInt64> = []
    var lastID: UInt64 = 0
    var watchers: [(deadline: Instant, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  var now: Instant { state.withLock { $0.now } }
  var minimumResolution: Duration { .zero }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation {
        (continuation: CheckedContinuation<Void, any Error>) in
        let (end, watchers) = state.withLock {
          state -> (Result<Void, any Error>?, [CheckedContinuation<Void, Never>]) in
          if state.cancelled.remove(id) != nil { return (.failure(CancellationError()), []) }
          if deadline <= state.now { return (.success(()), []) }
          state.sleepers.append(
            Sleeper(id: id, deadline: deadline, continuation: continuation))
          let met = state.watchers.filter { $0.deadline == deadline }
          state.watchers.removeAll { $0.deadline == deadline }
          return (nil, met.map(\.continuation))
        }
        if let end { continuation.resume(with: end) }
        for watcher in watchers { watcher.resume() }
      }
    } onCancel: {
      let sleeper = state.withLock { state -> Sleeper? in
        guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else {
          state.cancelled.insert(id)
          return nil
        }
        return state.sleepers.remove(at: index)
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }

  /// Moves the clock; whoever slept long enough wakes.
  func advance(by duration: Duration) {
    let woken = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      let woken = state.sleepers.filter { $0.deadline <= state.now }
      state.sleepers.removeAll { $0.deadline <= state.now }
      return woken
    }
    for sleeper in woken { sleeper.continuation.resume() }
  }

  /// Returns when somebody sleeps for exactly `duration` from now.
  func waitForSleeper(of duration: Duration) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        let deadline = state.now.advanced(by: duration)
        if state.sleepers.contains(where: { $0.deadline == deadline }) { return true }
        state.watchers.append((deadline, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  /// Whether somebody sleeps for exactly `duration` from now.
  func hasSleeper(of duration: Duration) -> Bool {
    state.withLock { state in
      let deadline = state.now.advanced(by: duration)
      return state.sleepers.contains { $0.deadline == deadline }
    }
  }
}

/// A folder that goes with the test.
final class ResultFolder: Sendable {
  let url: URL

  init() {
    url = FileManager.default.temporaryDirectory.appendingPathComponent(
      "game-results-\(UUID().uuidString)")
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func names() -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted()
  }
}

/// A device with a results store and a clock that stands still.
final class ResultDevice: Sendable {
  static let containerName = "iCloud.example.results"
  /// 2026-11-03, 12:00 UTC: a day after the newest fixture.
  static let noon = Date(timeIntervalSince1970: 1_793_707_200)

  static var calendar: Calendar {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(identifier: "UTC") ?? .current
    return calendar
  }

  let device: LoopbackDevice
  let clock = StandingClock()
  let store: GameResultStore
  private let folder: ResultFolder
  private let pushes: any SignalObservation

  init(
    _ server: LoopbackServer, _ name: String, account: String?, folder: ResultFolder,
    recovering: Bool = false
  ) throws {
    self.folder = folder
    device = server.device(name, signedInAs: account)
    let store = try GameResultStore(
      directory: folder.url,
      container: CKContainer(identifier: Self.containerName, transport: device), clock: clock,
      calendar: Self.calendar, recovering: recovering, now: { Self.noon })
    self.store = store
    pushes = device.observeSignals { [weak store] signal in
      guard case .push(let push) = signal else { return }
      store?.receivedPush(subscriptionID: push.subscription.rawValue)
    }
  }

  /// The next status for which `isMet` holds.
  func status(_ isMet: (SyncStatus) -> Bool) async -> SyncStatus {
    for await status in store.statusUpdates where isMet(status) { return status }
    return store.status
  }
}

extension SyncStatus {
  var isSynced: Bool {
    if case .synced = state { true } else { false }
  }

  var failure: SyncFailure? {
    if case .failed(let failure) = state { failure } else { nil }
  }
}

extension LoopbackServer {
  /// The results an account has in the cloud, by their IDs' text.
  func results(of account: String) throws -> [String] {
    try records(in: .results, container: ResultDevice.containerName, account: account)
      .map(\.id.name)
  }
}

extension ZoneID {
  static let results = ZoneID(name: "UserDataZone")
}

/// Results numbered from `range`, each of a Wordle of its own.
func wordles(_ range: ClosedRange<Int>) -> String {
  range.map { "Wordle \($0) 4/6" }.joined(separator: "\n\n")
}
