import CloudProtocol
import CloudSync
import Synchronization

/// A step of a launch at which the app can be inspected or terminated.
enum LaunchStep: Sendable {
  /// Before a delegate call.
  case beforeCallback(String)
  /// After a delegate call.
  case afterCallback(String)
  /// Before a request is sent.
  case beforeRequest(CloudRequest)
  /// After the server has answered a request, before its reply arrives.
  case beforeAnswer(CloudRequest)
}

/// One launch of an app: its transport and its delegate calls.
///
/// After its end no request or call passes through it, as if its process had been terminated.
final class Launch: CloudTransport, DelegateInterception {
  private struct Contents {
    var hasEnded = false
    var engines: [WeakEngine] = []
    var problem: DeviceError?
  }

  private struct WeakEngine { weak var value: CKSyncEngine? }

  private let base: any CloudTransport
  let events: RecordedEvents
  /// The app's directory, which exists as long as this launch can write to it.
  let folder: DeviceFolder
  private let keepState: @Sendable (CKSyncEngine.State.Serialization) -> Void
  private let step: @Sendable (LaunchStep) -> Void
  private let contents = Mutex(Contents())

  init(
    _ base: any CloudTransport, folder: DeviceFolder, events: RecordedEvents,
    keepState: @escaping @Sendable (CKSyncEngine.State.Serialization) -> Void = { _ in },
    step: @escaping @Sendable (LaunchStep) -> Void = { _ in }
  ) {
    self.base = base
    self.folder = folder
    self.events = events
    self.keepState = keepState
    self.step = step
  }

  var hasEnded: Bool { contents.withLock { $0.hasEnded } }

  /// The mistake of the app that makes its results worthless; `nil` if there is none.
  var problem: DeviceError? { contents.withLock { $0.problem } }

  /// Remembers an engine; two that exist at once for one database would overwrite each other.
  func note(_ engine: CKSyncEngine) {
    contents.withLock { contents in
      let others = contents.engines.compactMap(\.value).filter { $0 !== engine }
      if others.contains(where: { $0.database === engine.database }) {
        contents.problem = DeviceError(
          "Two sync engines of this app sync \(engine.database) at once, each with its own state. "
            + "Keep one engine for each database, and release it before creating another.")
      }
      contents.engines = others.map { WeakEngine(value: $0) } + [WeakEngine(value: engine)]
    }
  }

  func end() { contents.withLock { $0.hasEnded = true } }

  /// Keeps a state that the delegate has handled, unless the launch has ended.
  fileprivate func keep(_ state: CKSyncEngine.State.Serialization) {
    // Under the lock: an older launch must not replace the state of the next one.
    contents.withLock { if !$0.hasEnded { keepState(state) } }
  }

  func reach(_ step: LaunchStep) {
    if !hasEnded { self.step(step) }
  }

  func interpose(before delegate: any CKSyncEngineDelegate) -> any CKSyncEngineDelegate {
    RecordingDelegate(delegate, self)
  }

  func send(_ call: CloudCall) async throws(CloudError) -> CloudReply {
    reach(.beforeRequest(call.request))
    try checkAlive()
    let reply = try await base.send(call)
    reach(.beforeAnswer(call.request))
    try checkAlive()
    return reply
  }

  private func checkAlive() throws(CloudError) {
    if hasEnded { throw CloudError(.networkUnavailable, "this launch of the app has ended") }
  }

  func observeSignals(
    _ listener: @escaping @Sendable (CloudSignal) -> Void
  ) -> any SignalObservation {
    base.observeSignals { [weak self] signal in
      if self?.hasEnded == false { listener(signal) }
    }
  }
}

/// Forwards and records the delegate calls of an engine until its launch ends.
///
/// It does not retain the delegate: if the app does not either, its engine stops, as anywhere else.
private final class RecordingDelegate: CKSyncEngineDelegate {
  /// Set by the initializer alone; a weak reference has to be a variable for Swift 6.2.
  private nonisolated(unsafe) weak var delegate: (any CKSyncEngineDelegate)?
  private let launch: Launch

  init(_ delegate: any CKSyncEngineDelegate, _ launch: Launch) {
    self.delegate = delegate
    self.launch = launch
  }

  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    let name = event.name
    launch.reach(.beforeCallback(name))
    guard !launch.hasEnded else { return }
    launch.note(syncEngine)
    await delegate?.handleEvent(event, syncEngine: syncEngine)
    guard !launch.hasEnded else { return }
    // Not before: a test that waits for the event then examines what the app made of it.
    launch.events.note(event)
    launch.reach(.afterCallback(name))
    if case .stateUpdate(let update) = event { launch.keep(update.stateSerialization) }
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    launch.reach(.beforeCallback("batch"))
    guard !launch.hasEnded else { return nil }
    let batch = await delegate?.nextRecordZoneChangeBatch(context, syncEngine: syncEngine)
    launch.reach(.afterCallback("batch"))
    guard !launch.hasEnded else { return nil }
    launch.events.note(batch, context)
    return batch
  }

  func nextFetchChangesOptions(
    _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.FetchChangesOptions {
    guard !launch.hasEnded, let delegate else { return context.options }
    return await delegate.nextFetchChangesOptions(context, syncEngine: syncEngine)
  }
}
