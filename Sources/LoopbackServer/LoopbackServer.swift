public import CloudMachine
public import CloudProtocol
import Foundation
public import Records
package import SQLite
import Synchronization

/// A CloudKit server in this process: accounts, containers, databases, change feeds, pushes and
/// fault injection.
///
/// ```swift
/// let server = LoopbackServer()
/// let phone = server.device("phone", signedInAs: "alice")
/// let container = CKContainer(identifier: "iCloud.com.example.notes", transport: phone)
/// ```
///
/// Call from any task or thread. Requests are processed one at a time; on PostgreSQL, several at
/// once.
public final class LoopbackServer: Sendable {
  /// Fault injection, request logs and administration.
  public let controls: FaultControls

  let executor: MachineExecutor
  let pushDispatcher: PushDispatcher
  let dispatcher: RequestDispatcher
  /// The clock for the dates of records.
  package let clock: @Sendable () -> Timestamp
  /// The executor of the tasks that the server starts; `nil` for the default executor.
  package let taskExecutor: (any TaskExecutor)?
  private let devices = Mutex<[String: WeakDevice]>([:])
  let watches = Mutex<[Task<Void, Never>]>([])

  private struct WeakDevice {
    weak var device: LoopbackDevice?
  }

  /// Creates an empty server that keeps its data in memory.
  ///
  /// - Parameters:
  ///   - clock: the clock for the dates of records; by default the system's clock.
  ///   - delayClock: the clock for delayed requests.
  ///   - identity: the number that binds change tokens to this server; by default a random one.
  ///     Pass a fixed number to get the same tokens in every run.
  ///   - limits: the server's limits.
  ///   - taskExecutor: the executor of the tasks that the server starts; `nil` for the default
  ///     executor.
  public convenience init(
    clock: @escaping @Sendable () -> Timestamp = LoopbackServer.systemTime,
    delayClock: any Clock<Duration> = ContinuousClock(), identity: UInt64? = nil,
    limits: ServerLimits = ServerLimits(), taskExecutor: (any TaskExecutor)? = nil
  ) {
    let storage = ServerStorage.memory(identity: identity ?? .random(in: 0...(.max)))
    self.init(
      executor: MachineExecutor(storages: StoragePool(storage), limits: limits), clock: clock,
      delayClock: delayClock, taskExecutor: taskExecutor)
  }

  /// Creates an empty server in memory that calls `pause` between two slices of a query instead of
  /// yielding to other tasks.
  package convenience init(pause: @escaping @Sendable () async -> Void) {
    self.init(
      executor: MachineExecutor(
        storages: StoragePool(ServerStorage.memory(identity: .random(in: 0...(.max)))),
        limits: ServerLimits()),
      clock: LoopbackServer.systemTime, delayClock: ContinuousClock(), taskExecutor: nil,
      pause: pause)
  }

  /// Opens the server in the file at `path`, or creates the file if it does not exist.
  ///
  /// Acknowledged changes are on the disk. Several servers, in one process or in many, may have the
  /// file open at once; see `checkForForeignChanges()`. Throws if the file cannot be used, is not a
  /// server's file, was written by a newer version or is damaged; such a file is left untouched.
  /// - Parameters:
  ///   - path: the file, on a local disk; its folder must exist.
  ///   - clock: the clock for the dates of records; by default the system's clock.
  ///   - delayClock: the clock for delayed requests and for `watchForForeignChanges`.
  ///   - identity: the number of a new file, which binds change tokens to it.
  ///   - limits: the server's limits.
  ///   - taskExecutor: the executor of the tasks that the server starts; `nil` for the default
  ///     executor.
  public convenience init(
    path: String, clock: @escaping @Sendable () -> Timestamp = LoopbackServer.systemTime,
    delayClock: any Clock<Duration> = ContinuousClock(), identity: UInt64? = nil,
    limits: ServerLimits = ServerLimits(), taskExecutor: (any TaskExecutor)? = nil
  ) throws(ServerFileError) {
    ServerFile.makePrivately(path: path)
    let storage = try ServerStorage.file(
      path: path, identity: identity ?? .random(in: 0...(.max)))
    try self.init(
      path: path, storage: storage, clock: clock, delayClock: delayClock, limits: limits,
      taskExecutor: taskExecutor)
  }

  /// Opens or creates the server in a file of `fileSystem`, as `init(path:)` does with a file of
  /// the system.
  ///
  /// - Parameters:
  ///   - path: The file's name on the disk of `fileSystem`.
  ///   - identity: The number of a new file, from which its secret is derived too.
  package convenience init(
    path: String, fileSystem: SQLiteFileSystem, identity: UInt64,
    clock: @escaping @Sendable () -> Timestamp = LoopbackServer.systemTime,
    delayClock: any Clock<Duration> = ContinuousClock(), limits: ServerLimits = ServerLimits(),
    taskExecutor: (any TaskExecutor)? = nil
  ) throws(ServerFileError) {
    let storage = try ServerStorage.file(
      path: path, identity: identity, secret: StorageSecret(guessableFrom: identity),
      fileSystem: fileSystem)
    try self.init(
      path: path, storage: storage, clock: clock, delayClock: delayClock, limits: limits,
      taskExecutor: taskExecutor)
  }

