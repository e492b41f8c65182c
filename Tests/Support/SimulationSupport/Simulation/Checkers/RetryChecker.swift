import CloudProtocol
import SyncMachine

/// I16: no request before the server's retry-after has passed, and no storm of requests that
/// fail.
struct RetryChecker {
  /// Before this, in milliseconds, the server wants no request.
  private var notBefore = 0
  /// The value of `notBefore` when no task could run.
  private var notBeforeAtRest = 0
  /// Whether the request that was sent last is one that is divided when it is too large.
  private var isDivisible = false
  /// Whether the operation under way is being ended, and its answer may come to nothing.
  private var isEnding = false
  private var start = 0
  private var failures = 0
  /// The number of causes of requests: edits, pushes, calls, signals and successful answers.
  private var causes = 0
  /// Failures in a row without any cause or success in between, and when the first was.
  private var streak = 0
  private var streakStart = 0

  mutating func restart(at now: Int) {
    self = RetryChecker()
    start = now
  }

  mutating func noteCause() {
    causes += 1
    streak = 0
  }

  /// The account may be another one, which the server asked nothing of.
  mutating func noteAccountSignal() {
    causes += 2
    streak = 0
    notBefore = 0
  }

  /// The operation is ended from outside: an answer that it has not taken yet does not count.
  mutating func noteEnding() {
    notBefore = min(notBefore, notBeforeAtRest)
    isEnding = true
  }

  /// No task can run: the operation has received its reply, or has ended.
  mutating func noteRest() {
    notBeforeAtRest = notBefore
    isEnding = false
  }

  /// A request is sent.
  mutating func note(sending request: CloudRequest) { isDivisible = request.isDivisible }

  /// The fault in sending a request now; `nil` for none.
  func faultOfRequest(at now: Int) -> String? {
    guard now < notBefore else { return nil }
    return "a request \(notBefore - now) ms before the server allows one"
  }

  /// The answer to the current request arrived.
  mutating func note(_ answer: Result<CloudReply, CloudError>, at now: Int) {
    switch answer {
    case .success(let reply):
      for error in reply.itemErrors { wait(for: error, now) }
      if case .currentUser = reply { return }
      causes += 1
      streak = 0
    case .failure(let error):
      failures += 1
      if error.code == .limitExceeded {
        // What is too large is divided and sent at once, unless it can't be divided.
        if !isDivisible { wait(for: error, now) }
        return
      }
      if streak == 0 { streakStart = now }
      streak += 1
      wait(for: error, now)
    }
  }

  private mutating func wait(for error: CloudError, _ now: Int) {
    guard !isEnding, let seconds = error.retryAfter, seconds > 0 else { return }
    notBefore = max(notBefore, now + Int(seconds * 1000))
  }

  /// What is wrong with how often requests failed: with a back-off that ends at five minutes and
  /// is at least half of that, an hour has room for a few dozen.
  func faultOfRate(at now: Int) -> String? {
    // An attempt has at most three requests, and after one that failed comes a pause of at least
    // half a second, then one, then two.
    if streak >= 12, now - streakStart < 2_000 {
      return "\(streak) requests in a row failed within \(now - streakStart) ms"
    }
    let hours = Double(now - start) / 3_600_000
    let allowed = 60 + Int(hours * 80) + 4 * causes
    guard failures > allowed else { return nil }
    return "\(failures) failed requests in \(hours) hours with \(causes) causes"
  }
}

extension CloudRequest {
  /// Whether an engine divides the request when it is too large.
  fileprivate var isDivisible: Bool {
    switch self {
    case .modifyRecords(let request):
      !request.isAtomic && request.save.count + request.delete.count > 1
    case .modifyZones(let request): request.save.count + request.delete.count > 1
    case .fetchZones(let zones): zones.map { $0.count > 1 } ?? false
    default: false
    }
  }
}

extension CloudReply {
  /// The errors of single items.
  var itemErrors: [CloudError] {
    switch self {
    case .zonesModified(let saved, let deleted):
      saved.compactMap(\.error) + deleted.compactMap(\.error)
    case .recordsModified(let saved, let deleted):
      saved.compactMap(\.error) + deleted.compactMap(\.error)
    case .subscriptionsModified(let saved, let deleted):
      saved.compactMap(\.error) + deleted.compactMap(\.error)
    case .zones(let results): results.compactMap(\.error)
    case .records(let results): results.compactMap(\.error)
    case .subscriptions(let results): results.compactMap(\.error)
    case .sharesResolved(let results): results.compactMap(\.error)
    case .sharesAccepted(let results): results.compactMap(\.error)
    case .usersFound(let results): results.compactMap(\.error)
    case .currentUser, .databaseChanges, .zoneChanges, .queried, .assetUploaded, .assetContent: []
    }
  }
}
