public import CloudSync
public import Foundation

/// What a simulated device gives to one launch of an app on it.
public struct AppSurroundings: Sendable {
  /// The device's name.
  public var device: String

  /// Where the app keeps its files; it is there, and what one launch writes the next one finds.
  public var folder: URL

  /// The app's container, reached the way this device reaches it.
  public var container: CKContainer

  /// The clock everything waits by.
  public var clock: SimulatedClock

  /// The wall clock's date.
  public var now: Date { clock.date }
}
