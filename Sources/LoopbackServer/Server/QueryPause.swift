import Foundation

/// The pause between two slices of a query.
enum QueryPause {
  /// The shortest sleep that yields the processor; in practice about 70.
  private static let microseconds: UInt32 = 20

  /// Lets other tasks and threads run.
  ///
  /// A thread that computes without a break keeps its processor until the scheduler's next tick, up
  /// to 4 ms, even if the thread of another request becomes ready. A thread that sleeps after each
  /// slice keeps it for one slice. The sleep uses real time on purpose: it is invisible to tests
  /// and simulations.
  @Sendable static func take() async {
    usleep(microseconds)
    await Task.yield()
  }
}
