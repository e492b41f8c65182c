import CloudProtocol
import CloudSync
import LoopbackServer
import Records
import Synchronization
import Testing

/// Rules of the engine's types, of its callbacks and of its two modes.
@Suite("Rules of the engine", .timeLimit(.minutes(20)))
struct EngineSurfaceTests {
  private let server = LoopbackServer()
  private static let zone = NotesApp.zone

  /// Proves CE-4, CE-5.
  @Test("Default configurations, options and batches have the documented values")
  func defaultValuesMatchDocumentation() {
    let listener = Listener()
    let database = CKContainer(identifier: "iCloud.rules").privateCloudDatabase
    let configuration = CKSyncEngine.Configuration(
      database: database, stateSerialization: nil, delegate: listener)
    #expect(configuration.automaticallySync && configuration.subscriptionID == nil)
    #expect(configuration.database === database && configuration.stateSerialization == nil)
    let fetch = CKSyncEngine.FetchChangesOptions()
    let send = CKSyncEngine.SendChangesOptions()
    #expect(fetch.scope == .all && send.scope == .all && fetch.prioritizedZoneIDs.isEmpty)
    #expect(fetch.operationGroup !== CKSyncEngine.FetchChangesOptions().operationGroup)
    #expect(send.operationGroup !== CKSyncEngine.SendChangesOptions().operationGroup)
    let group = CKOperationGroup()
    #expect(CKSyncEngine.FetchChangesOptions(operationGroup: group).operationGroup === group)
    #expect(CKSyncEngine.SendChangesOptions(operationGroup: group).operationGroup === group)
  }

  /// Proves CE-10.
  @Test("The older purged property still reports whether a zone was purged")
  func purgedFlagMatchesDeletionReason() {
    typealias Deletion = CKDatabase.DatabaseChange.Deletion
    let reasons: [(Deletion.Reason, Bool)] = [
      (.deleted, false), (.purged, true), (.encryptedDataReset, false),
    ]
    for (reason, isPurged) in reasons {
      let deletion = Deletion(zoneID: EngineSurfaceTests.zone.zoneID, reason: reason)
      #expect(deletion.purged == isPurged && deletion.reason == reason, "\(reason)")
    }
  }

  /// Proves CE-12, CE-13, I14.
  @Test("Callbacks run one at a time, and all before the call that caused them returns")
  func callbacksRunSeriallyBeforeCallReturns() async throws {
    let listener = Listener()
    let engine = listener.engine(server)
    engine.state.add(pendingDatabaseChanges: [.saveZone(EngineSurfaceTests.zone)])
    engine.state.add(
      pendingRecordZoneChanges: (0..<600).map { .saveRecord(NotesApp.id("n\($0)")) })
    async let fetching: Void = engine.fetchChanges()
    try await engine.sendChanges()
    let told = listener.told
    #expect(told.contains("didSend manual"), "\(told)")
    #expect(told.filter { $0.hasPrefix("sent ") } == ["sent 250 []", "sent 250 []", "sent 100 []"])
    try await fetching
    #expect(listener.told.contains("didFetch manual"))
    #expect(listener.contents.withLock { $0.mostRunning } == 1)
  }

  /// Proves CE-14.
  @Test("A task created in a callback is refused while the callback runs and accepted afterwards")
  func taskFromCallbackRunsAfterCallback() async throws {
    let outcomes = Mutex<[String]>([])
    let later = Mutex<Task<Void, any Error>?>(nil)
    let (gate, opener) = AsyncStream.makeStream(of: Void.self)
    let listener = Listener { event, engine in
      guard case .willFetchChanges = event, later.withLock({ $0 == nil }) else { return }
      let inside = Task { try await engine.sendChanges() }
      if case .failure(let error) = await inside.result {
        outcomes.withLock { $0.append("\((error as? CKError)?.code.rawValue ?? 0)") }
      }
      let task = Task {
        for await _ in gate { break }
        try await engine.sendChanges()
      }
      later.withLock { $0 = task }
    }
    let engine = listener.engine(server)
    try await engine.fetchChanges()
    #expect(outcomes.withLock { $0 } == ["\(CKError.Code.invalidArguments.rawValue)"])
    opener.yield()
    try await later.withLock { $0 }?.value
    #expect(listener.told.contains("didSend manual"))
  }

  /// Proves CE-17.
  @Test("The engine stops when its delegate is released, and sends no more requests")
  func engineStopsWhenDelegateIsReleased() async throws {
    weak var gone: Listener?
    var engine: CKSyncEngine?
    do {
      let listener = Listener()
      gone = listener
      engine = listener.engine(server)
      try await engine?.fetchChanges()
    }
    // Were the engine to keep it, the time limit would end this.
    while gone != nil { await Task.yield() }
    server.controls.forgetRequests()
    await #expect(throws: CKError.self) { try await engine?.fetchChanges() }
    engine?.state.add(pendingRecordZoneChanges: [.saveRecord(NotesApp.id("a"))])
    await #expect(throws: CKError.self) { try await engine?.sendChanges() }
    let kinds = Set(server.controls.requests.map(\.kind))
    #expect(!kinds.contains(.modifyRecords) && !kinds.contains(.fetchZoneChanges))
  }

