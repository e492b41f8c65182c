import CloudProtocol
import CloudSync
import CloudSyncTesting
import Foundation
import LoopbackServer
import Records
import SimulationSupport
import SyncSupport
import Synchronization
import Testing

@testable import AnnotationStore

@Suite("Annotations: the coordinator", .timeLimit(.minutes(20)))
struct AnnotationCoordinatorTests {
  /// A device with a coordinator whose clock stands still.
  final class Bench: Sendable {
    let server = LoopbackServer()
    let device: AnnotationDevice
    let network = SimulatedLink()
    let clock = SimulatedClock()
    let coordinator: AnnotationCoordinator

    init(_ status: NetworkStatus = .online, usesExpensiveNetwork: Bool = true) throws {
      device = try AnnotationDevice(server, "phone")
      network.status = status
      coordinator = AnnotationCoordinator(
        store: device.store, network: NetworkMonitor(network),
        usesExpensiveNetwork: usesExpensiveNetwork, clock: clock)
    }

    /// Returns when the coordinator stands as told.
    func wait(for name: String) async {
      for await status in coordinator.statusUpdates where status.name == name { return }
    }

    var fetches: Int { server.controls.requestCount(in: RequestScope(kind: .fetchDatabaseChanges)) }
  }

  @Test("R: The sync coordinator syncs at the start and then every 60 seconds")
  func coordinatorSyncsEvery60Seconds() async throws {
    let bench = try Bench()
    #expect(bench.coordinator.syncStatus.name == "idle" && bench.coordinator.lastSyncTime == nil)
    await bench.coordinator.startSync()
    await bench.clock.waitForSleeper(of: .seconds(60))
    #expect(bench.coordinator.lastSyncTime == bench.device.time.date)
    let first = bench.fetches
    let layer = try bench.device.store.addLayer(named: "House").id
    bench.device.time.advance(60)
    bench.clock.advance(by: .seconds(59))
    #expect(bench.fetches == first)
    bench.clock.advance(by: .seconds(1))
    await bench.clock.waitForSleeper(of: .seconds(60))
    #expect(bench.fetches > first && bench.device.store.layer(layer)?.syncStatus == .synced)
    #expect(bench.coordinator.lastSyncTime == bench.device.time.date)
    await bench.coordinator.stopSync()
    bench.clock.advance(by: .seconds(600))
    let last = bench.fetches
    await bench.coordinator.startSync()
    await bench.clock.waitForSleeper(of: .seconds(60))
    #expect(bench.fetches > last)
    await bench.coordinator.stopSync()
  }

  @Test("R: The sync coordinator doubles its wait with each error, and a success resets it")
  func coordinatorDoublesWaitOnErrors() async throws {
    let bench = try Bench()
    bench.server.controls.fail(next: .max, with: .serverRejectedRequest, in: .all)
    await bench.coordinator.startSync()
    for seconds in [120, 240, 480] {
      await bench.clock.waitForSleeper(of: .seconds(seconds))
      #expect(bench.coordinator.syncStatus.name == "error")
      if seconds == 480 { bench.server.controls.clear() }
      bench.clock.advance(by: .seconds(seconds))
    }
    await bench.clock.waitForSleeper(of: .seconds(60))
    #expect(bench.coordinator.syncStatus.name == "idle")
    #expect(bench.coordinator.metrics.errorCount == 3)
    await bench.coordinator.stopSync()
  }

  @Test("A stop in the middle of a sync is no error, and does not lengthen the next wait")
  func stopDuringSyncIsNoError() async throws {
    let bench = try Bench()
    let zones = RequestScope(kind: .fetchDatabaseChanges)
    bench.server.controls.hold(next: 1, in: zones)
    await bench.coordinator.startSync()
    await bench.server.controls.waitForHeldRequests(in: zones)
    await bench.coordinator.stopSync()
    #expect(bench.coordinator.syncStatus.name == "idle")
    #expect(bench.coordinator.metrics.errorCount == 0)
    await bench.coordinator.startSync()
    await bench.clock.waitForSleeper(of: .seconds(60))
    await bench.coordinator.stopSync()
  }

