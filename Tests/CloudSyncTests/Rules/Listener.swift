import CloudSync
import LoopbackServer
import Synchronization

/// A delegate that writes down what it is told, and does with it what its test says.
final class Listener: CKSyncEngineDelegate {
  struct Contents {
    /// The kinds of events, and reasons or users where they have some.
    var told: [String] = []
    var state: CKSyncEngine.State.Serialization?
    /// The number of running callbacks, and their largest number so far.
    var running = 0
    var mostRunning = 0
    var waiting: [(condition: @Sendable (Contents) -> Bool, CheckedContinuation<Void, Never>)] = []
  }

  let contents = Mutex(Contents())
  private let onEvent: @Sendable (CKSyncEngine.Event, CKSyncEngine) async -> Void

  init(
    _ onEvent: @escaping @Sendable (CKSyncEngine.Event, CKSyncEngine) async -> Void = { _, _ in }
  ) {
    self.onEvent = onEvent
  }

  /// An engine on a device of `server` that tells this delegate.
  func engine(
    _ server: LoopbackServer, account: String? = "alice", automatically: Bool = false,
    subscription: String? = nil
  ) -> CKSyncEngine {
    let device = server.device("phone", signedInAs: account)
    let container = CKContainer(identifier: NotesApp.container, transport: device)
    var configuration = CKSyncEngine.Configuration(
      database: container.privateCloudDatabase,
      stateSerialization: contents.withLock { $0.state }, delegate: self)
    configuration.automaticallySync = automatically
    configuration.subscriptionID = subscription
    configuration.clock = LeapingClock()
    return CKSyncEngine(configuration)
  }

  var told: [String] { contents.withLock { $0.told } }

  /// Returns once something of this kind was told, also before the call.
  func wait(for word: String) async {
    await wait { $0.told.contains { $0.hasPrefix(word) } }
  }

  /// Returns once `condition` holds; it is looked at after every event.
  func wait(until condition: @escaping @Sendable (Contents) -> Bool) async {
    await withCheckedContinuation { continuation in
      let holds = contents.withLock { contents in
        if condition(contents) { return true }
        contents.waiting.append((condition, continuation))
        return false
      }
      if holds { continuation.resume() }
    }
  }

  private func enter() {
    contents.withLock { contents in
      contents.running += 1
      contents.mostRunning = max(contents.mostRunning, contents.running)
    }
  }

  private func leave() { contents.withLock { $0.running -= 1 } }

  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    enter()
    await onEvent(event, syncEngine)
    // Others get a chance to come in between, if anything lets them.
    for _ in 0..<20 { await Task.yield() }
    let word = Listener.word(event)
    let ready = contents.withLock { contents in
      if case .stateUpdate(let update) = event { contents.state = update.stateSerialization }
      contents.told.append(word)
      let seen = contents
      contents.waiting.removeAll { $0.condition(seen) }
      return seen.waiting.filter { $0.condition(seen) }
    }
    for waiter in ready { waiter.1.resume() }
    leave()
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    enter()
    defer { leave() }
    let pending = syncEngine.state.pendingRecordZoneChanges.filter(context.options.scope.contains)
    return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: pending) {
      CKRecord(recordType: "Note", recordID: $0)
    }
  }

  private static func word(_ event: CKSyncEngine.Event) -> String {
    switch event {
    case .stateUpdate: "stateUpdate"
    case .accountChange(let change):
      switch change.changeType {
      case .signIn(let user): "signIn \(user.recordName)"
      case .signOut(let user): "signOut \(user.recordName)"
      case .switchAccounts(let old, let new): "switch \(old.recordName) \(new.recordName)"
      @unknown default: "accountChange"
      }
    case .fetchedDatabaseChanges: "zones"
    case .fetchedRecordZoneChanges: "records"
    case .sentDatabaseChanges: "sentZones"
    case .sentRecordZoneChanges(let sent):
      "sent \(sent.savedRecords.count) \(sent.failedRecordSaves.map(\.error.code.rawValue))"
    case .willFetchChanges(let will): "willFetch \(will.context.reason)"
    case .willFetchRecordZoneChanges(let will): "willFetchZone \(will.zoneID.zoneName)"
    case .didFetchRecordZoneChanges(let did): "didFetchZone \(did.zoneID.zoneName)"
    case .didFetchChanges(let did): "didFetch \(did.context.reason)"
    case .willSendChanges(let will): "willSend \(will.context.reason)"
    case .didSendChanges(let did): "didSend \(did.context.reason)"
    @unknown default: "something new"
    }
  }
}
