public import CloudProtocol
import Synchronization

/// A fault that applies to the next requests in its scope.
public struct PendingFault: Hashable, Sendable {
  /// The effect of a fault on a request.
  public enum Action: Hashable, Sendable {
    /// The request fails with a code before it reaches the database; the error tells the client to
    /// wait `retryAfter` seconds.
    case fail(CloudError.Code, retryAfter: Double?)
    /// The request is carried out, its response is dropped, and the client gets the code.
    case dropAnswer(CloudError.Code)
    /// The request is delayed.
    case delay(seconds: Double)
    /// The request is held until it is released.
    case hold(HoldPoint)
    /// A closure of the test runs before the response is sent.
    case run
  }

  /// The number by which the fault is removed; no other fault of this server has it.
  public var number: Int
  /// The effect of the fault.
  public var action: Action
  /// The requests that the fault applies to.
  public var scope: RequestScope
  /// The number of remaining requests; `nil` for all.
  public var remaining: Int?
}

/// Pushes that the server will drop.
public struct PendingPushLoss: Hashable, Sendable {
  /// The device whose pushes are lost; `nil` for any.
  public var device: String?
  /// The number of pushes that are still to be lost.
  public var remaining: Int
}

/// The pending faults.
extension FaultControls {
  /// The pending faults of requests, in the order in which they were added.
  public var pendingFaults: [PendingFault] {
    let closures = state.withLock { state in
      state.closures.map { closure in
        PendingFault(
          number: closure.number, action: .run, scope: closure.scope,
          remaining: closure.left == .max ? nil : closure.left)
      }
    }
    return (faults.faults.rules.map(\.pending) + closures).sorted { $0.number < $1.number }
  }

  /// The pending losses of pushes, in the order in which they were added.
  public var pendingPushLosses: [PendingPushLoss] { faults.faults.pushLosses }

  /// Whether pushes are held until `releasePushes()`.
  public var holdsPushes: Bool { faults.faults.holdsPushes }

  /// The held pushes, oldest first.
  public var heldPushes: [PushEntry] { pushDispatcher.heldPushes }

  /// The limits in force, including those set by ``setLimits(_:)``.
  public var limits: ServerLimits { executor.limits }
}

extension FaultRule {
  fileprivate var pending: PendingFault {
    let action: PendingFault.Action =
      switch action {
      case .fail(let error): .fail(error.code, retryAfter: error.retryAfter)
      case .lose(let error): .dropAnswer(error.code)
      case .delay(let seconds): .delay(seconds: seconds)
      case .hold(let point): .hold(point)
      }
    return PendingFault(
      number: number, action: action, scope: scope, remaining: left == .max ? nil : left)
  }
}
