import Synchronization

/// Runs the tasks of one world on one thread, one job after another, in an order a seed decides.
///
/// A job is what a task does between two waits. Which of the jobs that could run comes next is
/// drawn from the seed, so races are tried out and every run of a seed takes the same course.
/// When no job can run, everybody waits: that is quiescence, and the only time at which the
/// lane's clock moves.
package final class SerialLane: TaskExecutor {
  /// What a paused task waits for.
  fileprivate enum Pause {
    case untilIdle(CheckedContinuation<Void, Never>)
    case forJobs(Int, CheckedContinuation<Void, Never>)
  }

  fileprivate struct State {
    var jobs: [UnownedJob] = []
    var random: SeededRandom
    var pause: Pause?
    var ran = 0
    var escaped = 0
    var isDone = false
  }

  /// The only time there is on this lane.
  package let clock: VirtualClock

  /// How far the clock may move by itself while the world waits for one thing.
  private static let longestWait = Duration.seconds(2 * 86_400)

  private let state: Mutex<State>

  /// A lane whose order `seed` decides.
  package init(seed: UInt64) {
    clock = VirtualClock(seed: seed ^ 0x5eed)
    state = Mutex(State(random: SeededRandom(seed: seed)))
  }

  /// How many jobs ran so far.
  package var jobCount: Int { state.withLock { $0.ran } }

  /// How many jobs could run now.
  package var readyCount: Int { state.withLock { $0.jobs.count } }

  /// How many jobs came past the executor: made on the lane's thread by a task that was started
  /// without the lane.
  package var escapeCount: Int { state.withLock { $0.escaped } }

  /// Takes a job whose turn comes.
  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    state.withLock { $0.jobs.append(job) }
  }

  /// Takes a job that was on its way to the system's threads.
  func catchEscaped(_ job: UnownedJob) {
    state.withLock { state in
      state.jobs.append(job)
      state.escaped += 1
    }
  }

  /// Runs one of the jobs that could run; answers whether there was one.
  ///
  /// For worlds that are no task themselves; the thread must be the lane's, see ``TaskHook``.
  package func runOne() -> Bool {
    guard let job = state.withLock({ $0.nextJob() }) else { return false }
    job.runSynchronously(on: asUnownedTaskExecutor())
    return true
  }

  /// Runs `body` with everything it starts, until no job is left.
  ///
  /// - Returns: whether `body` came to its end; if not, it waits for what never comes.
  /// - Throws: ``LaneError``.
  package func run(_ body: @escaping @Sendable () async -> Void) throws(LaneError) -> Bool {
    try TaskHook.with(self) {
      Task.detached { [self] in
        await body()
        state.withLock { $0.isDone = true }
      }
      work()
    }
    return state.withLock { $0.isDone }
  }

  /// Returns when no other job can run; time stands still meanwhile.
  package func settle() async {
    await withCheckedContinuation { continuation in
      state.withLock { $0.pause = .untilIdle(continuation) }
    }
  }

  /// Returns when `count` other jobs have run, or none can run any more.
  package func pause(forJobs count: Int) async {
    await withCheckedContinuation { continuation in
      state.withLock { $0.pause = .forJobs(count, continuation) }
    }
  }

  /// Lets time pass; who sleeps wakes at the right moment, one after another.
  package func pass(_ duration: Duration) async {
    let end = clock.now.advanced(by: duration)
    await settle()
    while let next = clock.nextDeadline, next <= end {
      clock.move(to: next)
      await settle()
    }
    clock.move(to: end)
  }

  /// What comes next on the lane.
  fileprivate enum Turn {
    case job(UnownedJob)
    case resume(CheckedContinuation<Void, Never>)
    case rest
  }

  private func work() {
    var waitsSince = clock.now
    while true {
      switch state.withLock({ $0.nextTurn() }) {
      case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
      case .resume(let continuation):
        waitsSince = clock.now
        continuation.resume()
      case .rest:
        // Everybody waits: for the time, or for nothing.
        guard !state.withLock({ $0.isDone }), let next = clock.nextDeadline,
          waitsSince.duration(to: next) <= Self.longestWait
        else { return }
        clock.move(to: next)
      }
    }
  }
}

extension SerialLane.State {
  /// Takes the next job, or the task that waited for this moment.
  fileprivate mutating func nextTurn() -> SerialLane.Turn {
    if case .forJobs(let left, let continuation) = pause {
      if left <= 0 || jobs.isEmpty {
        pause = nil
        return .resume(continuation)
      }
      pause = .forJobs(left - 1, continuation)
    } else if jobs.isEmpty, case .untilIdle(let continuation) = pause {
      pause = nil
      return .resume(continuation)
    }
    return nextJob().map { .job($0) } ?? .rest
  }

  /// Takes one of the jobs that could run.
  fileprivate mutating func nextJob() -> UnownedJob? {
    guard !jobs.isEmpty else { return nil }
    ran += 1
    return jobs.remove(at: random.below(jobs.count))
  }
}
