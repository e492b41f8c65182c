import CloudProtocol
import Foundation
import Records
import SyncMachine
import Synchronization

/// Syncs an app's records with a CloudKit database.
///
/// The app adds pending changes to `state` and supplies records through its delegate; the engine
/// sends them, fetches the server's changes and delivers them as events.
///
/// Source-compatible with Apple's class of this name, with these differences: with a
/// `Configuration.stateStore`, a change is durable when `state.add` returns; a change added while
/// an older change of the same record is in flight stays pending; a change added in
/// `sentRecordZoneChanges` schedules the next send. The engine holds its delegate weakly and stops
/// when the delegate is deallocated. All members can be used from any thread. See CE-12 to CE-18.
public final class CKSyncEngine: Sendable, CustomStringConvertible {
  let driver: EngineDriver

  /// The database that the engine was configured with and syncs.
  public let database: CKDatabase

  /// The pending changes of the engine.
  public let state: CKSyncEngine.State

  /// The error of the state or of the state store; `nil` if there is none.
  ///
  /// A state that belongs to another container, environment or database is refused with
  /// `State.SerializationError`. While a state is refused, or the store could not be read, every
  /// operation fails with this error and nothing is synced, so that no data in the store is lost.
  /// After a failed write the engine continues, but added changes are not durable when `add`
  /// returns; it retries the write, and this property is `nil` after it succeeds. After the engine
  /// stopped because its delegate was released, added changes are not stored. An account change
  /// is delivered only after it was stored: until then every operation fails with this error.
  public var stateStoreError: (any Error)? {
    driver.core.withLock { core -> (any Error)? in
      guard core.hasReleasedStore else { return core.journal?.error }
      return CKError(
        .operationCancelled,
        "The engine stopped when its delegate was released, and stores nothing that is added now; "
          + "retain the delegate.")
    } ?? openingError
  }

  private let openingError: (any Error)?

  /// Creates an engine and starts it.
  ///
  /// It determines the signed-in account and, unless `automaticallySync` is `false`, fetches and
  /// sends.
  ///
  /// - Parameter configuration: The database, the stored state and the delegate. The public
  ///   database is not supported: every operation fails with `badDatabase`.
  public init(_ configuration: CKSyncEngine.Configuration) {
    let database = configuration.database
    self.database = database
    let parts = EngineParts(configuration)
    let chosen: any Clock<Duration> =
      configuration.clock ?? database.connection.clock ?? ContinuousClock()
    let clock = EngineClock(chosen)
    var settings = SyncMachine.Configuration(
      session: clock.session(), automaticallySync: configuration.automaticallySync)
    settings.subscription = configuration.subscriptionID.map { SubscriptionID($0) }
    settings.leastShown = configuration.leastShownChanges
    settings.hasStateStore = parts.journal != nil
    settings.keepsTransitions = configuration.tracer != nil
    var machine = SyncMachine(
      configuration: settings, state: parts.state, stored: parts.journal?.size ?? StoreSize())
    if parts.journal?.error != nil { machine.storeFailed(now: clock.now()) }
    driver = EngineDriver(
      machine: machine, journal: parts.journal,
      database: configuration.database, transport: parts.transport,
      delegate: configuration.delegate,
      interposed: database.connection.interception?.interpose(before: configuration.delegate),
      clock: clock,
      taskExecutor: configuration.taskExecutor ?? database.connection.taskExecutor,
      tracer: configuration.tracer)
    state = CKSyncEngine.State(driver: driver)
    openingError = parts.error
    if openingError == nil { driver.start(self) }
  }

  deinit { driver.stop() }

  /// Fetches the server's changes and returns when the delegate has handled all of them.
  ///
  /// While another operation is running, the call waits. A call from a delegate callback throws,
  /// since it would wait for that callback.
  /// - Parameter options: The zones to fetch and their order.
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

  /// Sends the pending changes and returns when the delegate has handled the results.
  ///
  /// While another operation is running, the call waits. A call from a delegate callback throws,
  /// since it would wait for that callback.
  /// - Parameter options: The changes to send; the delegate supplies only changes in the scope.
  /// - Throws: `CKError`; `operationCancelled` when the calling task is cancelled, while a send
  ///   that has begun continues; `partialFailure` when only some changes failed. Changes that the
  ///   delegate adds again while it handles the results are pending and sent with the next send.
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

  /// Cancels all operations and returns when the delegate has handled their last events.
  ///
  /// A request that was already sent may still succeed on the server. In a delegate callback the
  /// call returns without waiting, since it would wait for that callback.
  public func cancelOperations() async {
    // An engine that could not start has no operations.
    guard openingError == nil else { return }
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

  private func check(_ outcome: Result<Void, CKError>) throws {
    do { try outcome.get() } catch { throw driver.holdError ?? error }
  }

  /// A description with the database and the number of pending changes; no record content.
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
  ///
  /// - Parameter clientRecords: the app's objects of records that could not be saved.
  init(_ failure: OperationFailure, clientRecords: [RecordID: CKRecord]) {
    var items: [AnyHashable: any Error] = [:]
    for (id, error) in failure.records {
      items[CKRecord.ID(id)] = CKError(error, clientRecord: clientRecords[id])
    }
    for (id, error) in failure.zones { items[CKRecordZone.ID(id)] = CKError(error) }
    let error = CKError(failure.error)
    var userInfo = error.userInfo
    if !items.isEmpty { userInfo[CKPartialErrorsByItemIDKey] = items }
    self.init(error.code, userInfo: userInfo)
  }
}
