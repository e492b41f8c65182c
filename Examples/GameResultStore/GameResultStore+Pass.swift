import Foundation
import SyncSupport
import Synchronization

/// One pass of sync: fetch, create the zone, send in groups, subscribe, and decide about a retry.
extension GameResultStore {
  /// The reason why a pass did not succeed.
  struct PassFailure: Sendable, Equatable {
    var code: CKError.Code
    var serverDelay: Double?
    var detail: String?
    /// Whether the plan may try again.
    var isPassing: Bool
  }

  /// The number of rounds of one pass that may send nothing before it ends.
  private static let mostIdleRounds = 3

  /// The number of groups that may wait before they are joined.
  private static let mostGroups = 10

  /// How often a change is sent again that the server refuses for its own sake.
  private static let mostAttempts = 3

  func pass() async {
    guard let (wants, waiters) = beginPass() else { return }
    var failure = wants.contains(.fetch) ? await fetch() : nil
    // A fetch that failed for one thing does not prevent sending; one that is retried does.
    if failure?.isPassing != true {
      let sent = await send(creatingZone: wants.contains(.fetch))
      failure = sent ?? failure
    }
    if failure == nil, wants.contains(.fetch) { failure = await subscribe() }
    let end = endPass(failure, wants)
    for waiter in waiters { waiter.resume(returning: end) }
  }

  private func beginPass() -> (
    wants: Wants, waiters: [CheckedContinuation<SyncState, any Error>]
  )? {
    state.withLock { state in
      guard loop.isRunning, !state.wants.isEmpty else { return nil }
      let wants = state.hasFetched ? state.wants : state.wants.union(.fetch)
      let waiters = state.waiters
      state.wants = []
      state.waiters = []
      state.postponed = []
      loop.setTimer("retry", after: nil)
      if wants.contains(.fresh) { state.plan.reset() }
      if wants.contains(.manual) { state.retryRefused() }
      state.syncState = .syncing
      state.isPassing = true
      state.tell()
      return (wants, waiters)
    }
  }

  private func endPass(_ failure: PassFailure?, _ wants: Wants) -> SyncState {
    state.withLock { state in
      follow(&state)
      state.isPassing = false
      if let failure {
        settle(failure, wants, &state)
      } else if state.observed.status.account == nil {
        // A pass without a request does not notice that nobody is signed in.
        settle(PassFailure(code: .notAuthenticated, isPassing: false), wants, &state)
      } else {
        state.plan.reset()
        let date = now()
        noteSync(date, &state)
        state.syncState = .synced(lastSyncDate: date)
        if !state.refused.isEmpty { state.show(SyncFailure(.partialFailure, isRetrying: false)) }
      }
      if wants.contains(.fetch) { setTimer("poll", after: Self.pollInterval, [.fetch, .fresh]) }
      state.tell()
      return state.syncState
    }
  }

  private func noteSync(_ date: Date, _ state: inout State) {
    do {
      try store.change { change in
        change[property: FirstVersionFiles.lastSync] = "\(date.timeIntervalSinceReferenceDate)"
        if state.observed.status.hasZone {
          change[property: FirstVersionFiles.hadZone] = "yes"
        }
      }
    } catch {
      state.note(.error, "Not saved: \(error).", at: date)
    }
  }

  private func settle(_ failure: PassFailure, _ wants: Wants, _ state: inout State) {
    var delay: Duration?
    if failure.isPassing, loop.isRunning {
      delay = state.plan.next(serverDelay: failure.serverDelay)
    }
    // All that failed is sent together the next time.
    state.groups = []
    setTimer("retry", after: delay, wants.contains(.fetch) ? .fetch : .send)
    // After a change of the account during the pass its state is shown, and another pass follows.
    let isShown = state.syncState != .syncing || state.wants.contains(.fetch)
    if failure.code == .operationCancelled, isShown { return }
    state.show(SyncFailure(failure.code, isRetrying: delay != nil, detail: failure.detail))
    state.note(
      .warning, "A sync did not succeed: \(failure.code) (\(failure.code.rawValue)).", at: now())
  }

  // MARK: Fetching

