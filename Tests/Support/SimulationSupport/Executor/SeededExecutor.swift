import Synchronization

/// Runs the tasks of one world on one thread, one job after another, in an order a seed decides.
///
/// A job is what a task does between two waits. Which of the jobs that could run comes next is
/// drawn from the seed, so races are tried out and every run of a seed takes the same course.
/// The executor's clock advances only when no job is ready.
package final class SeededExecutor: TaskExecutor {
  /// The condition for which a paused task waits.
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

  /// The clock of all tasks on this executor.
  package let clock: VirtualClock

  /// How `run` came to its end.
  package enum End: Sendable {
    /// Everything was done.
    case done
    /// The main task waits for something that never happens.
    case standstill
    /// Tasks ran without end, so that the clock did not advance.
    case livelock
  }

  /// The number of jobs without progress that are taken for a livelock.
  private static let mostJobsAtOnce = 200_000

  /// The longest time that the clock advances while the main task waits.
  private static let longestWait = Duration.seconds(2 * 86_400)

  private let state: Mutex<State>

  /// An executor whose order `seed` decides.
  package init(seed: UInt64) {
    clock = VirtualClock(seed: seed ^ 0x5eed)
    state = Mutex(State(random: SeededRandom(seed: seed)))
  }

  /// The number of jobs that have run.
  package var jobCount: Int { state.withLock { $0.ran } }

  /// The number of jobs that are ready.
  package var readyCount: Int { state.withLock { $0.jobs.count } }

  /// How many jobs came past the executor: made on the executor's thread by a task that was started
  /// without the executor.
  package var escapeCount: Int { state.withLock { $0.escaped } }

  /// Adds a job.
  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    state.withLock { $0.jobs.append(job) }
  }

  /// Adds a job that was about to run on the system's threads.
  func catchEscaped(_ job: UnownedJob) {
    state.withLock { state in
      state.jobs.append(job)
      state.escaped += 1
    }
  }

  /// Runs one of the ready jobs; returns whether there was one.
  ///
  /// For worlds that are not tasks; the thread must be the executor's, see
  /// ``GlobalExecutorHook``.
  package func runOne() -> Bool {
    guard let job = state.withLock({ $0.nextJob() }) else { return false }
    job.runSynchronously(on: asUnownedTaskExecutor())
    return true
  }

  /// Runs `body` with everything it starts, until no job is left.
  ///
  /// - Throws: ``ExecutorError``.
  package func run(_ body: @escaping @Sendable () async -> Void) throws(ExecutorError) -> End {
    try GlobalExecutorHook.with(self) {
      Task.detached { [self] in
        await body()
        state.withLock { $0.isDone = true }
      }
      work()
    }
    return state.withLock { state in
      guard state.jobs.isEmpty else { return .livelock }
      return state.isDone ? .done : .standstill
    }
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

  /// The next thing to do on the executor.
  fileprivate enum Turn {
    case job(UnownedJob)
    case resume(CheckedContinuation<Void, Never>)
    case rest
  }

  private func work() {
    var waitsSince = clock.now
    var jobsAtOnce = 0
    while true {
      switch state.withLock({ $0.nextTurn() }) {
      case .job(let job):
        job.runSynchronously(on: asUnownedTaskExecutor())
        jobsAtOnce += 1
        guard jobsAtOnce < Self.mostJobsAtOnce else { return }
      case .resume(let continuation):
        (waitsSince, jobsAtOnce) = (clock.now, 0)
        continuation.resume()
      case .rest:
        // Everybody waits: for the time, or for nothing.
        guard !state.withLock({ $0.isDone }), let next = clock.nextDeadline,
          waitsSince.duration(to: next) <= Self.longestWait
        else { return }
        clock.move(to: next)
        jobsAtOnce = 0
      }
    }
  }
}

extension SeededExecutor.State {
  /// Takes the next job, or the task that waited for this moment.
  fileprivate mutating func nextTurn() -> SeededExecutor.Turn {
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
