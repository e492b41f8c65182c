package import CloudProtocol

/// The long polling of one container's pushes: the next step, and the pauses after failures.
///
/// The driver takes the `step`, reports its outcome by `opened(at:)`, `received()`,
/// `receivedNothing(after:)`, `paused()` or `failed(_:)`, and takes the next one, until the step is
/// `end`.
package struct PollSchedule: Sendable {
  /// A step of the driver.
  package enum Step: Hashable, Sendable {
    /// Ask the server for the address of pushes. Those sent before are lost, so the driver reports
    /// a possible change.
    case open
    /// Wait for a push at an address.
    case wait(address: String)
    /// Wait for a time.
    case pause(Duration)
    /// End; after a change of the account, the driver reports it.
    case end(accountChanged: Bool)
  }

  /// The step to take.
  package private(set) var step: Step = .open
  private var failures = 0
  /// The number of requests in a row that ended at once, without a push.
  private var quickEnds = 0
  private let backoff = Backoff(cap: .seconds(30))

  /// Creates the schedule of a container that was not polled yet.
  package init() {}

  /// Reports the address of pushes.
  ///
  /// That is no success yet: a server can give addresses at which nothing answers.
  package mutating func opened(at address: String) { step = .wait(address: address) }

  /// Reports a push.
  package mutating func received() {
    failures = 0
    quickEnds = 0
  }

  /// Reports that the request at the address ended after a time without a push.
  ///
  /// A service that ends several in a row at once is not one that waits, such as a proxy that
  /// answers for it.
  package mutating func receivedNothing(after time: Duration) {
    failures = 0
    quickEnds = time < .seconds(1) ? quickEnds + 1 : 0
    guard quickEnds >= 5 else { return }
    step = .pause(backoff.delay(afterFailures: quickEnds - 4, jitter: 1))
  }

  /// Reports that the pause is over.
  package mutating func paused() { step = .open }

  /// Reports that the step failed.
  package mutating func failed(_ error: CloudError) {
    switch error.code {
    case .operationCancelled: step = .end(accountChanged: false)
    case .notAuthenticated where error.accountObstacle == nil: step = .end(accountChanged: true)
    default:
      failures += 1
      step = .pause(error.wait ?? backoff.delay(afterFailures: failures, jitter: 1))
    }
  }
}
