public import Foundation
public import SyncSupport
import Synchronization

/// Syncs an ``AnnotationStore`` every minute, when the network returns, on pushes, and on request.
///
/// After an error it waits twice as long, and twice as long again after each further one, up to
/// sixteen minutes. May be used from any thread.
public final class AnnotationCoordinator: SyncCoordinator {
  private struct State {
    var network: Task<Void, Never>?
    /// The number of syncs in a row that failed.
    var failures = 0
  }

  /// The time from a sync to the next one.
  public let interval: Duration

  /// The longest wait after errors, in intervals.
  private static let mostIntervals = 16

  /// The annotations.
  public let store: AnnotationStore

  /// The monitor of the network.
  public let network: NetworkMonitor

  private let loop: SyncLoop
  private let usesExpensiveNetwork: Bool
  private let state = Mutex(State())
  private let status: Observed<CoordinatorStatus>

  /// Creates a coordinator; nothing is synced before ``startSync()`` or ``syncNow()``.
  ///
  /// - Parameters:
  ///   - store: the annotations.
  ///   - network: the monitor of the network; without a network nothing is tried.
  ///   - interval: the time from a sync to the next one.
  ///   - usesExpensiveNetwork: whether to sync automatically over a network that is paid by volume.
  ///   - clock: measures the waits.
  public init(
    store: AnnotationStore, network: NetworkMonitor, interval: Duration = .seconds(60),
    usesExpensiveNetwork: Bool = true, clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.store = store
    self.network = network
    self.interval = interval
    self.usesExpensiveNetwork = usesExpensiveNetwork
    loop = SyncLoop(clock: clock)
    status = Observed(network.isConnected ? .idle : .offline)
  }

  deinit { state.withLock { $0.network?.cancel() } }

  /// The present status.
  public var syncStatus: CoordinatorStatus { status.value }

  /// The date of the last successful sync; `nil` before the first.
  public var lastSyncTime: Date? { store.lastSyncTime }

  /// The figures of the syncs.
  public var metrics: SyncMetrics { store.metrics }

  /// The present status, and each change.
  public var statusUpdates: AsyncStream<CoordinatorStatus> { status.updates() }

  /// Starts to sync: now if there is a network, then every interval, and when the network returns.
  public func startSync() async {
    // Under one lock, so that a stop ends both or none.
    state.withLock { state in
      guard loop.start({ [weak self] in await self?.turn() }) else { return }
      state.network = Task { [weak self, network] in
        for await status in network.updates {
          guard !Task.isCancelled, let self else { return }
          networkChanged(status)
        }
      }
    }
  }

  /// Stops; changes that were not sent wait for the next start.
  public func stopSync() async {
    let lastRun = state.withLock { state in
      state.network?.cancel()
      state.network = nil
      return loop.close()
    }
    await lastRun?.value
  }

  /// Syncs now, also over an expensive network, and sends again what was refused.
  public func syncNow() async throws {
    guard network.isConnected else {
      status.set(.offline)
      throw CKError(.networkUnavailable)
    }
    try await sync(askedByPerson: true)
  }

  /// Stores an item as a user left it, and asks for a sync soon.
  public func queueForSync<Item: Syncable>(_ item: Item) async throws {
    try store.save(item)
    requestSync()
  }

  /// Handles a push: fetches the record that it names, and everything that is new, if the network
  /// may be used automatically.
  ///
  /// - Returns: whether it belongs to this store's subscriptions.
  @discardableResult
  public func handleNotification(_ notification: CKNotification) async -> Bool {
    guard let subscription = notification.subscriptionID,
      AnnotationStore.subscriptionIDs.contains(subscription)
    else { return false }
    guard mayUseNetwork else { return true }
    if let query = notification as? CKQueryNotification, let recordID = query.recordID,
      query.queryNotificationReason != .recordDeleted
    {
      try? await store.syncRecord(recordID)
    }
    try? await sync(askedByPerson: false)
    return true
  }

  /// Handles the dictionary of a push that an app delegate received.
  @discardableResult
  public func didReceiveRemoteNotification(_ userInfo: [AnyHashable: Any]) async -> Bool {
    guard let notification = CKNotification(fromRemoteNotificationDictionary: userInfo) else {
      return false
    }
    return await handleNotification(notification)
  }

  /// Asks for a sync soon, if the coordinator is started.
  public func requestSync() {
    loop.requestRun()
  }

  // MARK: Parts

  /// Whether a sync that no person asks for may use the network now.
  private var mayUseNetwork: Bool {
    network.isConnected && (network.status != .expensive || usesExpensiveNetwork)
  }

  /// One turn of the loop: syncs if the network allows, then sets the timer for the next turn.
  private func turn() async {
    if mayUseNetwork { try? await sync(askedByPerson: false) }
    loop.setTimer(after: nextWait) { [weak loop] in loop?.requestRun() }
  }

  /// The interval, doubled for each error in a row.
  private var nextWait: Duration {
    let failures = state.withLock { $0.failures }
    return interval * min(1 << min(failures, 30), Self.mostIntervals)
  }

  private func networkChanged(_ network: NetworkStatus) {
    guard network.isConnected else { return status.set(.offline) }
    status.set(.idle) { if case .offline = $0 { true } else { false } }
    requestSync()
  }

  private func sync(askedByPerson: Bool) async throws {
    status.set(.syncing)
    do {
      try await store.sync(askedByPerson: askedByPerson)
      state.withLock { $0.failures = 0 }
      status.set(.idle)
    } catch let error where Task.isCancelled {
      // A request that was cancelled fails with a `CKError`.
      status.set(network.isConnected ? .idle : .offline)
      throw error
    } catch {
      state.withLock { $0.failures += 1 }
      let code = (error as? CKError)?.code
      let isOffline = code == .networkUnavailable || code == .networkFailure
      status.set(isOffline || !network.isConnected ? .offline : .error(error))
      throw error
    }
  }
}
