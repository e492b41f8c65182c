public import CloudProtocol
import Records
import Synchronization

/// Everything a test can do to the server and the way to it; reached by `LoopbackServer.controls`.
///
/// Faults apply in the order of arrival and to the next requests in their scope, so a test that
/// sends in a known order sees the same every time. Nothing here waits by itself: time comes from
/// the clock the server was given. Call from any task or thread.
public final class FaultControls: Sendable {
  let state = Mutex(FaultState())
  let room: MachineRoom
  let post: PostOffice
  let events: EventLog
  let clock: any Clock<Duration>
  let wallClock: @Sendable () -> Timestamp

  init(
    room: MachineRoom, post: PostOffice, events: EventLog, clock: any Clock<Duration>,
    wallClock: @escaping @Sendable () -> Timestamp
  ) {
    self.room = room
    self.post = post
    self.events = events
    self.clock = clock
    self.wallClock = wallClock
  }

  /// Fails the next `count` requests in `scope` with `code`; they never reach the database.
  ///
  /// - Parameter retryAfter: the seconds the error tells the client to wait.
  public func fail(
    next count: Int = 1, with code: CloudError.Code, retryAfter: Double? = nil,
    in scope: RequestScope = .all
  ) {
    fail(
      next: count,
      with: CloudError(code, "a fault set up by the test", retryAfter: retryAfter), in: scope)
  }

  /// Fails the next `count` requests in `scope` with `error`; they never reach the database.
  public func fail(next count: Int = 1, with error: CloudError, in scope: RequestScope = .all) {
    add(.fail(error), next: count, in: scope)
  }

  /// Carries out the next `count` requests in `scope` but loses their answers: the client sees
  /// `code`, the server's state has changed.
  public func dropAnswers(
    next count: Int = 1, as code: CloudError.Code = .networkFailure,
    in scope: RequestScope = .all
  ) {
    add(
      .lose(CloudError(code, "the answer was lost by a fault set up by the test")), next: count,
      in: scope)
  }

  /// Lets the next `count` requests in `scope` wait `seconds` of the server's clock before they
  /// are carried out.
  public func delay(next count: Int = 1, by seconds: Double, in scope: RequestScope = .all) {
    add(.delay(seconds), next: count, in: scope)
  }

  /// Runs `body` after each of the next `count` requests in `scope` was carried out and before
  /// its answer leaves.
  ///
  /// `body` may send requests of its own and may use these controls.
  public func runAfterCommit(
    next count: Int = 1, in scope: RequestScope = .all,
    _ body: @escaping @Sendable (RequestEntry) async -> Void
  ) {
    add(.run(body), next: count, in: scope)
  }

  /// Holds the next `count` requests in `scope` until they are released; by default all.
  public func hold(
    next count: Int = .max, at point: HoldPoint = .beforeCommit, in scope: RequestScope = .all
  ) {
    add(.hold(point), next: count, in: scope)
  }

  /// How many faults still wait for a request.
  public var remainingFaultCount: Int { state.withLock { $0.rules.count } }

  /// Ends all faults, releases all held requests and throws held pushes away.
  public func clear() {
    state.withLock { $0.rules = [] }
    post.clear()
    release()
  }

  private func add(_ action: FaultRule.Action, next count: Int, in scope: RequestScope) {
    guard count > 0 else { return }
    state.withLock { $0.rules.append(FaultRule(action: action, scope: scope, left: count)) }
  }

  func sleep(_ seconds: Double) async throws(CloudError) {
    do { try await clock.sleep(for: .seconds(max(0, seconds))) } catch { throw .cancelled }
  }
}

/// Where a request is held.
public enum HoldPoint: String, Hashable, Sendable, CaseIterable {
  /// Nothing has changed on the server yet.
  case beforeCommit
  /// The change is made and pushed, the answer has not left.
  case afterCommit
}

/// What waits for the next requests in a scope.
struct FaultRule: Sendable {
  enum Action: Sendable {
    case fail(CloudError)
    case lose(CloudError)
    case delay(Double)
    case hold(HoldPoint)
    case run(@Sendable (RequestEntry) async -> Void)
  }

  var action: Action
  var scope: RequestScope
  var left: Int
}

/// What one request has to go through, decided when it arrives.
struct Passage: Sendable {
  var entry: RequestEntry
  var delays: [Double] = []
  var holdsBeforeCommit = false
  var holdsAfterCommit = false
  var failure: CloudError?
  var loss: CloudError?
  var bodies: [@Sendable (RequestEntry) async -> Void] = []
}

/// What the controls remember; guarded by one lock.
struct FaultState: Sendable {
  var rules: [FaultRule] = []
  var log: [RequestEntry] = []
  var arrived = 0
  var counts: [RequestScope: Int] = [:]
  var held: [HeldRequest] = []
  var cancelledBeforeHold: Set<Int> = []
  var waiters: [HoldWaiter] = []
  var nextWaiter = 0
  var openRequests = 0
  var isClosed = false
}
