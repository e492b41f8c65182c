import Foundation
import SyncSupport
import Synchronization

/// The reason why a sync has to begin again.
enum PassError: Error {
  /// The account changed meanwhile.
  case accountChanged
  /// The own zone is missing: a fetch tells why.
  case zoneLost
}

/// The steps of a sync: account, zone and subscriptions, fetch, send.
extension AnnotationStore {
  /// How often a sync begins because the account or the zone changed meanwhile.
  private static let mostBeginnings = 4

  /// Syncs once; syncs that are asked for at once run one after the other.
  ///
  /// Fetching comes first, so that most contradictions are found before anything is sent.
  /// - Parameter askedByPerson: sends again what the server refused or had no space for.
  /// - Throws: the `CKError` that prevents it, after three attempts if it may pass; `FileError` if
  ///   the disk refuses. The steps before stay done.
  public func sync(askedByPerson: Bool = false) async throws {
    try await operations.run {
      let duration = Self.stopwatch(self.clock)
      defer {
        state.withLock { $0.tables.metrics.lastSyncDuration = duration() }
        sweepMedia()
      }
      do {
        try await pass(askedByPerson: askedByPerson)
      } catch {
        if !Task.isCancelled { state.withLock { $0.tables.metrics.errorCount += 1 } }
        throw error
      }
    }
  }

  /// Notes that the account may have changed: call it on `.CKAccountChanged`.
  ///
  /// A sync in progress stores nothing more before it has asked for the account.
  public func accountMayHaveChanged() {
    state.withLock { $0.generation += 1 }
  }

  /// The seconds since now.
  private static func stopwatch<Ticking: Clock<Duration>>(_ clock: Ticking) -> () -> Double {
    let start = clock.now
    return { start.duration(to: clock.now) / .seconds(1) }
  }

  private func pass(askedByPerson: Bool) async throws {
    for beginning in 1... {
      do {
        let generation = state.withLock { $0.generation }
        try await checkAccount()
        if askedByPerson { try forgive() }
        try await prepareZone(generation)
        if let failure = try await fetch(.private, generation) { throw failure }
        // Another user's zone that can't be read keeps no change from being sent.
        let failure = try await fetch(.shared, generation)
        try await send(generation)
        if let failure { throw failure }
        break
      } catch let error as PassError where beginning < Self.mostBeginnings {
        if case .zoneLost = error { try noteLostZone() }
      } catch is PassError {
        throw CKError(.operationCancelled)
      }
    }
    let date = moment()
    try transaction { $0.changeSettings { $0.lastSync = date } }
  }

  /// Lets the refused items be sent again, and those that found no space.
  private func forgive() throws {
    try transaction { tables in
      tables.isStorageFull = false
      for var item in tables.items.values where item.refusal != nil {
        item.refusal = nil
        tables.replace(item)
      }
    }
  }

  // MARK: Account

  /// Asks for the account; if it is another one, everything is removed before anything else.
  private func checkAccount() async throws {
    let user = try await attempt { try await self.container.signedInUser() }
    if let account, account != user { try forgetEverything() }
    guard let user else { throw CKError(.notAuthenticated) }
    try transaction { $0.changeSettings { $0.owner = user } }
  }

  /// Removes everything of the account from memory and from the disk, except the strategy, which
  /// says nothing about the items.
  ///
  /// - Throws: `FileError` if a file can't be removed; memory is empty nevertheless.
  public func forgetEverything() throws {
    try state.withLock { state in
      var rest = Tables()
      rest.changeSettings { $0.strategy = state.tables.settings.strategy }
      rest.keep()
      state.tables = rest
      state.generation += 1
      state.recovery = nil
      // First: once the file names no account, nothing leads to the copies.
      let copies = [
        Result<Void, any Error> { try state.journal.removeCopies() },
        Result<Void, any Error> { try media.removeCopies() },
      ]
      // In one step, so that a crash does not lose the strategy. If the disk is full, the file is
      // removed instead.
      if (try? state.journal.rewrite(rest.everything, replacingOthers: true)) == nil {
        try state.journal.remove()
      }
      try media.clear()
      for result in copies { try result.get() }
    }
  }

  // MARK: Zone and subscriptions

  private func prepareZone(_ generation: Int) async throws {
    let settings = settings
    let hasOwn = state.withLock { $0.tables.waiting.contains { $0.owner == nil } }
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
    guard self.settings.hasZone, !self.settings.hasSubscriptions else { return }
    do {
      try await subscribe()
    } catch let error as CKError where error.isMissingZone {
      // The fetch that follows tells what became of the zone.
      return
    }
    try transaction(in: generation) { $0.changeSettings { $0.hasSubscriptions = true } }
  }

  /// Makes a subscription for each type in the own zone, and one for the shared database, which has
  /// no query subscriptions.
  private func subscribe() async throws {
    let own = ItemKind.allCases.map { kind -> CKSubscription in
      let subscription = CKQuerySubscription(
        recordType: kind.rawValue, predicate: NSPredicate(value: true),
        subscriptionID: kind.subscriptionID,
        options: [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion])
      subscription.zoneID = AnnotationZone.own
      subscription.notificationInfo = .silent
      return subscription
    }
    let shared = CKDatabaseSubscription(subscriptionID: Self.sharedSubscriptionID)
    shared.notificationInfo = .silent
    for (database, subscriptions) in [
      (container.privateCloudDatabase, own), (container.sharedCloudDatabase, [shared]),
    ] {
      let results = try await attempt {
        try await database.modifySubscriptions(saving: subscriptions, deleting: [])
      }
      for result in results.saveResults.values { _ = try result.get() }
    }
  }

  /// The subscription to the shared database.
  public static let sharedSubscriptionID = "shared-changes"

  /// The subscriptions that this store makes, those in the private database first.
  public static var subscriptionIDs: [String] {
    ItemKind.allCases.map(\.subscriptionID) + [sharedSubscriptionID]
  }

  /// Notes that the own zone is missing, so that the next fetch asks for it.
  private func noteLostZone() throws {
    try transaction { tables in
      tables.changeSettings { $0.hasSubscriptions = false }
      tables.setZone("", ZoneState(token: tables.zones[""]?.token))
    }
  }

  // MARK: Parts

  /// Runs a request, up to three times where the failure may pass.
  func attempt<Result>(
    _ operation: () async throws -> Result
  ) async throws -> Result {
    try await RetryPlan.threeAttempts.run(clock: clock) {
      do {
        return try await operation()
      } catch {
        if RetryPlan.isPassing(error) { state.withLock { $0.tables.metrics.errorCount += 1 } }
        throw error
      }
    }
  }
}

extension CKError {
  /// Whether a zone does not exist.
  var isMissingZone: Bool { code == .zoneNotFound || code == .userDeletedZone }
}
