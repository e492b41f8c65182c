public import Foundation
import Synchronization

/// The superclass of all operations.
///
/// Add it to `CKDatabase.add(_:)` or `CKContainer.add(_:)`, or to an operation queue of the app
/// after setting the database, or the container of the configuration. Set everything before
/// that; dependencies, `cancel()`, `completionBlock` and priorities work as with any other
/// `Operation`. Its blocks are called one at a time on a queue other than the main queue.
/// See CS-63 to CS-70.
///
/// Unchecked, because the blocks of apps can't be checked: they are set before the start, which
/// an operation queue's lock puts before everything that reads them, and are called on one
/// serial queue. All other state is guarded by a lock.
open class CKOperation: Operation, @unchecked Sendable {
  /// The ID of an operation.
  public typealias ID = String
  /// The settings of an operation.
  public typealias Configuration = CKOperationConfiguration

  private enum Phase { case waiting, executing, finished }

  private struct State {
    var configuration = CKOperationConfiguration()
    var group: CKOperationGroup?
    var defaults = OperationDefaults()
    var phase = Phase.waiting
    var task: Task<Void, Never>?
  }

  private let state = Mutex(State())
  private let environment = CloudSyncEnvironment.inForce

  /// The unique ID of the operation.
  public final let operationID: CKOperation.ID = UUID().uuidString

  /// Called before a long-lived operation sends its first request.
  public final var longLivedOperationWasPersistedBlock: (() -> Void)?

  /// The queue all blocks of this operation are called on.
  final let callbacks = CallbackQueue()

  /// Creates an operation with the default settings; use a subclass.
  public override init() { super.init() }

  /// The operation's own settings, which have priority over its group's; assigning copies them.
  public final var configuration: CKOperation.Configuration! {
    get { state.withLock { $0.configuration } }
    set {
      let copy = newValue?.duplicate() ?? CKOperationConfiguration()
      state.withLock { $0.configuration = copy }
    }
  }

  /// The group the operation belongs to.
  public final var group: CKOperationGroup? {
    get { state.withLock { $0.group } }
    set { state.withLock { $0.group = newValue } }
  }

  /// The settings the operation runs with: its own, then its group's, then those of the
  /// `configuredWith` it was added in, then the usual ones.
  package final var resolvedConfiguration: CKOperation.Configuration {
    let (own, group, defaults) = state.withLock { ($0.configuration, $0.group, $0.defaults) }
    // The group of a `configuredWith` comes after the configuration of it, as for plain calls.
    let ownGroup = group === defaults.group ? nil : group
    return own.filled(from: ownGroup?.defaultConfiguration).filled(from: defaults.resolved)
  }

  /// The quality of service; the same as in the configuration.
  open override var qualityOfService: QualityOfService {
    get { resolvedConfiguration.qualityOfService }
    set {
      super.qualityOfService = newValue
      configuration.qualityOfService = newValue
    }
  }

  /// Takes over the default settings of a `configuredWith`.
  final func adopt(_ defaults: OperationDefaults) {
    state.withLock { state in
      state.defaults = defaults
      state.group = state.group ?? defaults.group
    }
  }

  // MARK: Running

  /// Performs the work and calls the blocks; subclasses override it.
  func run() async {}

  /// The container the operation runs in: by default that of the environment it was made in,
  /// since an operation queue starts it elsewhere.
  final var effectiveContainer: CKContainer {
    resolvedConfiguration.container ?? environment.defaultContainer
  }

  /// The connection of the container the operation runs in.
  var connection: CloudConnection { effectiveContainer.connection }

  /// Always true: the operation continues after `start()` returns.
  open override var isAsynchronous: Bool { true }

  /// Whether the work has begun and not ended.
  open override var isExecuting: Bool { state.withLock { $0.phase == .executing } }

  /// Whether the last block was called.
  open override var isFinished: Bool { state.withLock { $0.phase == .finished } }

  /// Begins the work; operation queues call it, once.
  open override func start() {
    willChange(.isExecuting)
    let begins = state.withLock { state in
      guard state.phase == .waiting else { return false }
      state.phase = .executing
      return true
    }
    didChange(.isExecuting)
    guard begins else { return }
    let isLongLived = resolvedConfiguration.isLongLived
    let connection = connection
    let container = connection.container
    if isLongLived { LongLivedOperations.add(self, of: container) }
    let task = connection.beginWork(urgency: qualityOfService) {
      if isLongLived { await self.callbacks.call { self.longLivedOperationWasPersistedBlock?() } }
      await self.run()
      if isLongLived { LongLivedOperations.remove(self, of: container) }
      self.finish()
    }
    state.withLock { if $0.phase == .executing { $0.task = task } }
    // A cancellation that came before the task was kept could not reach it.
    if isCancelled { task.cancel() }
  }

  /// Cancels the work; the final blocks receive `operationCancelled`.
  open override func cancel() {
    super.cancel()
    state.withLock { $0.task }?.cancel()
  }

  private func finish() {
    willChange(.isExecuting)
    willChange(.isFinished)
    state.withLock { state in
      state.phase = .finished
      state.task = nil
    }
    didChange(.isFinished)
    didChange(.isExecuting)
  }

  private func willChange(_ property: ObservedProperty) {
    #if canImport(ObjectiveC)
      // By name: a key path would say `executing` and `finished`, which queues do not observe.
      willChangeValue(forKey: property.rawValue)
    #else
      switch property {
      case .isExecuting: willChangeValue(for: \.isExecuting)
      case .isFinished: willChangeValue(for: \.isFinished)
      }
    #endif
  }

  private func didChange(_ property: ObservedProperty) {
    #if canImport(ObjectiveC)
      didChangeValue(forKey: property.rawValue)
    #else
      switch property {
      case .isExecuting: didChangeValue(for: \.isExecuting)
      case .isFinished: didChangeValue(for: \.isFinished)
      }
    #endif
  }
}

/// A property of operations that queues observe.
private enum ObservedProperty: String {
  case isExecuting, isFinished
}
