import Synchronization

/// A call of an app's `sync()`, during which the suite does not advance the clock.
///
/// A sleep of the call's own task would never end, so it throws. Other tasks may sleep meanwhile,
/// such as the timers that the call starts; one that the call waits for is not detected.
final class SyncCall: Sendable {
  @TaskLocal static var current: SyncCall?

  private let task = SyncCall.currentTask
  private let slept = Atomic(false)

  /// Whether the task of the call tried to sleep.
  var hasSlept: Bool { slept.load(ordering: .acquiring) }

  /// Refuses a sleep of the task of the call.
  func refuseSleep() throws {
    guard SyncCall.currentTask == task else { return }
    slept.store(true, ordering: .releasing)
    throw SyncCall.error
  }

  static let error = DeviceError(
    "The app's sync() sleeps on the simulated clock, which does not move meanwhile. Leave a retry "
      + "that has to wait to the next sync(), or give the app SimulatedClock(leapingOver:).")

  private static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }
}
