import CloudProtocol
import Foundation
import Records
import SyncMachine
import Synchronization

/// Syncs an app's records with a CloudKit database: the app says what changed, the engine says
/// what the server has, and does everything between.
///
/// Source-compatible with Apple's class of this name. Past the original: with a
/// `Configuration.stateStore` a change is durable when `state.add` returns; a change made while an
/// older one of the same record is under way stays pending; a change added inside
/// `sentRecordZoneChanges` schedules the next send. The engine holds its delegate weakly, and
/// stops when the delegate is gone. All members may be used from any thread.
/// Source: cksyncengine section 1.
public final class CKSyncEngine: Sendable {
  let driver: EngineDriver

  /// The database that is synced.
  public let database: CKDatabase

  /// What is pending, and the way to add to it.
  public let state: CKSyncEngine.State

  /// Why the state could not be used, or the state store not be read or written, if so.
  ///
  /// A state that belongs to another container, environment or database is refused with
  /// `State.SerializationError`. While a state is refused, or the store could not be read, every
  /// operation fails with this error and nothing is synced, so that nothing is lost that the store
  /// may still hold. After a failed write the engine goes on, but added changes are not durable
  /// when `add` returns; it tries to store everything again, and this is `nil` when that worked. Of
  /// an account the delegate is told only when the store has it: until then every operation fails
  /// with this error.
  public var stateStoreError: (any Error)? {
    driver.core.withLock { $0.journal?.error } ?? openingError
  }

  private let openingError: (any Error)?

  /// Makes an engine and lets it begin: it finds out who is signed in and, unless
  /// `automaticallySync` is off, fetches and sends.
  ///
  /// - Parameter configuration: The database, the state of the last run, the delegate. A public
  ///   database cannot be synced this way; every operation then fails with `badDatabase`.
  public init(_ configuration: CKSyncEngine.Configuration) {
    database = configuration.database
    let parts = EngineParts(configuration)
    let clock = EngineClock(configuration.clock)
    var settings = SyncMachine.Configuration(
      session: clock.session(), automaticallySync: configuration.automaticallySync)
    settings.subscription = configuration.subscriptionID.map { SubscriptionID($0) }
    settings.keepsJournal = parts.journal != nil
    driver = EngineDriver(
      machine: SyncMachine(configuration: settings, state: parts.state), journal: parts.journal,
      database: configuration.database, transport: parts.transport,
      delegate: configuration.interceptedDelegate, clock: clock,
      taskExecutor: configuration.taskExecutor ?? database.connection.taskExecutor,
      tracer: configuration.tracer)
    state = CKSyncEngine.State(driver: driver)
    openingError = parts.error
    if openingError == nil { driver.start(self) }
  }

  deinit { driver.stop() }

  /// Fetches what changed on the server, and returns when the delegate has it all.
  ///
  /// A call that finds another operation under way waits for its turn. From inside a delegate
  /// callback it would wait for itself and is refused.
  /// - Parameter options: Which zones, and in which order.
  /// - Throws: `CKError`; `partialFailure` when only some zones failed; `operationCancelled` when
  ///   the calling task is cancelled, while a fetch that has begun goes on.
  public func fetchChanges(_ options: CKSyncEngine.FetchChangesOptions = .init()) async throws {
    try refuseReentry("fetchChanges")
    let outcome = await driver.perform { core, waiter, _ in
      core.fetchOptions[waiter.number] = options
      core.machine.fetch(
        FetchContext(
          reason: .manual, options: options.machineOptions, ticket: waiter.number),
        waiter: waiter)
    }
    try check(outcome)
  }

  /// Sends what is pending, and returns when the delegate knows what became of it.
  ///
  /// A call that finds another operation under way waits for its turn. From inside a delegate
  /// callback it would wait for itself and is refused.
  /// - Parameter options: Which changes; the delegate keeps to the scope.
  /// - Throws: `CKError`; `operationCancelled` when the calling task is cancelled, while a send
  ///   that has begun goes on; `partialFailure` when only some changes failed. What the delegate
  ///   added again while it was told is pending then, and goes out with the next send.
  public func sendChanges(_ options: CKSyncEngine.SendChangesOptions = .init()) async throws {
    try refuseReentry("sendChanges")
    let outcome = await driver.perform { core, waiter, _ in
      core.sendOptions[waiter.number] = options
      core.machine.send(
        SendContext(
          reason: .manual, scope: options.scope.machineScope, ticket: waiter.number),
        waiter: waiter)
    }
    try check(outcome)
  }

  /// Ends what is under way, and returns when the delegate has the events that close it.
  ///
  /// What was sent already may still succeed on the server. From inside a delegate callback the
  /// operations are cancelled without waiting, because the wait would be for the callback itself.
  public func cancelOperations() async {
    if CallbackMark.isInsideCallback {
      driver.move { core, now in
        core.machine.cancelOperations(waiter: Waiter(number: 0), now: now)
      }
      return
    }
    _ = await driver.perform(endsWithTask: false) { core, waiter, now in
      core.machine.cancelOperations(waiter: waiter, now: now)
    }
  }

  private func refuseReentry(_ name: String) throws {
    if let openingError { throw openingError }
    guard CallbackMark.isInsideCallback else { return }
    throw CKError(
      .invalidArguments,
      "\(name)() was called inside a delegate callback of a sync engine, where it would wait "
        + "for that callback to return. Call it later, or from Task.detached.")
  }

  private func check(_ outcome: OperationOutcome) throws {
    switch outcome {
    case .success: return
    case .failure(let failure):
      if let error = driver.holdError { throw error }
      throw CKError(failure)
    }
  }
}

extension CKSyncEngine: CustomStringConvertible {
  /// The database and how much is pending; no record content.
  public var description: String {
    let (records, zones) = driver.core.withLock {
      ($0.machine.state.records.count, $0.machine.state.zones.count)
    }
    return "<CKSyncEngine: database \(database.databaseScope), \(records) record changes and "
      + "\(zones) zone changes pending>"
  }
}

extension CKError {
  /// The error of an operation, with the errors of its items.
  init(_ failure: OperationFailure) {
    var items: [AnyHashable: any Error] = [:]
    for (id, error) in failure.records { items[CKRecord.ID(id)] = CKError(error) }
    for (id, error) in failure.zones { items[CKRecordZone.ID(id)] = CKError(error) }
    let error = CKError(failure.error)
    var userInfo = error.userInfo
    if !items.isEmpty { userInfo[CKPartialErrorsByItemIDKey] = items }
    self.init(error.code, userInfo: userInfo)
  }
}
