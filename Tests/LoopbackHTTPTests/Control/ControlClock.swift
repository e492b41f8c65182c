import Synchronization

/// A clock that only a test moves.
final class ControlClock: Clock {
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
        let isCancelled = contents.withLock { contents in
          guard !Task.isCancelled else { return true }
          contents.sleepers.append(
            Sleeper(id: id, deadline: deadline, continuation: continuation))
          for watcher in contents.watchers { watcher.resume() }
          contents.watchers = []
          return false
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) }
      }
    } onCancel: {
      let sleeper = contents.withLock { contents in
        contents.sleepers.firstIndex { $0.id == id }.map { contents.sleepers.remove(at: $0) }
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }

  /// Returns when a task sleeps.
  func waitForSleeper() async {
    await withCheckedContinuation { continuation in
      contents.withLock { contents in
        if contents.sleepers.isEmpty {
          contents.watchers.append(continuation)
        } else {
          continuation.resume()
        }
      }
    }
  }

  /// Moves on and wakes who is due.
  func advance(by duration: Duration) {
    let due = contents.withLock { contents in
      contents.now = contents.now.advanced(by: duration)
      let now = contents.now
      defer { contents.sleepers.removeAll { $0.deadline <= now } }
      return contents.sleepers.filter { $0.deadline <= now }
    }
    for sleeper in due { sleeper.continuation.resume() }
  }
}
