public import CloudSync
public import Foundation

/// The environment that a simulated device provides to one launch of an app.
public struct AppSurroundings: Sendable {
  /// The device's name.
  public var device: String

  /// The directory of the app's files.
  ///
  /// It exists, and its content persists between launches.
  public var folder: URL

  /// The app's container, with the transport of this device.
  public var container: CKContainer

  /// The clock for all delays.
  public var clock: SimulatedClock

  /// The current date.
  public var now: Date { clock.date }
}