  private func fetch() async -> PassFailure? {
    var failure: PassFailure?
    do {
      try await store.fetchChanges()
    } catch {
      let items = (error as? CKError)?.partialErrorsByItemID
      let ours = PassFailure(items?[ResultRecord.zoneID] ?? error)
      // A zone that is gone, or a problem of another app's zone, does not stop this store.
      if ![.zoneNotFound, .userDeletedZone, .partialFailure].contains(ours.code) { failure = ours }
    }
    state.withLock { state in
      follow(&state)
      if failure == nil { state.hasFetched = true }
    }
    return failure
  }

  // MARK: Sending

  private func send(creatingZone: Bool) async -> PassFailure? {
    // Another device that removed the zone wants it gone: only a new result brings it back.
    let createsZone = creatingZone && store.property(FirstVersionFiles.hadZone) == nil
    var idleRounds = 0
    while idleRounds < Self.mostIdleRounds {
      let groups = state.withLock { nextGroups(&$0) }
      let before = store.status
      guard !groups.isEmpty || (createsZone && !before.hasZone) else {
        // Nothing is left to send for now.
        let isPartial = state.withLock { !$0.postponed.isEmpty }
        let partial = PassFailure(code: .partialFailure, isPassing: true)
        return storageFailure() ?? (isPartial ? partial : nil)
      }
      let errors = await send(groups, creatingZone: createsZone)
      let after = store.status
      let isIdle = before.sentCount == after.sentCount && before.hasZone == after.hasZone
      let outcome = state.withLock { state in
        follow(&state)
        return report(errors, isIdle: isIdle, &state)
      }
      if let failure = storageFailure() ?? outcome.failure { return failure }
      if outcome.needsFetch, let failure = await fetch() { return failure }
      idleRounds = isIdle ? idleRounds + 1 : 0
    }
    return PassFailure(code: .partialFailure, isPassing: true)
  }

  /// Sends each group in a request of its own, until one fails as a whole.
  private func send(_ groups: [[CKRecord.ID]], creatingZone: Bool) async -> [CKError] {
    var errors: [CKError] = []
    for group in groups.isEmpty ? [[]] : groups {
      do {
        try await store.sendChanges(of: group, creatingZone: creatingZone)
      } catch {
        let error = (error as? CKError) ?? CKError(.internalError)
        errors.append(error)
        if error.code != .partialFailure { break }
      }
    }
    return errors
  }

  /// The groups to send now; empty if there is nothing to send.
  func nextGroups(_ state: inout State) -> [[CKRecord.ID]] {
    let unsent = store.unsentRecordIDs
    var sendable = Set(unsent)
    state.attempts = state.attempts.filter { sendable.contains($0.key) }
    state.refused.formIntersection(sendable)
    sendable.subtract(state.refused)
    sendable.subtract(state.postponed)
    if state.isStorageFull { sendable = sendable.filter(isDeletion) }
    let grouped = Set(state.groups.joined())
    let rest = unsent.filter { !grouped.contains($0) && !state.held.contains($0) }
    let groups = (state.groups + [rest])
      .map { $0.filter(sendable.contains) }.filter { !$0.isEmpty }
    state.groups = []
    // Fifty results are sent in groups of five, but ten thousand would need two thousand requests.
    guard groups.count > Self.mostGroups else { return groups }
    let ids = Array(groups.joined())
    let size = (ids.count + Self.mostGroups - 1) / Self.mostGroups
    return ids.chunks(of: size).map { Array($0) }
  }

  private func isDeletion(_ id: CKRecord.ID) -> Bool {
    store.item(GameResult.self, named: id.recordName) == nil
  }

  private func storageFailure() -> PassFailure? {
    let isFull = state.withLock { $0.isStorageFull } && store.status.unsentCount > 0
    return isFull ? PassFailure(code: .quotaExceeded, isPassing: false) : nil
  }

  // MARK: Errors

  /// The consequences of a failed send.
  struct SendReport: Sendable, Equatable {
    /// The failure that ends the pass.
    var failure: PassFailure?
    /// Whether a fetch has to tell why something is missing.
    var needsFetch = false
  }

