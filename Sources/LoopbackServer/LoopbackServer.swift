import CloudMachine
import CloudProtocol
import Foundation
public import Records
package import SQLite
import Synchronization

/// A cloud in this process: accounts, containers, databases, change feeds, pushes, and every
/// fault a test can wish for.
///
/// ```swift
/// let server = LoopbackServer()
/// let phone = server.device("phone", signedInAs: "alice")
/// let container = CKContainer(identifier: "iCloud.com.example.notes", transport: phone)
/// ```
///
/// Call from any task or thread; requests are answered one after the other.
public final class LoopbackServer: Sendable {
  /// Faults, counts of requests, and what an administrator can do.
  public let controls: FaultControls

  let room: MachineRoom
  let post: PostOffice
  let office: RequestOffice
  /// What time it is, for the dates on records.
  package let clock: @Sendable () -> Timestamp
  /// Who runs the tasks that the server starts; `nil` for the system's threads.
  package let taskExecutor: (any TaskExecutor)?
  private let devices = Mutex<[String: WeakDevice]>([:])
  let watches = Mutex<[Task<Void, Never>]>([])

  private struct WeakDevice {
    weak var device: LoopbackDevice?
  }

  /// Makes an empty server that keeps everything in memory.
  ///
  /// - Parameters:
  ///   - clock: what time it is, for the dates on records; by default the system's clock.
  ///   - delayClock: the clock by which delayed requests wait.
  ///   - identity: binds change tokens to this server; by default a random number. Give one to
  ///     get the same tokens in every run.
  ///   - limits: how much it takes at once.
  ///   - taskExecutor: who runs the tasks that it starts; `nil` for the system's threads.
  public convenience init(
    clock: @escaping @Sendable () -> Timestamp = LoopbackServer.systemTime,
    delayClock: any Clock<Duration> = ContinuousClock(), identity: UInt64? = nil,
    limits: ServerLimits = ServerLimits(), taskExecutor: (any TaskExecutor)? = nil
  ) {
    let storage = ServerStorage.memory(identity: identity ?? .random(in: 0...(.max)))
    self.init(
      room: MachineRoom(storage: storage, limits: limits), clock: clock, delayClock: delayClock,
      taskExecutor: taskExecutor)
  }

  /// Makes an empty server in memory that calls `pause` between two slices of a query, where it
  /// otherwise lets other tasks run.
  package convenience init(pause: @escaping @Sendable () async -> Void) {
    self.init(
      room: MachineRoom(
        storage: ServerStorage.memory(identity: .random(in: 0...(.max))), limits: ServerLimits()),
      clock: LoopbackServer.systemTime, delayClock: ContinuousClock(), taskExecutor: nil,
      pause: pause)
  }

  /// Opens the server kept in the file at `path`, or makes it when there is none.
  ///
  /// What was acknowledged is on the disk. Several servers, in one process or in many, may have
  /// the file open at once; see `checkForForeignChanges()`. Throws when the file cannot be used,
  /// is no server's file, was written by a newer version or is damaged; it is left as it is then.
  /// - Parameters:
  ///   - clock: what time it is, for the dates on records; by default the system's clock.
  ///   - delayClock: the clock by which delayed requests wait, and `watchForForeignChanges`.
  ///   - identity: the number a new file gets, which binds change tokens to it.
  ///   - limits: how much it takes at once.
  ///   - taskExecutor: who runs the tasks that it starts; `nil` for the system's threads.
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

  /// Opens or makes the server kept in a file of `fileSystem`, as `init(path:)` does in one of the
  /// system's.
  ///
  /// - Parameters:
  ///   - path: The file's name on the disk of `fileSystem`.
  ///   - identity: The number a new file gets, from which its secret follows too.
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

  private convenience init(
    path: String, storage: sending any CloudStorage, clock: @escaping @Sendable () -> Timestamp,
    delayClock: any Clock<Duration>, limits: ServerLimits, taskExecutor: (any TaskExecutor)?
  ) throws(ServerFileError) {
    let room = MachineRoom(storage: storage, limits: limits)
    do { try room.learnPositions() } catch {
      room.close()
      throw ServerFileError(damaged: error.message, path: path)
    }
    self.init(room: room, clock: clock, delayClock: delayClock, taskExecutor: taskExecutor)
  }

  private init(
    room: MachineRoom, clock: @escaping @Sendable () -> Timestamp,
    delayClock: any Clock<Duration>, taskExecutor: (any TaskExecutor)?,
    pause: @escaping @Sendable () async -> Void = QueryPause.take
  ) {
    self.room = room
    self.taskExecutor = taskExecutor
    self.clock = clock
    let events = EventLog(clock: clock)
    post = PostOffice(events: events)
    controls = FaultControls(
      room: room, post: post, events: events, clock: delayClock, wallClock: clock)
    office = RequestOffice(room: room, controls: controls, clock: clock, pause: pause)
  }

  deinit {
    for watch in watches.withLock({ $0 }) { watch.cancel() }
  }

  /// The time of the system's clock.
  public static let systemTime: @Sendable () -> Timestamp = {
    Timestamp(secondsSinceReferenceDate: Date().timeIntervalSinceReferenceDate)
  }

  /// The device called `name`: the same one for the same name, online.
  ///
  /// - Parameter account: the account to sign in as; `nil` leaves a known device as it is and a
  ///   new one signed out.
  public func device(_ name: String, signedInAs account: String? = nil) -> LoopbackDevice {
    let (state, isNew) = post.device(DeviceKey(name: name, visitor: nil), account: account)
    let device = devices.withLock { devices in
      if let device = devices[name]?.device { return device }
      let device = LoopbackDevice(state: state, office: office)
      devices[name] = WeakDevice(device: device)
      return device
    }
    if !isNew, let account { device.signIn(as: account) }
    return device
  }

  /// Ends the server: held requests and all later ones end in `networkFailure`, a file is closed.
  ///
  /// A second call does nothing.
  public func close() {
    let watches = watches.withLock { watches in
      defer { watches = [] }
      return watches
    }
    for watch in watches { watch.cancel() }
    controls.close()
    room.close()
    controls.events.close()
  }
}
