public import CloudProtocol
import Synchronization

/// A fault that waits for the next requests in its scope.
public struct PendingFault: Hashable, Sendable {
  /// What it does to a request.
  public enum Action: Hashable, Sendable {
    /// The request fails with a code before it reaches the database; the error tells the client
    /// to wait so many seconds.
    case fail(CloudError.Code, retryAfter: Double?)
    /// The request is carried out, its answer is lost, and the client sees the code.
    case dropAnswer(CloudError.Code)
    /// The request waits so many seconds.
    case delay(seconds: Double)
    /// The request stands still until it is released.
    case hold(HoldPoint)
    /// A test's own code runs before the answer leaves.
    case run
  }

  /// What it does.
  public var action: Action
  /// Which requests it is for.
  public var scope: RequestScope
  /// How many more requests it is for; `nil` for all.
  public var remaining: Int?
}

/// Pushes that will be lost.
public struct PendingPushLoss: Hashable, Sendable {
  /// The device whose pushes are lost; `nil` for any.
  public var device: String?
  /// How many more are lost.
  public var remaining: Int
}

/// What is set up and still to come.
extension FaultControls {
  /// The faults that wait for requests, in the order they were set up.
  public var pendingFaults: [PendingFault] { state.withLock { $0.rules.map(\.pending) } }

  /// The losses that wait for pushes, in the order they were set up.
  public var pendingPushLosses: [PendingPushLoss] { post.pendingLosses }

  /// Whether pushes are kept until `releasePushes()`.
  public var holdsPushes: Bool { post.holdsPushes }

  /// The pushes kept, oldest first.
  public var heldPushes: [PushEntry] { post.heldPushes }

  /// How much the server takes at once.
  public var limits: ServerLimits { room.limits }
}

extension FaultRule {
  fileprivate var pending: PendingFault {
    let action: PendingFault.Action =
      switch action {
      case .fail(let error): .fail(error.code, retryAfter: error.retryAfter)
      case .lose(let error): .dropAnswer(error.code)
      case .delay(let seconds): .delay(seconds: seconds)
      case .hold(let point): .hold(point)
      case .run: .run
      }
    return PendingFault(action: action, scope: scope, remaining: left == .max ? nil : left)
  }
}
