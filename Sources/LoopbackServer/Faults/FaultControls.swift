public import CloudProtocol
import Records
import Synchronization

/// Injects faults into a server and its network, and inspects its requests and pushes.
///
/// Use it through `LoopbackServer.controls`.
///
/// Faults apply to the next requests in their scope, in order of arrival, so a test that sends in a
/// known order is deterministic. On PostgreSQL they apply to the requests of all servers together,
/// from the time when a server knows them; Docs/Cluster.md describes it. Delays use the clock that
/// the server was given. Call from any task or thread.
public final class FaultControls: Sendable {
  let state = Mutex(FaultState())
  let executor: MachineExecutor
  let pushDispatcher: PushDispatcher
  let events: EventLog
  /// The faults that other servers may share.
  let faults: FaultStore
  let clock: any Clock<Duration>
  let wallClock: @Sendable () -> Timestamp

  init(
    executor: MachineExecutor, pushDispatcher: PushDispatcher, events: EventLog,
    faults: FaultStore, clock: any Clock<Duration>,
    wallClock: @escaping @Sendable () -> Timestamp
  ) {
    self.executor = executor
    self.pushDispatcher = pushDispatcher
    self.events = events
    self.faults = faults
    self.clock = clock
    self.wallClock = wallClock
  }

  /// Fails the next `count` requests in `scope` with `code`; they never reach the database.
  ///
  /// - Parameters:
  ///   - count: the number of requests that fail.
  ///   - code: the error's code.
  ///   - retryAfter: the seconds the error tells the client to wait.
  ///   - scope: the requests that count.
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

  /// Carries out the next `count` requests in `scope` but drops their responses: the client gets
  /// `code` although the server's state has changed.
  public func dropAnswers(
    next count: Int = 1, as code: CloudError.Code = .networkFailure,
    in scope: RequestScope = .all
  ) {
    add(
      .lose(CloudError(code, "the answer was lost by a fault set up by the test")), next: count,
      in: scope)
  }

  /// Delays the next `count` requests in `scope` by `seconds` of the server's clock, at most a day,
  /// before they are carried out.
  public func delay(next count: Int = 1, by seconds: Double, in scope: RequestScope = .all) {
    add(.delay(seconds), next: count, in: scope)
  }

  /// Runs `body` after each of the next `count` requests in `scope` was carried out and before its
  /// response is sent.
  ///
  /// `body` may send requests and may use these controls.
  public func runAfterCommit(
    next count: Int = 1, in scope: RequestScope = .all,
    _ body: @escaping @Sendable (RequestEntry) async -> Void
  ) {
    guard count > 0 else { return }
    let number = change { $0.nextNumber() }
    state.withLock { state in
      state.closures.append(FaultClosure(number: number, body: body, scope: scope, left: count))
    }
  }

  /// Holds the next `count` requests in `scope`, by default all, until they are released.
  public func hold(
    next count: Int = .max, at point: HoldPoint = .beforeCommit, in scope: RequestScope = .all
  ) {
    add(.hold(point), next: count, in: scope)
  }

  /// The number of pending faults.
  public var remainingFaultCount: Int {
    faults.faults.rules.count + state.withLock { $0.closures.count }
  }

  /// Removes all faults, releases all held requests and discards held pushes.
  public func clear() {
    change { faults in
      faults.clear()
      faults.give(.clear)
    }
  }

  /// Removes the fault with a number from ``pendingFaults``; requests that it holds stay held.
  ///
  /// - Returns: Whether there was such a fault.
  @discardableResult
  public func removeFault(_ number: Int) -> Bool {
    let isClosure = state.withLock { state in
      let count = state.closures.count
      state.closures.removeAll { $0.number == number }
      return state.closures.count < count
    }
    return isClosure
      || change { faults in
        let count = faults.rules.count
        faults.rules.removeAll { $0.number == number }
        return faults.rules.count < count
      }
  }

  private func add(_ action: FaultRule.Action, next count: Int, in scope: RequestScope) {
    guard count > 0 else { return }
    change { faults in
      faults.rules.append(
        FaultRule(number: faults.nextNumber(), action: action, scope: scope, left: count))
    }
  }

  // MARK: Servers on the same data

  /// Changes the faults of all servers, and acts on the change here.
  @discardableResult
  func change<Value: Sendable>(
    _ body: @escaping @Sendable (inout ServerFaults) -> Value
  ) -> Value {
    defer { actOnNews() }
    return faults.change(body)
  }

  /// Learns the faults and limits that other servers on the same data have set.
  func open() throws(CloudError) {
    try faults.open()
    actOnNews()
  }

  /// Whether servers on the same data share their faults.
  package var isShared: Bool { faults.isShared }

  /// The limits with which the server was started.
  package var firstLimits: ServerLimits { executor.firstLimits }

  /// Learns what other servers on the same data have changed, and stores what could not be stored
  /// when it was changed.
  ///
  /// - Throws: Why either failed; the faults of this server hold here meanwhile.
  package func synchronize() throws(CloudError) {
    try faults.synchronize()
    actOnNews()
  }

  private func actOnNews() {
    let news = faults.takeNews()
    if let limits = news.limits { executor.setLimits(limits ?? executor.firstLimits) }
    for order in news.orders {
      switch order {
      case .release(let scope): releaseHere(in: scope)
      case .clear:
        state.withLock { $0.closures = [] }
        pushDispatcher.clear()
        releaseHere(in: .all)
      case .releasePushes: pushDispatcher.release()
      case .deliver(let push, let device): pushDispatcher.deliver(push, to: device)
      case .set(let setting): for device in pushDispatcher.devices { device.set(setting) }
      }
    }
  }

  func sleep(_ seconds: Double) async throws(CloudError) {
    let seconds = min(max(0, seconds), 86_400)
    do { try await clock.sleep(for: .seconds(seconds)) } catch { throw .cancelled }
  }
}

/// The point at which a request is held.
public enum HoldPoint: String, Hashable, Sendable, CaseIterable {
  /// Before the request changes anything on the server.
  case beforeCommit
  /// After the change was committed and pushed, before the response is sent.
  case afterCommit
}

/// A closure that runs after the next requests in a scope, in this process alone.
struct FaultClosure: Sendable {
  var number: Int
  var body: @Sendable (RequestEntry) async -> Void
  var scope: RequestScope
  var left: Int
}

/// The faults that apply to one request, decided when it arrives.
struct RequestFaults: Sendable {
  var entry: RequestEntry
  var delays: [Double] = []
  var holdsBeforeCommit = false
  var holdsAfterCommit = false
  var failure: CloudError?
  var loss: CloudError?
  var bodies: [@Sendable (RequestEntry) async -> Void] = []
  /// Whether others must be asked of the database.
  var areShared = false
}

/// The state of the controls, guarded by one lock.
struct FaultState: Sendable {
  var closures: [FaultClosure] = []
  var log: [RequestEntry] = []
  var arrived = 0
  var counts: [RequestScope: Int] = [:]
  var refusedItems: [CloudError.Code: Int] = [:]
  var held: [HeldRequest] = []
  var cancelledBeforeHold: Set<Int> = []
  var waiters: [HoldWaiter] = []
  var nextWaiter = 0
  var openRequests = 0
  var isClosed = false
}
