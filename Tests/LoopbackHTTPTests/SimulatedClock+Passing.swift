import CloudSyncTesting

extension SimulatedClock {
  /// Moves on, and returns when whoever slept has done its work and sleeps again.
  func pass(_ duration: Duration) async {
    await waitForSleepers()
    advance(by: duration)
    await waitForSleepers()
  }
}
