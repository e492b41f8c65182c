import AnnotationStore
import CloudSync
import Dispatch
import Foundation
import SyncSupport
import Synchronization
import Testing

/// A clock on which nobody waits: whoever sleeps moves it.
final class SkippingClock: Clock, Sendable {
  struct Instant: InstantProtocol {
    var offset: Duration
    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (first: Instant, second: Instant) -> Bool { first.offset < second.offset }
  }

  private let state = Mutex<(now: Duration, waits: [Duration])>((.zero, []))

  var now: Instant { Instant(offset: state.withLock { $0.now }) }
  var minimumResolution: Duration { .zero }

  /// How long everybody slept, one after the other.
  var waits: [Duration] { state.withLock { $0.waits } }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    try Task.checkCancellation()
    state.withLock { state in
      state.waits.append(deadline.offset - state.now)
      state.now = max(state.now, deadline.offset)
    }
  }

  func advance(by duration: Duration) { state.withLock { $0.now += duration } }
}

@Suite("Shared parts: the network and retries", .timeLimit(.minutes(20)))
struct SyncSupportNetworkTests {
  @Test("R: The network monitor reports offline, online and expensive, now and at each change")
  func monitorReportsNetworkStatus() async {
    let link = SimulatedLink(.offline)
    let monitor = NetworkMonitor(link)
    #expect(monitor.status == .offline && !monitor.isConnected)
    var updates = monitor.updates.makeAsyncIterator()
    #expect(await updates.next() == .offline)
    for status in [NetworkStatus.online, .expensive, .offline] {
      link.status = status
      #expect(await updates.next() == status && monitor.status == status)
      #expect(monitor.isConnected == (status != .offline))
    }
    link.status = .offline
    link.status = .online
    #expect(await updates.next() == .online, "the same again is no news")
  }

  @Test("R: Late and slow listeners receive the newest status")
  func slowListenersGetNewestStatus() async {
    let link = SimulatedLink(.online)
    let monitor = NetworkMonitor(link)
    let updates = monitor.updates
    for status in [NetworkStatus.offline, .expensive, .offline] { link.status = status }
    var slow = updates.makeAsyncIterator()
    var late = monitor.updates.makeAsyncIterator()
    #expect(await slow.next() == .offline)
    #expect(await late.next() == .offline)
  }

  @Test("R: A released monitor ends its listeners")
  func releasedMonitorEndsListeners() async {
    let link = SimulatedLink()
    var monitor: NetworkMonitor? = NetworkMonitor(link)
    var updates = monitor?.updates.makeAsyncIterator()
    _ = await updates?.next()
    monitor = nil
    link.status = .offline
    #expect(await updates?.next() == nil)
  }

  /// Fails as often as told, then succeeds.
  private func run(
    _ plan: RetryPlan, _ errors: [any Error]
  ) async -> (waits: [Duration], attempts: Int, failure: CKError.Code?) {
    let clock = SkippingClock()
    let left = Mutex(errors)
    let attempts = Mutex(0)
    do {
      try await plan.run(clock: clock) {
        attempts.withLock { $0 += 1 }
        if let error = left.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { throw error }
      }
      return (clock.waits, attempts.withLock { $0 }, nil)
    } catch {
      return (clock.waits, attempts.withLock { $0 }, (error as? CKError)?.code)
    }
  }

  @Test(
    "R: The retry manager makes three attempts one and two seconds apart for temporary failures")
  func retryManagerRetriesTemporaryFailures() async {
    let second = Duration.seconds(1)
    let busy = CKError(.serviceUnavailable)
    let slow = CKError(.requestRateLimited, userInfo: [CKErrorRetryAfterKey: NSNumber(value: 30)])
    let table: [([CKError], [Duration], Int, CKError.Code?)] = [
      ([], [], 1, nil),
      ([busy], [second], 2, nil),
      ([CKError(.networkFailure), CKError(.networkUnavailable)], [second, second * 2], 3, nil),
      ([busy, busy, busy, busy], [second, second * 2], 3, .serviceUnavailable),
      ([slow], [second * 30], 2, nil),
      ([CKError(.quotaExceeded)], [], 1, .quotaExceeded),
      ([busy, CKError(.quotaExceeded)], [second], 2, .quotaExceeded),
      ([CKError(.notAuthenticated)], [], 1, .notAuthenticated),
      ([CKError(.serverRecordChanged)], [], 1, .serverRecordChanged),
      ([CKError(.zoneBusy)], [], 1, .zoneBusy),
    ]
    for (errors, waits, attempts, failure) in table {
      let result = await run(.threeAttempts, errors)
      #expect(
        result == (waits, attempts, failure), "\(errors.map(\.code)) gave \(result)")
    }
  }

  @Test("A task that is cancelled during a broadcast ends its sequence")
  func cancelledListenerDoesNotBlock() async {
    let executor = QueueExecutor()
    let broadcast = Broadcast<Int>()
    let elements = broadcast.elements()
    let listener = Task(executorPreference: executor) { for await _ in elements {} }
    executor.finish()
    func cancel() -> Int {
      listener.cancel()
      return 1
    }
    broadcast.send(cancel())
    await listener.value
    broadcast.send(2)
  }
}

/// Runs jobs on a queue, so that a test can wait until all have come to a suspension.
private final class QueueExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "jobs")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  func finish() { queue.sync {} }
}