  /// Creates a server on `storage`.
  ///
  /// ```swift
  /// let server = try LoopbackServer(storage: MemoryStorage(identity: 7))
  /// ```
  ///
  /// The server owns the storage, makes one call at a time, and closes it in ``close()``. Throws if
  /// the storage cannot be read.
  /// - Parameters:
  ///   - storage: the storage; see `CloudStorage` for its requirements.
  ///   - clock: the clock for the dates of records; by default the system's clock.
  ///   - delayClock: the clock for delayed requests and for `watchForForeignChanges`.
  ///   - limits: the server's limits.
  ///   - taskExecutor: the executor of the tasks that the server starts; `nil` for the default
  ///     executor.
  public convenience init(
    storage: sending any CloudStorage,
    clock: @escaping @Sendable () -> Timestamp = LoopbackServer.systemTime,
    delayClock: any Clock<Duration> = ContinuousClock(), limits: ServerLimits = ServerLimits(),
    taskExecutor: (any TaskExecutor)? = nil
  ) throws(CloudError) {
    try self.init(
      storages: StoragePool(storage), clock: clock, delayClock: delayClock, limits: limits,
      taskExecutor: taskExecutor)
  }

  /// Creates a server on a pool of storages, which it owns.
  ///
  /// - Parameter notifier: tells other servers on the same data of changes.
  convenience init(
    storages: StoragePool, notifier: (any ChangeNotifier)? = nil,
    clock: @escaping @Sendable () -> Timestamp,
    delayClock: any Clock<Duration>, limits: ServerLimits, taskExecutor: (any TaskExecutor)?
  ) throws(CloudError) {
    let executor = MachineExecutor(storages: storages, notifier: notifier, limits: limits)
    do { try executor.learnPositions(now: clock()) } catch {
      executor.close()
      throw error
    }
    self.init(executor: executor, clock: clock, delayClock: delayClock, taskExecutor: taskExecutor)
    do { try controls.open() } catch {
      close()
      throw error
    }
    notifier?.listen { [weak self] databases in self?.check(databases) }
  }

  private convenience init(
    path: String, storage: sending any CloudStorage, clock: @escaping @Sendable () -> Timestamp,
    delayClock: any Clock<Duration>, limits: ServerLimits, taskExecutor: (any TaskExecutor)?
  ) throws(ServerFileError) {
    do {
      try self.init(
        storage: storage, clock: clock, delayClock: delayClock, limits: limits,
        taskExecutor: taskExecutor)
    } catch { throw ServerFileError(damaged: error.message, path: path) }
  }

  private init(
    executor: MachineExecutor, clock: @escaping @Sendable () -> Timestamp,
    delayClock: any Clock<Duration>, taskExecutor: (any TaskExecutor)?,
    pause: @escaping @Sendable () async -> Void = QueryPause.take
  ) {
    self.executor = executor
    self.taskExecutor = taskExecutor
    self.clock = clock
    let events = EventLog(clock: clock)
    let faults = FaultStore(executor: executor)
    pushDispatcher = PushDispatcher(events: events, faults: faults)
    controls = FaultControls(
      executor: executor, pushDispatcher: pushDispatcher, events: events, faults: faults,
      clock: delayClock, wallClock: clock)
    dispatcher = RequestDispatcher(
      executor: executor, controls: controls, clock: clock, pause: pause)
  }

  deinit {
    for watch in watches.withLock({ $0 }) { watch.cancel() }
  }

  /// The time of the system's clock.
  public static let systemTime: @Sendable () -> Timestamp = {
    Timestamp(secondsSinceReferenceDate: Date().timeIntervalSinceReferenceDate)
  }

  /// The device called `name`, created online if it does not exist.
  ///
  /// - Parameters:
  ///   - name: the device's name, unique on the server.
  ///   - account: the account to sign in as; `nil` leaves an existing device unchanged and a new
  ///     one signed out.
  public func device(_ name: String, signedInAs account: String? = nil) -> LoopbackDevice {
    let (state, isNew) = pushDispatcher.device(
      DeviceKey(name: name, remoteAccount: nil), account: account)
    let device = devices.withLock { devices in
      if let device = devices[name]?.device { return device }
      let device = LoopbackDevice(state: state, dispatcher: dispatcher)
      devices[name] = WeakDevice(device: device)
      return device
    }
    if !isNew, let account { device.signIn(as: account) }
    return device
  }

  /// Closes the server and its file: held and later requests fail with `networkFailure`.
  ///
  /// A second call does nothing.
  public func close() {
    let watches = watches.withLock { watches in
      defer { watches = [] }
      return watches
    }
    for watch in watches { watch.cancel() }
    controls.close()
    executor.close()
    controls.events.close()
  }
}
