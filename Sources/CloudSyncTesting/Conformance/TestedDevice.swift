import CloudProtocol
import CloudSync
import LoopbackServer
import Synchronization

/// A device on which an app is put through its paces: launched, crashed and launched again.
final class TestedDevice: Sendable {
  /// Ends the app when a number of steps was reached.
  struct CrashPlan: Sendable {
    var steps = 0
    var crashAt: Int?
    var crashedIn: String?
    /// The content of the folder at the time of the crash.
    var wreck: DeviceFolder?
  }

  private struct Contents {
    var folder: DeviceFolder
    var app: (any ConformingApp)?
    var launch: Launch?
    var plan = CrashPlan()
    /// Whether this launch has asked for all zones, without a token of an earlier fetch.
    var fetchedFromBeginning = false
  }

  let link: LoopbackDevice
  let cloud: SimulatedCloud
  /// The delegate calls of all launches.
  let events = RecordedEvents()
  private let executor: SerialTaskExecutor
  private let launchApp: @Sendable (AppSurroundings) async throws -> any ConformingApp
  private let contents: Mutex<Contents>

  init(
    _ name: String, in cloud: SimulatedCloud, account: String?, executor: SerialTaskExecutor,
    launchApp: @escaping @Sendable (AppSurroundings) async throws -> any ConformingApp
  ) async throws {
    self.cloud = cloud
    self.executor = executor
    self.launchApp = launchApp
    link = cloud.server.device(name, signedInAs: account)
    contents = Mutex(Contents(folder: try DeviceFolder()))
    try await start()
  }

  deinit { contents.withLock { $0.launch }?.end() }

  var plan: CrashPlan { contents.withLock { $0.plan } }

  /// Whether the running launch has fetched all zones, as without a saved state.
  var fetchedFromBeginning: Bool { contents.withLock { $0.fetchedFromBeginning } }

  /// Whether a save failed with `code` and the app never sent that record again.
  func ignoredFailure(_ code: CKError.Code) -> Bool {
    var failed: Set<CKRecord.ID> = []
    for callback in events.all {
      for record in callback.batch?.recordsToSave ?? [] { failed.remove(record.recordID) }
      guard case .sentRecordZoneChanges(let sent) = callback.event else { continue }
      for failure in sent.failedRecordSaves where failure.error.code == code {
        failed.insert(failure.record.recordID)
      }
    }
    return !failed.isEmpty
  }

  /// Lets the app crash at the step of this number, counted from 0 and from now.
  func plan(crashAt step: Int?) {
    contents.withLock { $0.plan = CrashPlan(crashAt: step) }
  }

  private func start() async throws {
    let folder = contents.withLock { $0.folder }
    let launch = Launch(
      RefusingTransport(link, device: link.name, book: cloud.refusals), folder: folder,
      events: events,
      step: { [weak self] step in self?.reached(step) })
    contents.withLock { contents in
      contents.launch = launch
      contents.fetchedFromBeginning = false
    }
    let app = try await launchApp(
      AppSurroundings(
        device: link.name, folder: folder.url,
        container: CKContainer(
          identifier: cloud.containerIdentifier, transport: launch, interception: launch,
          clock: cloud.clock),
        clock: cloud.clock))
    contents.withLock { $0.app = app }
    await executor.settle()
  }

  private func reached(_ step: LaunchStep) {
    let launch: Launch? = contents.withLock { contents in
      if case .beforeRequest(.fetchDatabaseChanges(let request)) = step, request.since == nil {
        contents.fetchedFromBeginning = true
      }
      defer { contents.plan.steps += 1 }
      guard contents.plan.crashAt == contents.plan.steps, contents.plan.wreck == nil,
        let wreck = try? DeviceFolder(copying: contents.folder.url)
      else { return nil }
      contents.plan.wreck = wreck
      contents.plan.crashedIn = step.text
      return contents.launch
    }
    launch?.end()
  }

  /// Ends the app between two steps, and launches it again.
  func relaunch() async throws {
    try end(DeviceFolder(copying: contents.withLock { $0.folder.url }))
    try await start()
  }

  /// Launches the app again when it crashed.
  func recover() async throws {
    guard let wreck = contents.withLock({ $0.plan.wreck }), launchHasEnded else { return }
    end(wreck)
    try await start()
  }

  /// Does what a user does, and once more when the app crashed before it was done.
  func surely(_ body: () async throws -> Void) async throws {
    try await recover()
    do { try await body() } catch { guard launchHasEnded else { throw error } }
    guard launchHasEnded else { return }
    try await recover()
    try await body()
  }

  private var launchHasEnded: Bool { contents.withLock { $0.launch?.hasEnded ?? false } }

  private func end(_ folder: DeviceFolder) {
    let old = contents.withLock { contents in
      defer {
        contents.app = nil
        contents.folder = folder
      }
      return (contents.launch, contents.app)
    }
    old.0?.end()
  }

  private func running() throws -> any ConformingApp {
    guard let app = contents.withLock({ $0.app }) else {
      throw DeviceError("The app on \(link.name) could not be launched.")
    }
    return app
  }

  func write(_ text: String, as name: String) async throws {
    try await running().write(text, as: name)
    await executor.settle()
  }

  func delete(_ name: String) async throws {
    try await running().delete(name)
    await executor.settle()
  }

  /// The items that the user sees.
  func items() async throws -> [String: String] { try await running().items }

  /// One sync; what it throws is the app's business.
  func sync() async throws {
    let app = try running()
    do { try await app.sync() } catch { cloud.clock.advance(by: .seconds(30)) }
    await executor.settle()
  }

  /// Syncs until nothing more can come of it.
  func settle() async throws {
    for _ in 0..<3 { try await sync() }
  }
}

extension LaunchStep {
  fileprivate var text: String {
    switch self {
    case .beforeCallback(let name): "before \(name) was delivered"
    case .afterCallback(let name): "after \(name) was delivered"
    case .beforeRequest(let request): "before \(request.name) left"
    case .beforeAnswer(let request): "before the answer to \(request.name)"
    }
  }
}
