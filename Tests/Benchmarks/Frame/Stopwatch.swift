import Foundation
import Synchronization

/// The clock of the benchmarks: the continuous clock, or with `--processor` the processor
/// time of the whole process, which other work on the machine does not lengthen.
///
/// Processor time shows what a side costs, not how long it takes: work that overlaps counts in
/// full, waiting not at all.
enum Stopwatch {
  /// Whether processor time is read.
  static let readsProcessor = Atomic(false)

  private static let start = ContinuousClock.now

  /// The time now, from some beginning.
  static var now: Duration {
    guard readsProcessor.load(ordering: .relaxed) else { return ContinuousClock.now - start }
    var time = timespec()
    guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return .zero }
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
