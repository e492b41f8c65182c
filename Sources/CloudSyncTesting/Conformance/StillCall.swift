import Synchronization

/// A call of an app during which the suite moves no clock.
///
/// If the task of the call sleeps on a simulated clock, the call never returns. Other tasks may
/// sleep meanwhile, such as the timers that the call starts.
final class StillCall: Sendable {
  @TaskLocal static var current: StillCall?

  private let task = StillCall.currentTask
  private let slept = Atomic(false)

  /// Whether the task of the call tried to sleep.
  var hasSlept: Bool { slept.load(ordering: .acquiring) }

  /// Refuses a sleep of the task of the call.
  func refuseSleep() throws {
    guard StillCall.currentTask == task else { return }
    slept.store(true, ordering: .releasing)
    throw StillCall.error
  }

  static let error = DeviceError(
    "The app's sync() sleeps on the simulated clock, which does not move meanwhile. Leave a retry "
      + "that has to wait to the next sync(), or give the app SimulatedClock(leapingOver:).")

  private static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }
}
