public import CloudSync
public import Foundation
public import SyncSupport
import Synchronization

/// Syncs an ``AnnotationStore`` every minute, when the network comes back, on pushes, and when a
/// person asks.
///
/// After an error it waits twice as long, and twice as long again after each further one, up to
/// sixteen minutes: a service in trouble is not helped by being asked. May be used from any thread.
public final class AnnotationCoordinator: SyncCoordinator {
  private struct State {
    var status = CoordinatorStatus.idle
    var loop: Task<Void, Never>?
    var network: Task<Void, Never>?
    var bell: AsyncStream<Void>.Continuation?
    /// How many syncs in a row failed.
    var failures = 0
    var listeners: [UInt64: AsyncStream<CoordinatorStatus>.Continuation] = [:]
    var lastListener: UInt64 = 0
  }

  /// How long after a sync the next one begins.
  public let interval: Duration

  /// The longest wait after errors, in intervals.
  private static let mostIntervals = 16

  /// The annotations.
  public let store: AnnotationStore

  /// Whether there is a network.
  public let network: NetworkMonitor

  private let clock: any Clock<Duration>
  private let usesExpensiveNetwork: Bool
  private let state = Mutex(State())

  /// Prepares a coordinator; nothing is synced before ``startSync()`` or ``syncNow()``.
  ///
  /// - Parameters:
  ///   - store: the annotations.
  ///   - network: whether there is a network; nothing is tried without one.
  ///   - interval: how long after a sync the next one begins.
  ///   - usesExpensiveNetwork: whether to sync unasked over a network that is paid by volume.
  ///   - clock: measures the waits.
  public init(
    store: AnnotationStore, network: NetworkMonitor, interval: Duration = .seconds(60),
    usesExpensiveNetwork: Bool = true, clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.store = store
    self.network = network
    self.interval = interval
    self.usesExpensiveNetwork = usesExpensiveNetwork
    self.clock = clock
    if !network.isConnected { state.withLock { $0.status = .offline } }
  }

  deinit {
    state.withLock { state in
      state.loop?.cancel()
      state.network?.cancel()
      state.bell?.finish()
      for listener in state.listeners.values { listener.finish() }
    }
  }

  /// Where sync stands.
  public var syncStatus: CoordinatorStatus { state.withLock { $0.status } }

  /// When the last sync succeeded; `nil` before the first.
  public var lastSyncTime: Date? { store.lastSyncTime }

  /// Figures of what was done.
  public var metrics: SyncMetrics { store.metrics }

  /// Where sync stands now, and again whenever that changes.
  public var statusUpdates: AsyncStream<CoordinatorStatus> {
    AsyncStream { listener in
      let number = state.withLock { state in
        state.lastListener += 1
        state.listeners[state.lastListener] = listener
        listener.yield(state.status)
        return state.lastListener
      }
      listener.onTermination = { [weak self] _ in
        self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
      }
    }
  }

  /// Begins to sync: now if there is a network, then every interval, and whenever the network comes
  /// back.
  public func startSync() async {
    let (bells, bell) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    state.withLock { state in
      guard state.loop == nil else { return }
      state.bell = bell
      state.loop = Task { [weak self] in
        for await _ in bells {
          guard let timer = await self?.turn(bell) else { return }
          // The timer of the last turn is overtaken by whatever rang this time.
          self?.setTimer(timer)
        }
      }
      state.network = Task { [weak self, network] in
        for await status in network.updates {
          guard !Task.isCancelled, let self else { return }
          networkChanged(status)
        }
      }
    }
  }

  /// Ends syncing; what was not sent waits for the next start.
  public func stopSync() async {
    let (loop, network) = state.withLock { state in
      let tasks = (state.loop, state.network)
      state.bell?.finish()
      state.bell = nil
      state.loop = nil
      state.network = nil
      return tasks
    }
    network?.cancel()
    loop?.cancel()
    await loop?.value
    // Last: a turn that was under way sets a timer when it ends.
    setTimer(nil)
  }

  /// Syncs now, and tries again what was refused; over an expensive network too.
  public func syncNow() async throws {
    guard network.isConnected else {
      set(.offline)
      throw CKError(.networkUnavailable)
    }
    try await sync(askedByPerson: true)
  }

  /// Takes an item as a person left it, and asks for a sync soon.
  public func queueForSync<Item: Syncable>(_ item: Item) async throws {
    try store.save(item)
    ring()
  }

  /// A push arrived: fetches the record it names, or everything that is new.
  ///
  /// - Returns: whether it was of this store's subscriptions.
  @discardableResult
  public func handleNotification(_ notification: CKNotification) async -> Bool {
    guard let subscription = notification.subscriptionID,
      AnnotationStore.subscriptionIDs.contains(subscription)
    else { return false }
    guard network.isConnected else { return true }
    if let query = notification as? CKQueryNotification, let recordID = query.recordID,
      query.queryNotificationReason != .recordDeleted
    {
      // The record at once; its neighbours with the next sync, which its token still asks for.
      try? await store.syncRecord(recordID)
    }
    try? await sync(askedByPerson: false)
    return true
  }

  /// The same for what an app delegate is given.
  @discardableResult
  public func didReceiveRemoteNotification(_ userInfo: [AnyHashable: Any]) async -> Bool {
    guard let notification = CKNotification(fromRemoteNotificationDictionary: userInfo) else {
      return false
    }
    return await handleNotification(notification)
  }

  /// Asks for a sync soon, if syncing was started.
  public func ring() {
    state.withLock { _ = $0.bell?.yield() }
  }

  // MARK: Parts

  private let timer = Mutex<Task<Void, Never>?>(nil)

  /// One turn of the loop: syncs if the network allows, then says when to come back.
  private func turn(_ bell: AsyncStream<Void>.Continuation) async -> Task<Void, Never> {
    if mayGoUnasked { try? await sync(askedByPerson: false) }
    let wait = nextWait
    return Task { [clock] in
      guard (try? await clock.sleep(for: wait)) != nil else { return }
      bell.yield()
    }
  }

  private func setTimer(_ task: Task<Void, Never>?) {
    timer.withLock { current in
      current?.cancel()
      current = task
    }
  }

  private var mayGoUnasked: Bool {
    switch network.status {
    case .offline: false
    case .online: true
    case .expensive: usesExpensiveNetwork
    }
  }

  /// The interval, doubled for each error in a row.
  private var nextWait: Duration {
    let failures = state.withLock { $0.failures }
    var intervals = 1
    for _ in 0..<failures where intervals < Self.mostIntervals { intervals *= 2 }
    return interval * intervals
  }

  private func networkChanged(_ status: NetworkStatus) {
    guard status.isConnected else { return set(.offline) }
    if case .offline = syncStatus { set(.idle) }
    ring()
  }

  private func sync(askedByPerson: Bool) async throws {
    set(.syncing)
    do {
      try await store.sync(askedByPerson: askedByPerson)
      state.withLock { $0.failures = 0 }
      set(.idle)
    } catch is CancellationError {
      set(network.isConnected ? .idle : .offline)
      throw CancellationError()
    } catch {
      state.withLock { $0.failures += 1 }
      let code = (error as? CKError)?.code
      let isOffline = code == .networkUnavailable || code == .networkFailure
      set(isOffline || !network.isConnected ? .offline : .error(error))
      throw error
    }
  }

  private func set(_ status: CoordinatorStatus) {
    state.withLock { state in
      state.status = status
      for listener in state.listeners.values { listener.yield(status) }
    }
  }
}
