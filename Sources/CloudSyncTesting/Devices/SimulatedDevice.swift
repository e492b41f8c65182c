public import CloudSync
public import Foundation
public import LoopbackServer
import Synchronization

/// A simulated device: an app with its engine and its directory, which can crash, restart, lose the
/// network and change its account.
///
/// `SimulatedCloud.device(_:signedInAs:automaticallySync:app:)` creates one for a delegate; the
/// device then creates the engine and stores its state. `SimulatedCloud.launch(on:signedInAs:app:)`
/// creates one for an app that does both itself. Nothing happens automatically unless automatic
/// sync is on. It can be used from any thread.
public final class SimulatedDevice<App: Sendable>: Sendable {
  private struct Running {
    var app: App
    var engine: CKSyncEngine?
    var launch: Launch
  }

  private struct Contents {
    var folder: DeviceFolder
    var running: Running?
    var state: CKSyncEngine.State.Serialization?
  }

  /// The cloud that the device syncs with; it injects faults and shows the server's contents.
  public let cloud: SimulatedCloud

  /// The device on the server: its account and its network.
  public let link: LoopbackDevice

  /// The recorded callbacks of all launches on this device.
  public let events = RecordedEvents()

  private let contents: Mutex<Contents>
  private let launchApp: @Sendable (AppSurroundings) throws -> App
  private let makeEngine:
    @Sendable (App, AppSurroundings, CKSyncEngine.State.Serialization?) -> CKSyncEngine?

  init(
    _ name: String, in cloud: SimulatedCloud, account: String?,
    launchApp: @escaping @Sendable (AppSurroundings) throws -> App,
    makeEngine:
      @escaping @Sendable (App, AppSurroundings, CKSyncEngine.State.Serialization?)
      -> CKSyncEngine?
  ) throws {
    guard cloud.deviceNames.withLock({ $0.insert(name).inserted }) else {
      throw DeviceError(
        "This cloud already has a device \"\(name)\", with a state of its own. Give each device "
          + "another name, or restart the first one.")
    }
    self.cloud = cloud
    self.launchApp = launchApp
    self.makeEngine = makeEngine
    let link = cloud.server.device(name, signedInAs: account)
    // The server remembers an earlier device of this name.
    if account == nil { link.signOut() }
    link.setAvailability(.available)
    link.isOnline = true
    self.link = link
    if let account { cloud.deviceAccounts.withLock { _ = $0.insert(account) } }
    contents = Mutex(Contents(folder: try DeviceFolder()))
    try start()
  }

  deinit {
    contents.withLock { $0.running }?.launch.end()
    let name = link.name
    cloud.deviceNames.withLock { _ = $0.remove(name) }
  }

  /// The device's name, unique in its cloud.
  public var name: String { link.name }

  /// The app's directory; after each crash a new one with the same content.
  public var folder: URL { contents.withLock { $0.folder.url } }

  /// The running app.
  /// - Throws: `DeviceError` after a crash, until the device is restarted.
  public var app: App {
    get throws { try running().app }
  }

  /// The running engine.
  /// - Throws: `DeviceError` after a crash, and if the app creates its engine itself.
  public var engine: CKSyncEngine {
    get throws {
      guard let engine = try running().engine else {
        throw DeviceError("The app on \(name) creates its engine itself; use that engine.")
      }
      return engine
    }
  }

  /// The state of the last `stateUpdate`, with which the next launch starts.
  public var savedState: CKSyncEngine.State.Serialization? { contents.withLock { $0.state } }

  /// Whether the device has a network connection.
  public var isOnline: Bool {
    get { link.isOnline }
    set { link.isOnline = newValue }
  }

  /// Terminates the app without notice, like a crash.
  ///
  /// The content of its directory is kept, also what was written and not synchronized, which a
  /// power failure could lose, and the state of the last `stateUpdate` that its delegate handled
  /// completely. The content of its memory is lost.
  public func crash() throws {
    let running = contents.withLock { contents in
      defer { contents.running = nil }
      return contents.running
    }
    guard let running else { return }
    running.launch.end()
    // The old launch may still write to its directory, which is removed with it.
    let copy = try DeviceFolder(copying: folder)
    contents.withLock { $0.folder = copy }
  }

  /// Restarts the app, after a crash or from a running state.
  public func restart() throws {
    try crash()
    try start()
  }

  private func start() throws {
    let (folder, state) = contents.withLock { ($0.folder, $0.state) }
    let launch = Launch(
      RefusingTransport(link, device: name, book: cloud.refusals), folder: folder, events: events,
      keepState: { [weak self] state in self?.contents.withLock { $0.state = state } })
    let surroundings = AppSurroundings(
      device: name, folder: folder.url,
      container: CKContainer(
        identifier: cloud.containerIdentifier, transport: launch, interception: launch,
        clock: cloud.clock),
      clock: cloud.clock)
    let app = try launchApp(surroundings)
    let engine = makeEngine(app, surroundings, state)
    contents.withLock { $0.running = Running(app: app, engine: engine, launch: launch) }
  }

  private func running() throws(DeviceError) -> Running {
    guard let running = contents.withLock({ $0.running }) else {
      throw DeviceError("The app on \(name) is not running; restart the device first.")
    }
    if let problem = running.launch.problem { throw problem }
    return running
  }

  /// Fetches and sends repeatedly until no change is pending.
  ///
  /// A failed round is followed by another, since delegates correct errors when they handle the
  /// results. The clock is not moved. A change that the server refused and that is not pending
  /// any more is an error, unless a conflict or a removal of the item or its zone explains it.
  /// - Parameter rounds: the maximum number of rounds.
  /// - Throws: the error of the last round if it failed, `DeviceError` if changes are still
  ///   pending or were dropped.
  public func sync(rounds: Int = 10) async throws {
    let engine = try engine
    let start = events.all.count
    var failure: (any Error)?
    for _ in 0..<max(1, rounds) {
      failure = nil
      do {
        try await engine.fetchChanges()
        try await engine.sendChanges()
      } catch {
        failure = error
      }
      if failure == nil, waitingCount(engine) == 0 {
        return try checkDroppedChanges(events.all.dropFirst(start))
      }
    }
    if let failure { throw failure }
    throw DeviceError(
      "After \(rounds) rounds of sync, \(CanonicalText.count(waitingCount(engine), "change")) "
        + "still wait on \(name).")
  }

  private func checkDroppedChanges(_ calls: ArraySlice<RecordedCallback>) throws {
    var dropped = DroppedChanges()
    for event in calls.compactMap(\.event) { dropped.note(event) }
    guard let text = dropped.text else { return }
    throw DeviceError(
      "The server refused changes of \(name), and they are not pending any more: \(text). Add them "
        + "again when handling sentRecordZoneChanges or sentDatabaseChanges; after zoneNotFound "
        + "also save the zone.")
  }

  private func waitingCount(_ engine: CKSyncEngine) -> Int {
    engine.state.pendingRecordZoneChanges.count + engine.state.pendingDatabaseChanges.count
  }
}

/// An error that reports why a step of a test could not be carried out.
public struct DeviceError: Error, Hashable, Sendable, CustomStringConvertible, LocalizedError {
  /// A description of the problem and its remedy.
  public let message: String

  init(_ message: String) { self.message = message }

  /// The message.
  public var description: String { message }

  /// The message.
  public var errorDescription: String? { message }
}
