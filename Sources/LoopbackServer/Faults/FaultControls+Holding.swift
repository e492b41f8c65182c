import CloudProtocol
import Synchronization

/// A held request.
struct HeldRequest: Sendable {
  enum End: Sendable {
    case released
    case cancelled
    case closed
  }

  var entry: RequestEntry
  var point: HoldPoint
  var continuation: CheckedContinuation<End, Never>
}

/// A test that waits until so many requests are held.
struct HoldWaiter: Sendable {
  var id: Int
  var count: Int
  var scope: RequestScope
  var continuation: CheckedContinuation<Void, Never>
}

extension FaultControls {
  /// The held requests, in the order in which they were held.
  public var heldRequests: [RequestEntry] { state.withLock { $0.held.map(\.entry) } }

  /// Returns when at least `count` requests in `scope` are held, when the server closes, or when
  /// the task is cancelled.
  public func waitForHeldRequests(_ count: Int = 1, in scope: RequestScope = .all) async {
    let id = state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isDone = state.withLock { state in
          let isDone =
            state.isClosed || Task.isCancelled || state.heldCount(in: scope) >= count
          if !isDone {
            state.waiters.append(
              HoldWaiter(id: id, count: count, scope: scope, continuation: continuation))
          }
          return isDone
        }
        if isDone { continuation.resume() }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
      }
      waiter?.continuation.resume()
    }
  }

  /// Releases the oldest `count` held requests in `scope`; `nil` releases all and stops holding
  /// later ones in that scope.
  ///
  /// On PostgreSQL, `nil` means those of all servers, and a count those of this one.
  public func release(_ count: Int? = nil, in scope: RequestScope = .all) {
    if let count { return releaseHere(max(0, count), in: scope) }
    change { faults in
      faults.rules.removeAll { $0.isHold && $0.scope.isWithin(scope) }
      faults.give(.release(scope))
    }
  }

  /// Releases the oldest `count` requests that this server holds.
  func releaseHere(_ count: Int = .max, in scope: RequestScope) {
    let released = state.withLock { $0.takeHeld(at: count, in: scope) }
    for request in released { request.continuation.resume(returning: .released) }
  }

  /// Ends all waits: held requests fail with `networkFailure`.
  func close() {
    faults.close()
    let (held, waiters) = state.withLock { state in
      state.isClosed = true
      state.closures = []
      defer { state.waiters = [] }
      return (state.takeHeld(at: .max, in: .all), state.waiters)
    }
    for request in held { request.continuation.resume(returning: .closed) }
    for waiter in waiters { waiter.continuation.resume() }
  }

  /// Holds the request until it is released.
  func hold(_ entry: RequestEntry, at point: HoldPoint) async throws(CloudError) {
    let end = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (end, waiters) = state.withLock { state in
          state.hold(HeldRequest(entry: entry, point: point, continuation: continuation))
        }
        if let end { continuation.resume(returning: end) }
        for waiter in waiters { waiter.continuation.resume() }
      }
    } onCancel: {
      let request = state.withLock { state in state.cancelHeld(entry.number) }
      request?.continuation.resume(returning: .cancelled)
    }
    switch end {
    case .released: return
    case .cancelled: throw .cancelled
    case .closed: throw CloudError(.networkFailure, "the loopback server was closed")
    }
  }
}

extension FaultState {
  fileprivate func heldCount(in scope: RequestScope) -> Int {
    held.count { scope.contains($0.entry) }
  }

  /// Adds a held request, or returns why it need not wait; also returns the waiters to resume.
  fileprivate mutating func hold(_ request: HeldRequest) -> (HeldRequest.End?, [HoldWaiter]) {
    if isClosed { return (.closed, []) }
    if cancelledBeforeHold.remove(request.entry.number) != nil { return (.cancelled, []) }
    held.append(request)
    let done = waiters.filter { heldCount(in: $0.scope) >= $0.count }
    waiters.removeAll { waiter in done.contains { $0.id == waiter.id } }
    return (nil, done)
  }

  fileprivate mutating func cancelHeld(_ number: Int) -> HeldRequest? {
    guard let index = held.firstIndex(where: { $0.entry.number == number }) else {
      // The request was cancelled before it was held.
      cancelledBeforeHold.insert(number)
      return nil
    }
    return held.remove(at: index)
  }

  fileprivate mutating func takeHeld(at most: Int, in scope: RequestScope) -> [HeldRequest] {
    var taken: [HeldRequest] = []
    var left: [HeldRequest] = []
    for request in held {
      if taken.count < most, scope.contains(request.entry) {
        taken.append(request)
      } else {
        left.append(request)
      }
    }
    held = left
    return taken
  }
}

extension FaultRule {
  fileprivate var isHold: Bool {
    switch action {
    case .hold: true
    case .fail, .lose, .delay: false
    }
  }
}

extension RequestScope {
  fileprivate func isWithin(_ other: RequestScope) -> Bool {
    (other.device == nil || other.device == device) && (other.kind == nil || other.kind == kind)
  }
}

extension FaultControls {
  var isClosed: Bool { state.withLock { $0.isClosed } }
}