  @Test("A stop at the same time as a start leaves the network observed only if syncing goes on")
  func stopDuringStartEndsObservation() async throws {
    let bench = try Bench()
    var networks: [WeakMonitor] = []
    for _ in 0..<300 {
      let network = NetworkMonitor(SimulatedLink(.offline))
      networks.append(WeakMonitor(network))
      let coordinator = AnnotationCoordinator(
        store: bench.device.store, network: network, clock: bench.clock)
      let meeting = Meeting()
      async let start: Void = meeting.run { await coordinator.startSync() }
      async let stop: Void = meeting.run { await coordinator.stopSync() }
      _ = await (start, stop)
      await coordinator.startSync()
      await coordinator.stopSync()
    }
    // An observation keeps its network; those that were stopped end soon.
    for _ in 0..<100_000 where networks.contains(where: { $0.network != nil }) {
      await Task.yield()
    }
    #expect(networks.count { $0.network != nil } == 0)
  }

  /// Lets two tasks begin something at the same time, if there are two threads for them.
  private final class Meeting: Sendable {
    private let count = Atomic(0)

    func run(_ body: () async -> Void) async {
      count.add(1, ordering: .sequentiallyConsistent)
      for _ in 0..<50_000 where count.load(ordering: .sequentiallyConsistent) < 2 {}
      await body()
    }
  }

  private struct WeakMonitor {
    weak var network: NetworkMonitor?
    init(_ network: NetworkMonitor) { self.network = network }
  }

  @Test(
    "R: Offline, the network monitor prevents requests; waiting changes are sent on return")
  func offlineChangesWaitForNetwork() async throws {
    let bench = try Bench(.offline)
    let coordinator = bench.coordinator
    #expect(coordinator.syncStatus.name == "offline")
    await coordinator.startSync()
    let layer = Layer(id: testID(1), name: "House", createdAt: bench.device.time.date)
    try await coordinator.queueForSync(layer)
    await bench.clock.waitForSleeper(of: .seconds(60))
    await #expect(throws: CKError.self) { try await coordinator.syncNow() }
    #expect(bench.server.controls.requests.isEmpty && bench.device.store.waitingCount == 1)
    bench.network.status = .online
    for await status in coordinator.statusUpdates
    where status.name == "idle" && bench.device.store.waitingCount == 0 { break }
    #expect(bench.device.store.layer(testID(1))?.name == "House")
    #expect(try bench.server.annotations().count == 1)
    bench.network.status = .offline
    await bench.wait(for: "offline")
    await coordinator.stopSync()
  }

  @Test("R: An expensive network is used automatically only if allowed, and always on request")
  func expensiveNetworkIsUsedOnlyAsConfigured() async throws {
    let bench = try Bench(.expensive, usesExpensiveNetwork: false)
    await bench.coordinator.startSync()
    await bench.clock.waitForSleeper(of: .seconds(60))
    #expect(bench.server.controls.requests.isEmpty)
    try await bench.coordinator.syncNow()
    #expect(bench.fetches == 2)
    await bench.coordinator.stopSync()
  }

  @Test("R: The sync status changes between idle, syncing, error and offline as sync proceeds")
  func syncStatusFollowsSyncSteps() async throws {
    let bench = try Bench()
    var updates = bench.coordinator.statusUpdates.makeAsyncIterator()
    try await bench.coordinator.syncNow()
    bench.server.controls.fail(with: .serverRejectedRequest, in: .all)
    await #expect(throws: CKError.self) { try await bench.coordinator.syncNow() }
    bench.device.link.isOnline = false
    await #expect(throws: CKError.self) { try await bench.coordinator.syncNow() }
    var names: [String] = []
    for _ in 0..<7 { names.append(await updates.next()?.name ?? "end") }
    #expect(names == ["idle", "syncing", "idle", "syncing", "error", "syncing", "offline"])
  }

