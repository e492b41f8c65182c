import CloudSync
import Foundation
import SyncSupport
import Synchronization

/// Why a sync ended early.
enum PassError: Error {
  /// The account changed under way: everything begins anew.
  case accountChanged
  /// The own zone is missing: a fetch tells why.
  case zoneLost
}

/// One sync after the other, from the account to the last batch.
extension AnnotationStore {
  /// How often a sync begins anew because the account or the zone changed under way.
  private static let mostBeginnings = 4

  /// Syncs once: asks who is signed in, fetches what is new, sends what waits.
  ///
  /// Fetching comes first, so that most contradictions are found before anything is sent. Syncs
  /// that are asked for at once run one after the other.
  /// - Parameter askedByPerson: tries again what the cloud refused or had no space for.
  /// - Throws: the `CKError` that stood in the way, after three attempts where it may pass;
  ///   `FileError` when the disk refuses. What was done before stays done.
  public func sync(askedByPerson: Bool = false) async throws {
    try await turns.pass {
      try await measured { try await pass(askedByPerson: askedByPerson) }
    }
  }

  /// Says that the account may have changed: call it on `.CKAccountChanged`.
  ///
  /// A sync under way takes nothing in any more before it knows who is signed in.
  public func accountMayHaveChanged() {
    state.withLock { $0.generation += 1 }
  }

  private func measured(_ body: () async throws -> Void) async throws {
    let clock = surroundings.clock
    let start = Self.mark(clock)
    defer { state.withLock { $0.metrics.lastSyncDuration = start() } }
    do {
      try await body()
    } catch {
      if !(error is CancellationError) { state.withLock { $0.metrics.errorCount += 1 } }
      throw error
    }
  }

  /// The seconds since now, by a clock whose kind of moment nobody knows here.
  private static func mark<Ticking: Clock<Duration>>(_ clock: Ticking) -> () -> Double {
    let start = clock.now
    return {
      let time = start.duration(to: clock.now).components
      return Double(time.seconds) + Double(time.attoseconds) / 1e18
    }
  }

  private func pass(askedByPerson: Bool) async throws {
    for beginning in 1... {
      do {
        let generation = state.withLock { $0.generation }
        try await checkAccount()
        if askedByPerson { try forgive() }
        try await prepareZone(generation)
        try await fetch(.private, generation)
        try await fetch(.shared, generation)
        try await send(generation)
        break
      } catch let error as PassError where beginning < Self.mostBeginnings {
        if case .zoneLost = error { try noteLostZone() }
      } catch is PassError {
        throw CKError(.operationCancelled)
      }
    }
    let date = moment()
    try transaction { $0.changeSettings { $0.lastSync = date } }
    sweepMedia()
  }

  /// Makes what was refused, and what found no space, be tried again.
  private func forgive() throws {
    state.withLock { $0.isStorageFull = false }
    try transaction { tables in
      for var item in tables.items.values where item.refusal != nil {
        item.refusal = nil
        tables.replace(item)
      }
    }
  }

  // MARK: Account

  /// Asks who is signed in; when that is somebody else, everything goes before anything else.
  private func checkAccount() async throws {
    let user: String
    do {
      user = try await attempt { try await self.container.userRecordID().recordName }
    } catch let error as CKError where error.code == .notAuthenticated {
      if account != nil { try forgetEverything() }
      throw error
    }
    if let account, account != user { try forgetEverything() }
    try transaction { $0.changeSettings { $0.owner = user } }
  }

  /// Removes everything of the account that was, from memory and from the disk, at once.
  ///
  /// The strategy stays: it is a habit of the person who holds the device, and says nothing of what
  /// was here.
  /// - Throws: `FileError` when a file can't be removed; memory is empty all the same.
  public func forgetEverything() throws {
    try state.withLock { state in
      let strategy = state.tables.settings.strategy
      state.tables = Tables()
      state.metrics = SyncMetrics()
      state.isStorageFull = false
      state.generation += 1
      state.recovery = nil
      for listener in state.listeners.values { listener.yield([]) }
      try state.journal.remove()
      try media.clear()
      try Self.transaction(&state) { $0.changeSettings { $0.strategy = strategy } }
    }
  }

