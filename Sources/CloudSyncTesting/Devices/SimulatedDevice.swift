public import CloudSync
public import Foundation
public import LoopbackServer
import Synchronization

/// A device of an account: an app on it with its engine and its folder, which can crash, start
/// again, lose the network and change its account.
///
/// Made by `SimulatedCloud.device(_:signedInAs:automaticallySync:app:)` for a delegate, whose
/// engine the device makes and whose state it keeps, and by
/// `SimulatedCloud.launch(on:signedInAs:app:)` for an app that does both itself. Nothing
/// happens by itself unless automatic sync is on. May be used from any thread.
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

  /// The cloud the device belongs to.
  public let cloud: SimulatedCloud

  /// The device's way to the server: its account and its network.
  public let link: LoopbackDevice

  /// What the engine told the app on this device, over all launches.
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
    self.cloud = cloud
    self.launchApp = launchApp
    self.makeEngine = makeEngine
    link = cloud.server.device(name, signedInAs: account)
    contents = Mutex(Contents(folder: try DeviceFolder()))
    try start()
  }

  deinit { contents.withLock { $0.running }?.launch.end() }

  /// The device's name, unique in its cloud.
  public var name: String { link.name }

  /// The app's folder; another one after each crash, with the same content.
  public var folder: URL { contents.withLock { $0.folder.url } }

  /// The app that runs.
  /// - Throws: `DeviceError` after a crash, until the device is restarted.
  public var app: App {
    get throws { try running().app }
  }

  /// The engine that runs.
  /// - Throws: `DeviceError` after a crash, and where the app makes its engine itself.
  public var engine: CKSyncEngine {
    get throws {
      guard let engine = try running().engine else {
        throw DeviceError("The app on \(name) makes its engine itself; ask it, not the device.")
      }
      return engine
    }
  }

  /// The state the engine told of last, which the next launch begins with.
  public var savedState: CKSyncEngine.State.Serialization? { contents.withLock { $0.state } }

  /// Whether the device has a network.
  public var isOnline: Bool {
    get { link.isOnline }
    set { link.isOnline = newValue }
  }

  /// Ends the app without a word, as a crash or a power cut does.
  ///
  /// What is in its folder stays, and the state of the last `stateUpdate` that its delegate took in
  /// whole. What was in memory is lost.
  public func crash() throws {
    let running = contents.withLock { contents in
      defer { contents.running = nil }
      return contents.running
    }
    guard let running else { return }
    running.launch.end()
    // What the old launch still writes goes to a folder that nobody reads any more.
    let copy = try DeviceFolder(copying: folder)
    contents.withLock { $0.folder = copy }
  }

  /// Launches the app again, after a crash or in place of one.
  public func restart() throws {
    try crash()
    try start()
  }

  private func start() throws {
    let (folder, state) = contents.withLock { ($0.folder.url, $0.state) }
    let launch = Launch(
      RefusingTransport(link, device: name, book: cloud.refusals), events: events,
      keepState: { [weak self] state in self?.contents.withLock { $0.state = state } })
    let surroundings = AppSurroundings(
      device: name, folder: folder,
      container: CKContainer(
        identifier: cloud.containerIdentifier, transport: launch, interception: launch),
      clock: cloud.clock)
    let app = try launchApp(surroundings)
    let engine = makeEngine(app, surroundings, state)
    contents.withLock { $0.running = Running(app: app, engine: engine, launch: launch) }
  }

  private func running() throws(DeviceError) -> Running {
    guard let running = contents.withLock({ $0.running }) else {
      throw DeviceError("The app on \(name) does not run; restart the device first.")
    }
    return running
  }

  /// Fetches and sends, again and again until nothing waits any more.
  ///
  /// A round that failed is followed by another, because delegates put things right when they are
  /// told. The clock is not moved.
  /// - Parameter rounds: the most rounds.
  /// - Throws: the error of the last round when that failed, `DeviceError` when changes still wait.
  public func sync(rounds: Int = 10) async throws {
    let engine = try engine
    var failure: (any Error)?
    for _ in 0..<max(1, rounds) {
      failure = nil
      do {
        try await engine.fetchChanges()
        try await engine.sendChanges()
      } catch {
        failure = error
      }
      if failure == nil, waitingCount(engine) == 0 { return }
    }
    if let failure { throw failure }
    throw DeviceError(
      "After \(rounds) rounds of sync, \(CanonicalText.count(waitingCount(engine), "change")) "
        + "still wait on \(name).")
  }

  private func waitingCount(_ engine: CKSyncEngine) -> Int {
    engine.state.pendingRecordZoneChanges.count + engine.state.pendingDatabaseChanges.count
  }
}

/// Why a simulated device could not do what a test asked of it.
public struct DeviceError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What happened and what to do.
  public let message: String

  init(_ message: String) { self.message = message }

  /// The message.
  public var description: String { message }
}