  @Test("R: A call of queueForSync stores an item exactly as the user edited it")
  func queuedItemIsStoredAsEdited() async throws {
    let bench = try Bench()
    let store = bench.device.store
    let layer = try store.addLayer(named: "House").id
    var note = Annotation(
      id: testID(5), title: "a", content: AnnotationContent(text: "x"), layerID: layer,
      createdAt: bench.device.time.date)
    try await bench.coordinator.queueForSync(note)
    bench.device.time.advance()
    note.title = nil
    note.position = [1, 1, 1]
    try await bench.coordinator.queueForSync(note)
    try await bench.coordinator.queueForSync(
      Comment(
        id: testID(6), text: "hm", annotationID: note.id, createdAt: bench.device.time.date))
    try await bench.coordinator.syncNow()
    let saved = try #require(store.annotation(note.id))
    #expect(saved.title == nil && saved.position == [1, 1, 1] && saved.ownerID == store.account)
    #expect(saved.updatedAt == bench.device.time.date && store.comments().count == 1)
    #expect(try bench.server.annotations().count == 3)
    note.scale = .nan
    await #expect(throws: AnnotationError.notANumber) {
      try await bench.coordinator.queueForSync(note)
    }
    note.layerID = testID(77)
    note.scale = 1
    await #expect(throws: AnnotationError.notFound(testID(77))) {
      try await bench.coordinator.queueForSync(note)
    }
  }

  @Test("R: Each type has a query subscription, and a push delivers another device's changes")
  func subscriptionsCoverEachType() async throws {
    let pair = try await AnnotationPair()
    let mine = try pair.server.subscriptions(
      container: AnnotationDevice.containerName, account: "ada")
    #expect(
      mine.map(\.id.rawValue).sorted()
        == ["annotation-changes", "comment-changes", "layer-changes"])
    #expect(AnnotationStore.subscriptionIDs.last == "shared-changes")
    let coordinator = AnnotationCoordinator(
      store: pair.desk.store, network: NetworkMonitor(SimulatedLink()), clock: pair.desk.clock)
    let (pushes, inbox) = AsyncStream<CloudPush>.makeStream()
    let watch = pair.desk.link.observeSignals { signal in
      if case .push(let push) = signal { inbox.yield(push) }
    }
    try pair.phone.store.edit(pair.note) { $0.title = "Gate" }
    try await pair.phone.store.sync()
    var received = pushes.makeAsyncIterator()
    let push = try #require(await received.next())
    #expect(push.subscription.rawValue == "annotation-changes")
    let payload = CKNotification.remoteNotificationDictionary(for: push, notificationID: "n")
    let thrifty = AnnotationCoordinator(
      store: pair.desk.store, network: NetworkMonitor(SimulatedLink(.expensive)),
      usesExpensiveNetwork: false, clock: pair.desk.clock)
    #expect(await thrifty.didReceiveRemoteNotification(payload))
    #expect(pair.desk.titles == ["Door"], "an expensive network is not used for a push")
    #expect(await coordinator.didReceiveRemoteNotification(payload))
    #expect(pair.isSame && pair.desk.titles == ["Gate"])
    #expect(await coordinator.didReceiveRemoteNotification(["x": 1]) == false)
    withExtendedLifetime(watch) {}
  }

  @Test("R: Metrics count uploads, downloads, conflicts, errors and duration, and can be reset")
  func metricsCountAndReset() async throws {
    let pair = try await AnnotationPair()
    try pair.phone.store.edit(pair.note) { $0.title = "a" }
    pair.time.advance()
    try pair.desk.store.edit(pair.note) { $0.title = "b" }
    pair.server.controls.fail(with: .networkFailure, in: RequestScope(kind: .modifyRecords))
    try await pair.phone.store.sync()
    #expect(pair.phone.store.metrics.uploadCount == 3 && pair.phone.store.metrics.errorCount == 1)
    #expect(pair.phone.store.metrics.lastSyncDuration == 1, "a second was waited for the retry")
    try await pair.settle()
    let desk = pair.desk.store.metrics
    #expect(desk.conflictCount == 1 && desk.uploadCount == 1 && desk.downloadCount == 2)
    #expect(desk.errorCount == 0 && desk.lastSyncDuration == 0)
    pair.desk.store.resetMetrics()
    var expected = SyncMetrics()
    expected.lastSyncDuration = 0
    #expect(pair.desk.store.metrics == expected)
  }
}
