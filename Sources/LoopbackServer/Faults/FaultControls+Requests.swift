package import CloudProtocol
import Records
import Synchronization

extension FaultControls {
  /// The latest requests that reached the server, oldest first; at least the last 10,000.
  public var requests: [RequestEntry] { state.withLock { $0.log } }

  /// The number of requests in `scope` that reached the server since it started, or since
  /// `forgetRequests()`.
  ///
  /// The server counts for 10,000 pairs of a device and a kind of request; with the next one, the
  /// counts of devices begin again, and those of all devices together go on.
  public func requestCount(in scope: RequestScope = .all) -> Int {
    state.withLock { state in
      state.counts.reduce(0) { total, element in
        let isMeant =
          (scope.device ?? element.key.device) == element.key.device
          && (scope.kind ?? element.key.kind) == element.key.kind
        return total + (isMeant ? element.value : 0)
      }
    }
  }

  /// The number of open requests: held, delayed or being answered.
  public var openRequestCount: Int { state.withLock { $0.openRequests } }

  /// The number of refused items in all responses since the server started, by code.
  package var refusedItemCounts: [CloudError.Code: Int] { state.withLock { $0.refusedItems } }

  /// Empties the log of requests and of pushes and sets the counts to 0.
  public func forgetRequests() {
    state.withLock { state in
      state.log = []
      state.counts = [:]
    }
    pushDispatcher.forgetLog()
  }

  /// Logs a request and takes the faults that apply to it, but those that must be asked of the
  /// database.
  func receive(
    _ call: CloudCall, device: String, account: String?, now: Timestamp
  ) -> RequestFaults {
    state.withLock { state in
      state.arrived += 1
      state.openRequests += 1
      let entry = RequestEntry(
        number: state.arrived, time: now, device: device, account: account,
        container: call.container, environment: call.environment, database: call.database,
        kind: RequestKind(call.request),
        itemCount: call.request.itemCount, requestID: call.requestID, outcome: .pending)
      state.log.append(entry)
      if state.log.count > 20_000 { state.log.removeFirst(10_000) }
      state.count(entry)
      var taken = RequestFaults(entry: entry)
      if !state.closures.isEmpty { taken.bodies = state.takeClosures(for: entry) }
      taken.areShared = faults.take(&taken)
      return taken
    }
  }

  /// Logs how a request ended, which of its items were refused, and when.
  func finish(
    _ entry: RequestEntry, _ outcome: RequestEntry.Outcome, refused: [CloudError.Code] = [],
    now: Timestamp
  ) {
    let number = entry.number
    var ended = entry
    ended.outcome = outcome
    ended.refusedItems = refused
    ended.seconds =
      now.secondsSinceReferenceDate - entry.time.secondsSinceReferenceDate
    state.withLock { state in
      state.openRequests -= 1
      state.cancelledBeforeHold.remove(number)
      for code in refused { state.refusedItems[code, default: 0] += 1 }
      // Numbers are consecutive, so the position in the log is known unless it was emptied.
      guard let first = state.log.first?.number else { return }
      let index = number - first
      guard state.log.indices.contains(index) else { return }
      state.log[index] = ended
    }
    events.add(.request(ended))
  }
}

extension FaultState {
  /// The maximum number of counts of devices.
  private static let mostCounts = 10_000

  fileprivate mutating func count(_ entry: RequestEntry) {
    let scope = RequestScope(kind: entry.kind, device: entry.device)
    if counts.count >= Self.mostCounts, counts[scope] == nil {
      let sums = Dictionary(
        counts.map { (RequestScope(kind: $0.key.kind), $0.value) }, uniquingKeysWith: +)
      counts = sums
    }
    counts[scope, default: 0] += 1
  }

  /// The closures that run after a request.
  fileprivate mutating func takeClosures(
    for entry: RequestEntry
  ) -> [@Sendable (RequestEntry) async -> Void] {
    var bodies: [@Sendable (RequestEntry) async -> Void] = []
    for index in closures.indices where closures[index].scope.contains(entry) {
      bodies.append(closures[index].body)
      if closures[index].left != .max { closures[index].left -= 1 }
    }
    closures.removeAll { $0.left == 0 }
    return bodies
  }
}
