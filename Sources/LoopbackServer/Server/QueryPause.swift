#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What happens between two slices of a query.
enum QueryPause {
  /// The shortest sleep that gives the processor away; the system makes some 70 of it.
  private static let microseconds: UInt32 = 20

  /// Lets other tasks run, and other threads.
  ///
  /// A thread that computes without a break keeps its processor until the system's next tick, up to
  /// 4 ms, also when the thread of another request becomes ready. One that sleeps after each
  /// slice keeps it for a slice. The time is real on purpose: it is no part of what a test or
  /// a simulation sees.
  @Sendable static func take() async {
    usleep(microseconds)
    await Task.yield()
  }
}