  // MARK: Zone and subscriptions

  private func prepareZone(_ generation: Int) async throws {
    let settings = state.withLock { $0.tables.settings }
    let hasOwn = state.withLock { state in
      state.tables.queue.entries.contains { state.tables.items[$0.id]?.owner == nil }
    }
    if !settings.hasZone, hasOwn || !settings.wasZoneRemoved {
      let zone = CKRecordZone(zoneID: AnnotationZone.own)
      _ = try await attempt { try await self.container.privateCloudDatabase.save(zone) }
      try transaction(in: generation) { tables in
        tables.changeSettings {
          $0.hasZone = true
          $0.wasZoneRemoved = false
        }
      }
    }
    if state.withLock({ $0.tables.settings.hasZone && !$0.tables.settings.hasSubscriptions }) {
      do {
        try await subscribe()
      } catch let error as CKError
        where error.code == .zoneNotFound || error.code == .userDeletedZone
      {
        // The fetch that follows tells what became of the zone.
        return
      }
      try transaction(in: generation) { $0.changeSettings { $0.hasSubscriptions = true } }
    }
  }

  /// One subscription for each type in the own zone, and one for everything others share: a query
  /// can't watch the shared database.
  private func subscribe() async throws {
    let info = CKSubscription.NotificationInfo()
    info.shouldSendContentAvailable = true
    var own: [CKSubscription] = []
    for kind in ItemKind.allCases {
      let subscription = CKQuerySubscription(
        recordType: kind.recordType, predicate: NSPredicate(value: true),
        subscriptionID: kind.subscriptionID,
        options: [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion])
      subscription.zoneID = AnnotationZone.own
      subscription.notificationInfo = info
      own.append(subscription)
    }
    let shared = CKDatabaseSubscription(subscriptionID: Self.sharedSubscriptionID)
    shared.notificationInfo = info
    for (database, subscriptions) in [
      (container.privateCloudDatabase, own), (container.sharedCloudDatabase, [shared]),
    ] {
      let results = try await attempt {
        try await database.modifySubscriptions(saving: subscriptions, deleting: [])
      }
      for result in results.saveResults.values { _ = try result.get() }
    }
  }

  /// The subscription to what others share.
  public static let sharedSubscriptionID = "shared-changes"

  /// The subscriptions this store makes, those in the private database first.
  public static var subscriptionIDs: [String] {
    ItemKind.allCases.map(\.subscriptionID) + [sharedSubscriptionID]
  }

  /// Notes that the own zone is missing, so that the next beginning asks why.
  private func noteLostZone() throws {
    try transaction { tables in
      tables.changeSettings { $0.hasSubscriptions = false }
      var zone = tables.zones[""] ?? ZoneState()
      zone.isDirty = true
      tables.setZone("", zone)
    }
  }

  // MARK: Parts

  /// Runs a request, up to three times where the failure may pass.
  func attempt<Result>(
    _ operation: () async throws -> Result
  ) async throws -> Result {
    try await RetryPlan.threeAttempts.run(clock: surroundings.clock) {
      do {
        return try await operation()
      } catch {
        if RetryPlan.isPassing(error) { state.withLock { $0.metrics.errorCount += 1 } }
        throw error
      }
    }
  }

  /// A transaction that is not made when the account may have changed since the pass began.
  @discardableResult
  func transaction<Result: Sendable>(
    in generation: Int, _ body: (inout Tables) throws -> Result
  ) throws -> Result {
    try state.withLock { state in
      guard state.generation == generation else { throw PassError.accountChanged }
      return try Self.transaction(&state, isNews: true, body)
    }
  }
}
