import Foundation
public import LoopbackServer
import Records
import Synchronization

/// A server in memory with a simulated clock and fault injection, for tests of one container.
///
/// ```swift
/// let cloud = SimulatedCloud()
/// let phone = try cloud.device("phone") { try Notes($0.folder) }
/// cloud.fail(next: 2, with: .zoneBusy)
/// ```
///
/// Runs are deterministic: two runs of the same test have the same names, tags, tokens and dates.
/// It can be used from any thread.
public final class SimulatedCloud: Sendable {
  /// The server, for operations without a member of this class.
  public let server: LoopbackServer

  /// The clock of the server and of all devices of this cloud.
  public let clock: SimulatedClock

  /// The container of all devices of this cloud.
  public let containerIdentifier: String

  let refusals = RefusalRules()

  /// The names of the simulated devices.
  let deviceNames = Mutex<Set<String>>([])

  /// The accounts with which simulated devices were created.
  let deviceAccounts = Mutex<Set<String>>([])

  /// Creates an empty cloud.
  ///
  /// - Parameters:
  ///   - containerIdentifier: the identifier of the container.
  ///   - clock: the clock of server and devices.
  ///   - limits: the request limits of the server.
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
