import CloudProtocol
import CloudSync
import Synchronization

/// A moment in the life of an app at which it can be looked at, or end.
enum LaunchStep: Sendable {
  /// The delegate is about to be told of something.
  case beforeCallback(String)
  /// The delegate has been told.
  case afterCallback(String)
  /// A request is about to leave.
  case beforeRequest(CloudRequest)
  /// The server answered a request, and the answer has not arrived.
  case beforeAnswer(CloudRequest)
}

/// One launch of an app: the way to the server while it lives, and what its engines tell it.
///
/// When it ends, nothing leaves it any more and nothing reaches it, as if its process were gone.
final class Launch: CloudTransport, DelegateInterception {
  private struct Contents {
    var hasEnded = false
    var delegates: [RecordingDelegate] = []
  }

  private let base: any CloudTransport
  let events: RecordedEvents
  let keepState: @Sendable (CKSyncEngine.State.Serialization) -> Void
  private let step: @Sendable (LaunchStep) -> Void
  private let contents = Mutex(Contents())

  init(
    _ base: any CloudTransport, events: RecordedEvents,
    keepState: @escaping @Sendable (CKSyncEngine.State.Serialization) -> Void = { _ in },
    step: @escaping @Sendable (LaunchStep) -> Void = { _ in }
  ) {
    self.base = base
    self.events = events
    self.keepState = keepState
    self.step = step
  }

  var hasEnded: Bool { contents.withLock { $0.hasEnded } }

  func end() {
    // The delegates go outside of the lock: they may be the last to hold the app.
    let delegates = contents.withLock { contents in
      contents.hasEnded = true
      defer { contents.delegates = [] }
      return contents.delegates
    }
    withExtendedLifetime(delegates) {}
  }

  func reach(_ step: LaunchStep) {
    if !hasEnded { self.step(step) }
  }

  func interpose(before delegate: any CKSyncEngineDelegate) -> any CKSyncEngineDelegate {
    let tapped = RecordingDelegate(delegate, self)
    contents.withLock { $0.delegates.append(tapped) }
    return tapped
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

/// Passes on what an engine tells its delegate, notes it, and falls silent with its launch.
private final class RecordingDelegate: CKSyncEngineDelegate {
  private let delegate: any CKSyncEngineDelegate
  private let launch: Launch

  init(_ delegate: any CKSyncEngineDelegate, _ launch: Launch) {
    self.delegate = delegate
    self.launch = launch
  }

  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    let name = event.name
    launch.reach(.beforeCallback(name))
    guard !launch.hasEnded else { return }
    launch.events.note(event)
    await delegate.handleEvent(event, syncEngine: syncEngine)
    launch.reach(.afterCallback(name))
    guard !launch.hasEnded, case .stateUpdate(let update) = event else { return }
    launch.keepState(update.stateSerialization)
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    launch.reach(.beforeCallback("batch"))
    guard !launch.hasEnded else { return nil }
    let batch = await delegate.nextRecordZoneChangeBatch(context, syncEngine: syncEngine)
    launch.reach(.afterCallback("batch"))
    guard !launch.hasEnded else { return nil }
    launch.events.note(batch, context)
    return batch
  }

  func nextFetchChangesOptions(
    _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.FetchChangesOptions {
    guard !launch.hasEnded else { return context.options }
    return await delegate.nextFetchChangesOptions(context, syncEngine: syncEngine)
  }
}
