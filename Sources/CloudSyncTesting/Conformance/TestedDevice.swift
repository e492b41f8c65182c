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
    /// The reason why the app could not be crashed.
    var failure: (any Error)?
  }

  private struct Contents {
    var folder: DeviceFolder
    var app: (any ConformingApp)?
    var launch: Launch?
    var plan = CrashPlan()
    /// Whether this launch has asked for all zones, without a token of an earlier fetch.
    var fetchedFromBeginning = false
    /// Whether the present sync failed, sent a change, or received one.
    var isBusy = false
    /// The number of polls without a reply.
    var unanswered = 0

    mutating func note(_ step: LaunchStep) {
      switch step {
      case .beforeRequest(let request):
        if case .fetchDatabaseChanges(let fetch) = request, fetch.since == nil {
          fetchedFromBeginning = true
        }
        if request.isPoll { unanswered += 1 } else { isBusy = true }
      case .beforeAnswer(let request):
        if request.isPoll { unanswered = max(0, unanswered - 1) }
      case .beforeCallback(let name):
        if !TestedDevice.idleCallbacks.contains(name) { isBusy = true }
      case .afterCallback: break
      }
    }
  }

  /// The delegate calls of a sync that finds and sends nothing.
  private static let idleCallbacks: Set = [
    "stateUpdate", "willFetchChanges", "didFetchChanges", "willSendChanges", "didSendChanges",
  ]

  let link: LoopbackDevice
  /// The delegate calls of all launches.
  let events = RecordedEvents(keepingTexts: false)
  private let trial: ConformanceTrial
  private let contents: Mutex<Contents>

  init(_ name: String, account: String?, in trial: ConformanceTrial) async throws {
    self.trial = trial
    link = trial.cloud.server.device(name, signedInAs: account)
    contents = Mutex(Contents(folder: try DeviceFolder()))
    try await start()
  }

  deinit { contents.withLock { $0.launch }?.end() }

  var plan: CrashPlan { contents.withLock { $0.plan } }

  /// Whether the running launch has fetched all zones, as without a saved state.
  var fetchedFromBeginning: Bool { contents.withLock { $0.fetchedFromBeginning } }

  /// The number of requests of this device that could change items on the server.
  var changeCount: Int {
    [RequestKind.modifyRecords, .modifyZones].map { kind in
      trial.cloud.server.controls.requestCount(in: RequestScope(kind: kind, device: link.name))
    }.reduce(0, +)
  }

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
    let cloud = trial.cloud
    let folder = contents.withLock { $0.folder }
    let launch = Launch(
      RefusingTransport(link, device: link.name, book: cloud.refusals), folder: folder,
      events: events,
      step: { [weak self] step in self?.reached(step) })
    contents.withLock { contents in
      contents.launch = launch
      contents.fetchedFromBeginning = false
    }
    let app = try await trial.suite.launch(
      AppSurroundings(
        device: link.name, folder: folder.url,
        container: CKContainer(
          identifier: cloud.containerIdentifier, transport: launch, interception: launch,
          clock: cloud.clock),
        clock: cloud.clock))
    contents.withLock { $0.app = app }
    await trial.executor.settle()
  }

  private func reached(_ step: LaunchStep) {
    let launch: Launch? = contents.withLock { contents in
      contents.note(step)
      defer { contents.plan.steps += 1 }
      guard contents.plan.crashAt == contents.plan.steps, contents.plan.wreck == nil else {
        return nil
      }
      do {
        contents.plan.wreck = try DeviceFolder(copying: contents.folder.url)
      } catch {
        contents.plan.failure = error
        return nil
      }
      contents.plan.crashedIn = step.text
      return contents.launch
    }
    guard let launch else { return }
    launch.end()
    trial.noteCrash()
  }

  /// Ends the app between two steps, and launches it again.
  func relaunch() async throws {
    let (launch, folder) = contents.withLock { ($0.launch, $0.folder) }
    // Before the copy: an app that has ended gets no more to write.
    launch?.end()
    end(try DeviceFolder(copying: folder.url))
    try await start()
  }

  /// Launches the app again when it crashed.
  ///
  /// - Returns: whether it crashed.
  /// - Throws: the reason why it could not be crashed.
  @discardableResult
  func recover() async throws -> Bool {
    let plan = plan
    if let failure = plan.failure { throw failure }
    guard let wreck = plan.wreck, launchHasEnded else { return false }
    end(wreck)
    try await start()
    return true
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
    let (app, launch) = contents.withLock { ($0.app, $0.launch) }
    if let problem = launch?.problem { throw problem }
    guard let app else {
      throw DeviceError("The app on \(link.name) could not be launched.")
    }
    return app
  }

  func write(_ text: String, as name: String) async throws {
    try await running().write(text, as: name)
    await trial.executor.settle()
  }

  func delete(_ name: String) async throws {
    try await running().delete(name)
    await trial.executor.settle()
  }

  /// The items that the user sees.
  func items() async throws -> [String: String] { try await running().items }

  /// One sync; what it throws is the app's business, and explains what the trial finds.
  func sync() async throws {
    let app = try running()
    let call = SyncCall()
    contents.withLock { ($0.isBusy, $0.unanswered) = (false, 0) }
    var failure: (any Error)?
    do {
      try await SyncCall.$current.withValue(call) { try await app.sync() }
    } catch {
      failure = error
      contents.withLock { $0.isBusy = true }
      trial.cloud.clock.advance(by: .seconds(30))
    }
    await trial.executor.settle()
    if call.hasSlept { throw SyncCall.error }
    trial.noteSync(on: link.name, failure)
  }

  /// Syncs until a sync finds and sends nothing, three times at most.
  func settle() async throws {
    for _ in 0..<3 {
      try await sync()
      guard contents.withLock({ $0.isBusy || $0.unanswered > 0 }) else { return }
    }
  }
}

extension CloudRequest {
  /// Whether the request only asks who is signed in, or whether something changed.
  fileprivate var isPoll: Bool {
    [RequestKind.fetchCurrentUser, .fetchDatabaseChanges].contains(RequestKind(self))
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
