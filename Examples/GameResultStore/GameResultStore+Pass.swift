import CloudSync
import Foundation
import SyncSupport
import Synchronization

/// One pass of sync: fetch, make the zone, send in groups, subscribe, and decide about a retry.
extension GameResultStore {
  /// Why a pass did not succeed.
  struct PassFailure: Sendable {
    var code: CKError.Code
    var serverDelay: Double?
    var detail: String?
    /// Whether the plan may try again.
    var isPassing: Bool

    init(_ error: CKError) {
      code = error.code
      serverDelay = error.retryAfterSeconds
      detail = error.localizedDescription
      isPassing = FailedChange.ofSave(error.code) == .isRetried
    }

    init(_ code: CKError.Code, serverDelay: Double? = nil, isPassing: Bool) {
      self.code = code
      self.serverDelay = serverDelay
      self.isPassing = isPassing
    }
  }

  /// How many rounds of one pass may bring nothing before it ends.
  private static let mostIdleRounds = 3

  func pass() async {
    guard let (wants, waiters) = beginPass() else { return }
    if wants.isManual { sync.forgetFailures() }
    var failure: PassFailure?
    if wants.fetch { failure = await fetch() }
    // A fetch that failed on one thing says nothing about sending, unless there is no way at all.
    if failure == nil || failure?.isPassing == false {
      let sent = await send(makesZone: wants.fetch)
      failure = sent ?? failure
    }
    if failure == nil, wants.fetch { failure = await subscribe() }
    endPass(failure, wants)
    for waiter in waiters { waiter.resume() }
  }

  private typealias Begun = (
    wants: StoreCore.Wants, waiters: [CheckedContinuation<Void, any Error>]
  )

  private func beginPass() -> Begun? {
    core.state.withLock { state in
      guard state.bell != nil, state.wants.isAsked else { return nil }
      var wants = state.wants
      // What was sent without an answer may have arrived, and may be deleted again by now.
      wants.fetch = wants.fetch || !state.hasFetched || state.queue.hasOffered
      let waiters = state.waiters
      state.wants = StoreCore.Wants()
      state.waiters = []
      state.postponed = []
      state.retryTimer?.cancel()
      state.retryTimer = nil
      if wants.isFresh { state.plan.reset() }
      if wants.isManual {
        state.isStorageFull = false
        state.refused = []
        state.attempts = [:]
      }
      state.syncState = .syncing
      state.isPassing = true
      state.tell()
      return (wants, waiters)
    }
  }

  private func endPass(_ failure: PassFailure?, _ wants: StoreCore.Wants) {
    core.state.withLock { state in
      state.isPassing = false
      if failure == nil {
        state.plan.reset()
        let date = core.now()
        core.changeSettings(&state) { $0.lastSync = date }
        state.syncState =
          state.refused.isEmpty
          ? .synced(lastSyncDate: date)
          : .failed(SyncFailure(.partialFailure, isRetrying: false))
      }
      if let failure { settle(failure, wants, &state) }
      if wants.fetch { restartPolling(&state) }
      state.tell()
    }
  }

  private func settle(
    _ failure: PassFailure, _ wants: StoreCore.Wants, _ state: inout StoreCore.State
  ) {
    var delay: Duration?
    if failure.isPassing, state.bell != nil {
      delay = state.plan.next(serverDelay: failure.serverDelay)
    }
    // What failed goes out together next time: there is no point in small groups any more.
    state.groups = []
    if let delay { retry(after: delay, fetching: wants.fetch, &state) }
    if failure.code == .operationCancelled, state.syncState != .syncing || state.wants.fetch {
      // The account changed under it: what there is to say was said, and another pass follows.
      return
    }
    let told = SyncFailure(failure.code, isRetrying: delay != nil, detail: failure.detail)
    if SyncFailure.meansOffline(failure.code) {
      state.offlineMessage = told.message
      state.syncState = .offline
    } else {
      state.syncState = .failed(told)
    }
    core.log(
      .warning, "A sync did not succeed: \(failure.code) (\(failure.code.rawValue)).", &state)
  }

  private func retry(after delay: Duration, fetching: Bool, _ state: inout StoreCore.State) {
    state.retryTimer = Task { [clock, weak core] in
      guard (try? await clock.sleep(for: delay)) != nil else { return }
      core?.ask(StoreCore.Wants(fetch: fetching))
    }
  }

  private func restartPolling(_ state: inout StoreCore.State) {
    state.pollTimer?.cancel()
    guard state.bell != nil else { return }
    state.pollTimer = Task { [clock, weak core] in
      guard (try? await clock.sleep(for: Self.pollInterval)) != nil else { return }
      core?.ask(StoreCore.Wants(fetch: true, isFresh: true))
    }
  }

  // MARK: Fetching

  private func fetch() async -> PassFailure? {
    do {
      try await sync.fetchChanges()
    } catch {
      let error = (error as? CKError) ?? CKError(.internalError)
      let ours = error.partialErrorsByItemID?[ResultRecord.zoneID] as? CKError
      switch (ours ?? error).code {
      case .zoneNotFound, .userDeletedZone, .partialFailure:
        // Our zone is gone, or another app's zone has a problem: neither stops this store.
        break
      default: return PassFailure(ours ?? error)
      }
    }
    core.state.withLock { state in
      state.hasFetched = true
      core.queueWhatNeverWasSent(&state)
    }
    return nil
  }

  // MARK: Sending