  /// Proves CE-18.
  @Test("Many threads add, remove and read at once, and nothing is lost")
  func concurrentStateChangesLoseNothing() async throws {
    let listener = Listener()
    let engine = listener.engine(server)
    await withTaskGroup(of: Void.self) { group in
      for lane in 0..<8 {
        group.addTask {
          for number in 0..<100 {
            let id = NotesApp.id("\(lane)-\(number)")
            engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
            if number.isMultiple(of: 2) {
              engine.state.remove(pendingRecordZoneChanges: [.saveRecord(id)])
            }
            _ = engine.state.pendingRecordZoneChanges.count
            _ = engine.description
          }
        }
      }
    }
    #expect(engine.state.pendingRecordZoneChanges.count == 400)
  }

  /// Proves CE-78.
  @Test("Syncs that the engine starts have a different reason than syncs that the app requests")
  func syncReasonTellsEngineFromApp() async throws {
    let automatic = Listener()
    let engine = automatic.engine(server, automatically: true)
    engine.state.add(pendingDatabaseChanges: [.saveZone(EngineSurfaceTests.zone)])
    await automatic.wait(for: "didSend")
    #expect(automatic.told.filter { $0.hasSuffix("manual") } == [])
    #expect(automatic.told.contains("didFetch scheduled"))
    try await engine.fetchChanges()
    #expect(automatic.told.contains("didFetch manual"))
  }

  /// Proves CE-79.
  @Test("In manual mode the engine requests only the current user until the app calls it")
  func manualEngineOnlyFetchesUserUnasked() async throws {
    let listener = Listener()
    let engine = listener.engine(server)
    await listener.wait(for: "signIn")
    engine.state.add(pendingDatabaseChanges: [.saveZone(EngineSurfaceTests.zone)])
    engine.state.add(pendingRecordZoneChanges: [.saveRecord(NotesApp.id("a"))])
    engine.state.hasPendingUntrackedChanges = true
    await listener.wait(for: "stateUpdate")
    for _ in 0..<100 { await Task.yield() }
    #expect(Set(server.controls.requests.map(\.kind)) == [.fetchCurrentUser])
    try await engine.sendChanges()
    #expect(try stored(server).keys.sorted() == ["a"])
  }

  /// Proves CE-85.
  @Test("A state update follows each added change and each step of a sync")
  func stateUpdateFollowsEachChange() async throws {
    let listener = Listener()
    let engine = listener.engine(server)
    await listener.wait(for: "signIn")
    engine.state.add(pendingRecordZoneChanges: [.deleteRecord(NotesApp.id("doomed"))])
    // It comes by itself; were it not to, the time limit would end this.
    await listener.wait { $0.state?.readableJSON.contains("doomed") == true }
    engine.state.add(pendingDatabaseChanges: [.saveZone(EngineSurfaceTests.zone)])
    try await engine.sendChanges()
    let told = listener.told
    let sent = try #require(told.firstIndex(of: "sentZones"))
    #expect(told[sent...].contains("stateUpdate"), "\(told)")
  }

  @Test("The error of a fetch has the errors of its zones")
  func fetchErrorHasErrorsOfZones() async throws {
    let listener = Listener()
    let engine = listener.engine(server)
    engine.state.add(pendingDatabaseChanges: [.saveZone(EngineSurfaceTests.zone)])
    try await engine.sendChanges()
    server.controls.fail(with: .zoneBusy, in: RequestScope(kind: .fetchZoneChanges))
    let error = await #expect(throws: CKError.self) { try await engine.fetchChanges() }
    #expect(error?.code == .partialFailure)
    let zoneID = EngineSurfaceTests.zone.zoneID
    #expect((error?.partialErrorsByItemID?[zoneID] as? CKError)?.code == .zoneBusy)
  }

  /// Counts the pushes that an engine takes for its own.
  private final class PushCounter: SyncTracer {
    let count = Mutex(0)

    func record(_ entry: SyncTraceEntry) {
      if entry.kind == .signal, entry.name == "push" { count.withLock { $0 += 1 } }
    }
  }

  @Test("A push for the other database of the container does not concern the engine")
  func pushForOtherDatabaseIsIgnored() async {
    let (listener, counter) = (Listener(), PushCounter())
    let container = CKContainer(
      identifier: NotesApp.container, transport: server.device("phone", signedInAs: "alice"))
    var configuration = CKSyncEngine.Configuration(
      database: container.privateCloudDatabase, stateSerialization: nil, delegate: listener)
    configuration.automaticallySync = false
    configuration.tracer = counter
    let engine = CKSyncEngine(configuration)
    for database in [DatabaseScope.shared, .private, .shared, .private] {
      server.controls.deliver(
        CloudPush(
          container: NotesApp.container, database: database, subscription: SubscriptionID("s")),
        to: "phone")
    }
    while counter.count.withLock({ $0 }) < 2 { await Task.yield() }
    #expect(counter.count.withLock { $0 } == 2)
    withExtendedLifetime((engine, listener)) {}
  }