  /// Decides about each error of a send; the synced store has resolved conflicts already.
  func report(_ thrown: [CKError], isIdle: Bool, _ state: inout State) -> SendReport {
    var report = SendReport()
    // The errors of records and zones, and those of whole requests.
    let errors = thrown.flatMap { error -> [(item: AnyHashable?, error: CKError)] in
      guard let items = error.partialErrorsByItemID, !items.isEmpty else { return [(nil, error)] }
      return items.compactMap { item, error in (error as? CKError).map { (item, $0) } }
    }
    let passing = errors.map(\.error).filter { RetryPlan.isRetried($0) }
    if let first = passing.min(by: { $0.code.rawValue < $1.code.rawValue }) {
      // The server may have what was sent: another device may delete it before it is sent again.
      state.hasFetched = false
      let isOne = isIdle && passing.allSatisfy { $0.code == first.code }
      report.failure = PassFailure(
        code: isOne ? first.code : .partialFailure,
        serverDelay: passing.compactMap(\.retryAfterSeconds).max(), isPassing: true)
    }
    for (item, error) in errors where !RetryPlan.isRetried(error) {
      if let id = item?.base as? CKRecord.ID {
        refused(id, error, &report, &state)
        continue
      }
      if error.code == .quotaExceeded { storageIsFull(&state) }
      if item == nil {
        report.failure = report.failure ?? PassFailure(error)
      } else if error.code != .quotaExceeded {
        report.failure = PassFailure(code: error.code, isPassing: !passing.isEmpty)
        state.note(.error, "The zone could not be created: \(error.code).", at: now())
      }
    }
    return report
  }

  private func refused(
    _ id: CKRecord.ID, _ error: CKError, _ report: inout SendReport, _ state: inout State
  ) {
    let isDeletion = isDeletion(id)
    switch error.code {
    case .quotaExceeded: return storageIsFull(&state)
    case .unknownItem, .batchRequestFailed: return
    case .zoneNotFound, .userDeletedZone:
      state.hasSubscribed = false
      report.needsFetch = report.needsFetch || !isDeletion
      return
    case .serverRecordChanged where !isDeletion:
      // Without the server's version only a fetch ends the conflict.
      report.needsFetch = report.needsFetch || error.serverRecord == nil
      return
    default: break
    }
    state.attempts[id, default: 0] += 1
    guard state.attempts[id, default: 0] > Self.mostAttempts else {
      state.postponed.insert(id)
      return
    }
    state.refused.insert(id)
    state.note(
      .error,
      "The server refuses result \(id.recordName): \(error.code). It stays on this device; "
        + "sync by hand to try again.", at: now())
  }

  private func storageIsFull(_ state: inout State) {
    guard !state.isStorageFull else { return }
    state.isStorageFull = true
    state.groups = []
    state.note(
      .error, "The iCloud storage is full; uploads wait until there is space.", at: now())
  }

  // MARK: Subscription

  /// Creates the subscription unless it exists.
  private func subscribe() async -> PassFailure? {
    guard state.withLock({ !$0.hasSubscribed && $0.observed.status.hasZone }) else { return nil }
    do {
      let existing = try await database.allSubscriptions()
      if !existing.contains(where: { $0.subscriptionID == Self.subscriptionID }) {
        let subscription = CKRecordZoneSubscription(
          zoneID: ResultRecord.zoneID, subscriptionID: Self.subscriptionID)
        subscription.notificationInfo = .silent
        try await database.save(subscription)
      }
      state.withLock { $0.hasSubscribed = true }
      return nil
    } catch {
      let failure = PassFailure(error)
      if failure.isPassing { return failure }
      // Results are safe without it; polling replaces it until the next start.
      state.withLock {
        $0.note(
          .warning, "No pushes: the subscription could not be made (\(failure.code)).", at: now())
      }
      return nil
    }
  }
}

extension GameResultStore.PassFailure {
  init(_ error: any Error) {
    let error = (error as? CKError) ?? CKError(.internalError)
    self.init(
      code: error.code, serverDelay: error.retryAfterSeconds, detail: error.localizedDescription,
      isPassing: RetryPlan.isRetried(error))
  }
}

extension SyncedStore.Status {
  /// The number of changes that the server accepted, or that conflicts ended.
  fileprivate var sentCount: Int {
    activity.saved + activity.deleted + activity.conflictCount
  }
}