  private func send(makesZone: Bool) async -> PassFailure? {
    var idleRounds = 0
    while idleRounds < Self.mostIdleRounds {
      let wishes = core.state.withLock { core.prepareRound(makesZone: makesZone, &$0) }
      guard !wishes.isEmpty else { return storageFailure() ?? refusal() }
      sync.wish(wishes)
      var thrown: CKError?
      do {
        try await sync.sendChanges()
      } catch {
        thrown = (error as? CKError) ?? CKError(.internalError)
      }
      let report = core.state.withLock { $0.report }
      if let failure = storageFailure() { return failure }
      if let code = report.failure {
        return PassFailure(
          code, serverDelay: report.serverDelay,
          isPassing: !report.passing.isEmpty)
      }
      if let thrown, thrown.code != .partialFailure { return PassFailure(thrown) }
      if report.needsFetch {
        if let failure = await fetch() { return failure }
        sync.wish(core.state.withLock { core.makeLostZone(&$0) })
      }
      idleRounds = report.settled > 0 ? 0 : idleRounds + 1
    }
    return PassFailure(.partialFailure, isPassing: true)
  }

  /// The failure to tell of when single records were refused and are tried again.
  private func refusal() -> PassFailure? {
    let isPartial = core.state.withLock { !$0.postponed.isEmpty }
    return isPartial ? PassFailure(.partialFailure, isPassing: true) : nil
  }

  private func storageFailure() -> PassFailure? {
    let isFull = core.state.withLock { $0.isStorageFull && !$0.queue.isEmpty }
    return isFull ? PassFailure(.quotaExceeded, isPassing: false) : nil
  }

  // MARK: Subscription

  /// Makes sure that the subscription is there; asking twice makes no second one.
  private func subscribe() async -> PassFailure? {
    let isNeeded = core.state.withLock { !$0.hasSubscribed && $0.settings.hasZone }
    guard isNeeded else { return nil }
    let database = container.privateCloudDatabase
    do {
      let existing = try await database.allSubscriptions()
      if !existing.contains(where: { $0.subscriptionID == Self.subscriptionID }) {
        let subscription = CKRecordZoneSubscription(
          zoneID: ResultRecord.zoneID, subscriptionID: Self.subscriptionID)
        let info = CKSubscription.NotificationInfo()
        info.shouldSendContentAvailable = true
        subscription.notificationInfo = info
        try await database.save(subscription)
      }
      core.state.withLock { $0.hasSubscribed = true }
      return nil
    } catch {
      let failure = PassFailure((error as? CKError) ?? CKError(.internalError))
      if failure.isPassing { return failure }
      // Results are safe without it; polling takes its place until the next start.
      core.state.withLock { state in
        core.log(
          .warning, "No pushes: the subscription could not be made (\(failure.code)).", &state)
      }
      return nil
    }
  }
}

extension StoreCore {
  /// How many groups may wait before they are joined.
  private static let mostGroups = 10

  /// Puts results into the queue that no cloud has ever seen: those from before sync.
  func queueWhatNeverWasSent(_ state: inout State) {
    let unknown = state.library.ids { id in
      state.queue[id] == nil && !state.metadata.contains(ResultRecord.recordID(id))
    }
    for id in unknown { state.queue.put(.save, id) }
    if !unknown.isEmpty { persist(&state) }
  }

  /// Whether something waits for an item that can be sent now; with full storage only deletions.
  func mayGo(_ id: UUID, _ state: State) -> Bool {
    guard !state.refused.contains(id), !state.postponed.contains(id) else { return false }
    return switch state.queue[id]?.change {
    case .save: !state.isStorageFull
    case .delete: true
    case nil: false
    }
  }

  /// Makes a zone anew that is missing although nobody removed it: the fetch since brought no word.
  func makeLostZone(_ state: inout State) -> [RecordWish] {
    guard state.isZoneLost else { return [] }
    log(.warning, "The zone was missing; it is made again, with all results.", &state)
    return uploadEverythingAgain(&state)
  }

  /// Makes larger groups of many.
  ///
  /// Fifty results go in groups of five, but ten thousand of them would make two thousand requests,
  /// each with its files to write.
  private func joinGroups(_ state: inout State) {
    guard state.groups.count > Self.mostGroups else { return }
    let ids = Array(state.groups.joined())
    let size = max(1, min(state.batchLimit, (ids.count + Self.mostGroups - 1) / Self.mostGroups))
    state.groups = stride(from: 0, to: ids.count, by: size).map {
      Array(ids[$0..<min($0 + size, ids.count)])
    }
  }

  /// What is to be sent in the next round; empty when there is nothing to send.
  func prepareRound(makesZone: Bool, _ state: inout State) -> [RecordWish] {
    state.report = SendReport()
    let grouped = Set(state.groups.joined())
    let rest = state.queue.entries.map(\.id).filter {
      !grouped.contains($0) && !state.held.contains($0)
    }
    if !rest.isEmpty { state.groups.append(rest) }
    state.groups = state.groups.map { group in group.filter { mayGo($0, state) } }
    state.groups.removeAll(where: \.isEmpty)
    joinGroups(&state)
    let changes = state.groups.joined().compactMap { state.queue[$0]?.pendingChange }
    let needsZone =
      !state.settings.hasZone
      && (!changes.isEmpty || (makesZone && !state.settings.wasZoneRemoved))
    return (needsZone ? [.saveZone(ResultRecord.zoneID)] : []) + changes.map { RecordWish($0) }
  }
}
