import CloudProtocol
import Records
import Synchronization

extension FaultControls {
  /// The latest requests that reached the server, oldest first; at least the last 10,000.
  public var requests: [RequestEntry] { state.withLock { $0.log } }

  /// How many requests in `scope` reached the server since it began, or since
  /// `forgetRequests()`.
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

  /// How many requests are under way: held, delayed or being answered.
  public var openRequestCount: Int { state.withLock { $0.openRequests } }

  /// Empties the log of requests and of pushes and sets the counts to 0.
  public func forgetRequests() {
    state.withLock { state in
      state.log = []
      state.counts = [:]
    }
    post.forgetLog()
  }

  /// Logs a request and takes what it has to go through from the faults set up.
  func receive(
    _ call: CloudCall, device: String, account: String?, now: Timestamp
  ) -> Passage {
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
      state.counts[RequestScope(kind: entry.kind, device: device), default: 0] += 1
      return state.passage(for: entry)
    }
  }

  /// Logs how a request ended.
  func finish(_ entry: RequestEntry, _ outcome: RequestEntry.Outcome) {
    let number = entry.number
    state.withLock { state in
      state.openRequests -= 1
      state.cancelledBeforeHold.remove(number)
      // Numbers rise by one, so the place in the log is known unless it was emptied.
      guard let first = state.log.first?.number else { return }
      let index = number - first
      guard state.log.indices.contains(index) else { return }
      state.log[index].outcome = outcome
    }
    var ended = entry
    ended.outcome = outcome
    events.add(.request(ended))
  }
}

extension FaultState {
  /// All faults that apply to `entry`, but only one failure and one loss.
  fileprivate mutating func passage(for entry: RequestEntry) -> Passage {
    var passage = Passage(entry: entry)
    for index in rules.indices where rules[index].scope.contains(entry) {
      switch rules[index].action {
      case .fail(let error):
        guard passage.failure == nil else { continue }
        passage.failure = error
      case .lose(let error):
        guard passage.loss == nil else { continue }
        passage.loss = error
      case .delay(let seconds): passage.delays.append(seconds)
      case .hold(.beforeCommit): passage.holdsBeforeCommit = true
      case .hold(.afterCommit): passage.holdsAfterCommit = true
      case .run(let body): passage.bodies.append(body)
      }
      if rules[index].left != .max { rules[index].left -= 1 }
    }
    rules.removeAll { $0.left == 0 }
    return passage
  }
}