  @Test("All contexts of a scheduled operation have one operation group, and the next has another")
  func scheduledOperationHasOneGroup() async throws {
    let groups = Mutex<[String]>([])
    let listener = Listener { event, _ in
      let group: CKOperationGroup? =
        switch event {
        case .willFetchChanges(let event): event.context.options.operationGroup
        case .didFetchChanges(let event): event.context.options.operationGroup
        default: nil
        }
      if let group { groups.withLock { $0.append(group.operationGroupID) } }
    }
    let engine = listener.engine(server, automatically: true)
    await listener.wait { $0.told.count { $0.hasPrefix("didFetch scheduled") } == 1 }
    let database = CKContainer(
      identifier: NotesApp.container, transport: server.device("desk", signedInAs: "alice")
    ).privateCloudDatabase
    _ = try await database.save(CKRecordZone(zoneName: "A"))
    await listener.wait { $0.told.count { $0.hasPrefix("didFetch scheduled") } == 2 }
    let found = groups.withLock { $0 }
    #expect(found.count == 4 && found[0] == found[1] && found[2] == found[3])
    #expect(found[0] != found[2])
    withExtendedLifetime(engine) {}
  }

  @Test("The contexts of a send have the call's operation group, or one for a scheduled send")
  func sendHasOneGroup() async throws {
    let groups = Mutex<[String]>([])
    let listener = Listener { event, _ in
      let group: CKOperationGroup? =
        switch event {
        case .willSendChanges(let event): event.context.options.operationGroup
        case .didSendChanges(let event): event.context.options.operationGroup
        default: nil
        }
      if let group { groups.withLock { $0.append(group.operationGroupID) } }
    }
    let engine = listener.engine(server, automatically: true)
    for (count, name) in ["A", "B"].enumerated() {
      engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneName: name))])
      await listener.wait { $0.told.count { $0 == "didSend scheduled" } == count + 1 }
    }
    let group = CKOperationGroup()
    try await engine.sendChanges(CKSyncEngine.SendChangesOptions(operationGroup: group))
    let found = groups.withLock { $0 }
    #expect(found.count == 6 && found[0] == found[1] && found[2] == found[3])
    #expect(found[0] != found[2] && found[4...].allSatisfy { $0 == group.operationGroupID })
  }

  /// Proves CE-6, CE-39.
  @Test("Fetch options are read between requests, and order and narrow the zones")
  func fetchOptionsOrderAndNarrowZones() async throws {
    let zones = ["A", "B", "C"].map { CKRecordZone(zoneName: $0) }
    let database = CKContainer(
      identifier: NotesApp.container, transport: server.device("desk", signedInAs: "alice")
    ).privateCloudDatabase
    _ = try await database.modifyRecordZones(saving: zones, deleting: [])
    let chooser = Chooser(zones.map(\.zoneID))
    let container = CKContainer(
      identifier: NotesApp.container, transport: server.device("phone", signedInAs: "alice"))
    var configuration = CKSyncEngine.Configuration(
      database: container.privateCloudDatabase, stateSerialization: nil, delegate: chooser)
    configuration.automaticallySync = false
    let engine = CKSyncEngine(configuration)
    try await engine.fetchChanges()
    #expect(chooser.opened.withLock { $0 } == ["C", "A"], "C goes first, B is left out later")
    #expect(engine.state.zoneIDsWithUnfetchedServerChanges == [zones[1].zoneID])
    #expect(chooser.asked.withLock { $0 } == 4, "before the list of zones and each zone, and last")
    // Without an answer of the delegate's own, the context's options hold.
    let listener = Listener()
    let plain = listener.engine(server)
    var options = CKSyncEngine.FetchChangesOptions(scope: .zoneIDs([zones[1].zoneID]))
    options.prioritizedZoneIDs = [zones[1].zoneID]
    let context = CKSyncEngine.FetchChangesContext(reason: .manual, options: options)
    let chosen = await listener.nextFetchChangesOptions(context, syncEngine: plain)
    #expect(chosen.scope == options.scope && chosen.operationGroup === options.operationGroup)
    #expect(chosen.prioritizedZoneIDs == options.prioritizedZoneIDs)
    try await plain.fetchChanges(options)
    #expect(listener.told.filter { $0.hasPrefix("willFetchZone") } == ["willFetchZone B"])
  }
}

/// A delegate that orders the zones at first, and leaves one out once the first was opened.
private final class Chooser: CKSyncEngineDelegate {
  let zones: [CKRecordZone.ID]
  let opened = Mutex<[String]>([])
  let asked = Mutex(0)

  init(_ zones: [CKRecordZone.ID]) { self.zones = zones }

  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    guard case .willFetchRecordZoneChanges(let will) = event else { return }
    opened.withLock { $0.append(will.zoneID.zoneName) }
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? { nil }

  func nextFetchChangesOptions(
    _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.FetchChangesOptions {
    asked.withLock { $0 += 1 }
    var options = context.options
    if opened.withLock({ $0.isEmpty }) {
      options.prioritizedZoneIDs = [zones[2]]
    } else {
      options.scope = .allExcluding([zones[1]])
    }
    return options
  }
}
