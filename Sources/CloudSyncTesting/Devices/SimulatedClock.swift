import CloudSync
public import Foundation
import Synchronization

/// A clock that advances only when a test moves it, without real time.
///
/// Set it as `CKSyncEngine.Configuration.clock`; a `SimulatedCloud` and its devices share one. It
/// can be used from any thread.
public final class SimulatedClock: Clock, Sendable {
  /// A moment of the clock.
  public struct Instant: InstantProtocol {
    /// The time since the clock was created.
    public var sinceStart: Duration

    /// The moment `duration` later.
    public func advanced(by duration: Duration) -> Instant {
      Instant(sinceStart: sinceStart + duration)
    }

    /// The time until `other`.
    public func duration(to other: Instant) -> Duration { other.sinceStart - sinceStart }

    /// Orders by time.
    public static func < (first: Instant, second: Instant) -> Bool {
      first.sinceStart < second.sinceStart
    }
  }

  private struct Sleeper {
    var id: Int
    var deadline: Instant
    var continuation: CheckedContinuation<Void, any Error>
  }

  private struct Contents {
    var now = Instant(sinceStart: .zero)
    var sleepers: [Sleeper] = []
    var cancelled: Set<Int> = []
    var nextID = 0
    var watchers: [Watcher] = []

    func has(_ sleepers: Awaited) -> Bool {
      switch sleepers {
      case .many(let count): self.sleepers.count >= count
      case .until(let deadline): self.sleepers.contains { $0.deadline == deadline }
      }
    }

    mutating func newID() -> Int {
      nextID += 1
      return nextID
    }

    mutating func takeWatchers() -> [CheckedContinuation<Void, Never>] {
      let met = watchers.filter { has($0.sleepers) }
      watchers = watchers.filter { !has($0.sleepers) }
      return met.map(\.continuation)
    }

    /// The sleepers whose time has come, earliest first.
    mutating func takeDue() -> [Sleeper] {
      let due = sleepers.filter { $0.deadline <= now }
      sleepers.removeAll { $0.deadline <= now }
      return due.sorted { ($0.deadline, $0.id) < ($1.deadline, $1.id) }
    }
  }

  /// The condition on sleeping tasks that a test waits for.
  private enum Awaited {
    case many(Int)
    case until(Instant)
  }

  private struct Watcher {
    var id: Int
    var sleepers: Awaited
    var continuation: CheckedContinuation<Void, Never>
  }

  private typealias End = Result<Void, any Error>

  private let contents = Mutex(Contents())
  private let start: Date
  private let longestLeap: Duration

  /// Creates a clock that starts at `start`.
  ///
  /// - Parameters:
  ///   - start: the initial date; by default the same in every run.
  ///   - longestLeap: sleeps up to this duration end at once and advance the clock to their end. By
  ///     default every sleep waits for `advance(by:)`.
  public init(
    start: Date = Date(timeIntervalSince1970: 1_767_225_600),
    leapingOver longestLeap: Duration = .zero
  ) {
    self.start = start
    self.longestLeap = longestLeap
  }

  /// The current time.
  public var now: Instant { contents.withLock { $0.now } }

  /// The current date, for an app's time stamps.
  public var date: Date {
    let parts = now.sinceStart.components
    return start.addingTimeInterval(Double(parts.seconds) + Double(parts.attoseconds) / 1e18)
  }

  /// Zero: the clock is exact.
  public var minimumResolution: Duration { .zero }

  /// The number of sleeping tasks.
  public var sleeperCount: Int { contents.withLock { $0.sleepers.count } }

  /// The time until the next sleeping task wakes; `nil` if no task sleeps.
  public var timeToNextSleeper: Duration? {
    contents.withLock { contents in
      contents.sleepers.map(\.deadline).min().map { contents.now.duration(to: $0) }
    }
  }

  /// Suspends until the clock has been moved to `deadline`.
  /// - Throws: `CancellationError` when the task is cancelled; `DeviceError` in the task of a
  ///   `sync()` that `DelegateConformance` calls, since it does not move the clock before `sync()`
  ///   has returned.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    if let call = SyncCall.current, now.duration(to: deadline) > longestLeap {
      try call.refuseSleep()
    }
    let id = contents.withLock { $0.newID() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let (end, due, watchers) = admit(id, deadline, continuation)
        if let end { continuation.resume(with: end) }
        for sleeper in due { sleeper.continuation.resume() }
        for watcher in watchers { watcher.resume() }
      }
    } onCancel: {
      let sleeper = contents.withLock { contents -> Sleeper? in
        guard let index = contents.sleepers.firstIndex(where: { $0.id == id }) else {
          contents.cancelled.insert(id)
          return nil
        }
        return contents.sleepers.remove(at: index)
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }

  private func admit(
    _ id: Int, _ deadline: Instant, _ continuation: CheckedContinuation<Void, any Error>
  ) -> (End?, [Sleeper], [CheckedContinuation<Void, Never>]) {
    contents.withLock { contents in
      if contents.cancelled.remove(id) != nil { return (.failure(CancellationError()), [], []) }
      if contents.now.duration(to: deadline) <= longestLeap {
        contents.now = max(contents.now, deadline)
        return (.success(()), contents.takeDue(), [])
      }
      contents.sleepers.append(
        Sleeper(id: id, deadline: deadline, continuation: continuation))
      return (nil, [], contents.takeWatchers())
    }
  }

  /// Advances the clock and wakes the due tasks, earliest first.
  ///
  /// Returns at once; the woken tasks continue on their own threads.
  public func advance(by duration: Duration) {
    let due = contents.withLock { contents in
      contents.now = contents.now.advanced(by: duration)
      return contents.takeDue()
    }
    for sleeper in due { sleeper.continuation.resume() }
  }

  /// Suspends until at least `count` tasks sleep, or the calling task is cancelled.
  public func waitForSleepers(_ count: Int = 1) async {
    await wait { _ in .many(count) }
  }

  /// Suspends until a task sleeps for exactly `duration` from now, or the calling task is
  /// cancelled.
  public func waitForSleeper(of duration: Duration) async {
    await wait { .until($0.now.advanced(by: duration)) }
  }

  /// Whether a task sleeps for exactly `duration` from now.
  public func hasSleeper(of duration: Duration) -> Bool {
    contents.withLock { $0.has(.until($0.now.advanced(by: duration))) }
  }

  private func wait(for sleepers: (Contents) -> Awaited) async {
    let id = contents.withLock { $0.newID() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isDone = contents.withLock { contents in
          let awaited = sleepers(contents)
          if Task.isCancelled || contents.has(awaited) { return true }
          contents.watchers.append(
            Watcher(id: id, sleepers: awaited, continuation: continuation))
          return false
        }
        if isDone { continuation.resume() }
      }
    } onCancel: {
      let watcher = contents.withLock { contents -> Watcher? in
        guard let index = contents.watchers.firstIndex(where: { $0.id == id }) else { return nil }
        return contents.watchers.remove(at: index)
      }
      watcher?.continuation.resume()
    }
  }
}

extension SimulatedClock: RandomizingClock {
  /// The middle of the range, so that the delays of an engine are the same in every run.
  package func nextFraction() -> Double { 0.5 }

  /// A new UUID, since engines with different clocks can use one server.
  package func nextName() -> String { UUID().uuidString }
}
