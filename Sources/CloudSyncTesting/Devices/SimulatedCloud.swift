import Foundation
public import LoopbackServer
import Records

/// A server in memory, a clock that stands still, and everything that can go wrong, for tests of
/// one container.
///
/// ```swift
/// let cloud = SimulatedCloud()
/// let phone = try cloud.device("phone") { Notes($0.folder) }
/// cloud.fail(next: 2, with: .zoneBusy)
/// ```
///
/// Two runs of the same test see the same names, tags, tokens and dates. May be used from any
/// thread.
public final class SimulatedCloud: Sendable {
  /// The server, for everything that has no line of its own here.
  public let server: LoopbackServer

  /// The clock of the server and of all devices made here.
  public let clock: SimulatedClock

  /// The container that all devices made here use.
  public let containerIdentifier: String

  let refusals = RefusalRules()

  /// An empty cloud.
  ///
  /// - Parameters:
  ///   - containerIdentifier: the container's name.
  ///   - clock: the clock of server and devices.
  ///   - limits: how much the server takes at once.
  public init(
    containerIdentifier: String = "iCloud.com.example.app",
    clock: SimulatedClock = SimulatedClock(), limits: ServerLimits = ServerLimits()
  ) {
    self.containerIdentifier = containerIdentifier
    self.clock = clock
    server = LoopbackServer(
      clock: {
        Timestamp(secondsSinceReferenceDate: clock.date.timeIntervalSinceReferenceDate)
      },
      delayClock: clock, identity: 1, limits: limits)
  }
}
