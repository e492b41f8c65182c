import CloudSync
import Synchronization

/// A clock that only its executor advances, and that provides the random numbers of engines.
package final class VirtualClock: RandomizingClock, Sendable {
  /// A moment, as the time since the world began.
  package struct Instant: InstantProtocol {
    /// The time since the world began.
    package var offset: Duration

    /// The moment `duration` later.
    package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

    /// The time until `other`.
    package func duration(to other: Instant) -> Duration { other.offset - offset }

    /// Whether the first is earlier.
    package static func < (first: Instant, second: Instant) -> Bool {
      first.offset < second.offset
    }
  }

  private struct Sleeper {
    var number: UInt64
    var deadline: Instant
    var continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now = Instant(offset: .zero)
    /// By deadline, then in the order in which they began to sleep.
    var sleepers: [Sleeper] = []
    /// The tasks that were cancelled before they slept.
    var cancelled: Set<UInt64> = []
    var lastNumber: UInt64 = 0
    var random: SeededRandom
    var names: UInt64 = 0
  }

  private let state: Mutex<State>

  /// Creates a clock at zero with the random numbers of `seed`.
  package init(seed: UInt64) { state = Mutex(State(random: SeededRandom(seed: seed))) }

  /// The current time in whole milliseconds.
  package var milliseconds: Int {
    // Not by a quotient of durations, which is a fraction and may fall short of the number.
    let (seconds, attoseconds) = now.offset.components
    return Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000)
  }

  /// The current time.
  package var now: Instant { state.withLock { $0.now } }

  /// Zero: the clock is exact.
  package var minimumResolution: Duration { .zero }

  /// The next number from 0 up to 1.
  package func nextFraction() -> Double { state.withLock { $0.random.fraction() } }

  /// The next name; no two are the same.
  package func nextName() -> String {
    state.withLock { state in
      state.names += 1
      return "run\(state.names)"
    }
  }

  /// The number of sleeping tasks.
  package var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  /// The time at which the next task wakes; `nil` if no task sleeps.
  package var nextDeadline: Instant? { state.withLock { $0.sleepers.first?.deadline } }

  /// Advances the clock, never back, and wakes the due tasks.
  package func move(to moment: Instant) {
    let woken = state.withLock { state in
      state.now = max(state.now, moment)
      let now = state.now
      let woken = state.sleepers.prefix { $0.deadline <= now }
      state.sleepers.removeFirst(woken.count)
      return woken
    }
    for sleeper in woken { sleeper.continuation.resume() }
  }

  /// Suspends until the clock reaches `deadline`.
  ///
  /// - Throws: `CancellationError`.
  package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let end = state.withLock { state -> Result<Void, any Error>? in
          if state.cancelled.remove(number) != nil { return .failure(CancellationError()) }
          if deadline <= state.now { return .success(()) }
          let place =
            state.sleepers.firstIndex { $0.deadline > deadline } ?? state.sleepers.endIndex
          state.sleepers.insert(
            Sleeper(number: number, deadline: deadline, continuation: continuation), at: place)
          return nil
        }
        if let end { continuation.resume(with: end) }
      }
    } onCancel: {
      let sleeper = state.withLock { state -> Sleeper? in
        guard let index = state.sleepers.firstIndex(where: { $0.number == number }) else {
          state.cancelled.insert(number)
          return nil
        }
        return state.sleepers.remove(at: index)
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }
}
