import CloudProtocol
import Foundation
import LoopbackServer
import Records
import Synchronization
import Testing

@testable import CloudSync

/// Queues, dependencies, cancellation and settings of operations (CS-63 to CS-67).
@Suite("Operations: how they run")
struct OperationsRunningTests {
  private typealias World = OperationsWorld

  private static let operationQueueOfTheApp = OperationQueue()

  private static func save(_ name: String, _ world: OperationsWorld) -> CKModifyRecordsOperation {
    let operation = CKModifyRecordsOperation(recordsToSave: [World.record(name)])
    operation.perRecordSaveBlock = { world.note("save \($0.recordName)", $1) }
    operation.modifyRecordsResultBlock = { world.note("result \(name)", $0) }
    return operation
  }

  static let stories = [
    OperationStory(
      "without a database: the default container of the environment it was made in",
      expect: ["save a", "result a", "in a block true", "in a handler true"]
    ) { world in
      let environment = CloudSyncEnvironment { _ in world.server.device("phone") }
      await CloudSyncEnvironment.$current.withValue(environment) {
        let container = CKContainer.default()
        _ = try? await container.privateCloudDatabase.save(CKRecordZone(zoneID: World.zoneID))
        let operation = save("a", world)
        operation.modifyRecordsCompletionBlock = { _, _, _ in
          world.note("in a block \(CKContainer.default() === container)")
        }
        await world.finish(operation) { operationQueueOfTheApp.addOperation(operation) }
        await withCheckedContinuation { continuation in
          container.fetchUserRecordID { _, _ in
            world.note("in a handler \(CKContainer.default() === container)")
            continuation.resume()
          }
        }
      }
    },
    OperationStory(
      "cancelled before it was added",
      expect: ["result a: operationCancelled", "0 requests"]
    ) { world in
      let operation = save("a", world)
      operation.cancel()
      await world.run(operation)
      world.note("\(world.server.controls.requestCount()) requests")
    },
    OperationStory(
      "cancelled while the server works", expect: ["result a: operationCancelled"]
    ) { world in
      world.server.controls.hold(next: 1)
      let operation = save("a", world)
      await world.finish(operation) {
        world.database.add(operation)
        Task {
          await world.server.controls.waitForHeldRequests()
          #expect(operation.isExecuting && !operation.isFinished && operation.isAsynchronous)
          operation.cancel()
        }
      }
    },
    OperationStory(
      "cancelled from a block: nothing more but the end",
      expect: ["changed a", "result: operationCancelled", "completion: operationCancelled"]
    ) { world in
      try await world.save("a", "b", "c")
      let operation = CKFetchRecordZoneChangesOperation(recordZoneIDs: [World.zoneID])
      operation.recordWasChangedBlock = { [weak operation] id, _ in
        world.note("changed \(id.recordName)")
        operation?.cancel()
      }
      operation.recordZoneFetchResultBlock = { _, _ in world.note("too much") }
      operation.fetchRecordZoneChangesResultBlock = { world.note("result", $0) }
      operation.fetchRecordZoneChangesCompletionBlock = { world.note("completion", $0) }
      await world.run(operation)
    },
    OperationStory(
      "dependencies, through the app's own queue and the database",
      expect: ["save a", "result a", "save b", "result b", "save c", "result c", "last"]
    ) { world in
      let operations = ["a", "b", "c"].map { save($0, world) }
      for (first, second) in zip(operations, operations.dropFirst()) {
        second.addDependency(first)
      }
      let last = BlockOperation { world.note("last") }
      last.addDependency(operations[2])
      let queue = OperationQueue()
      operations[1].database = world.database
      await withCheckedContinuation { continuation in
        last.completionBlock = { continuation.resume() }
        queue.addOperation(last)
        world.database.add(operations[2])
        queue.addOperation(operations[1])
        world.database.add(operations[0])
      }
    },
    OperationStory(
      "an app's queue that waits, with the container in the configuration",
      expect: ["save a", "result a"]
    ) { world in
      let operation = save("a", world)
      operation.configuration.container = world.container
      let queue = OperationQueue()
      await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
          queue.addOperations([operation], waitUntilFinished: true)
          continuation.resume()
        }
      }
      #expect(operation.isFinished)
      #expect(world.server.controls.requests.map(\.database) == [.private])
    },
    OperationStory(
      "added to the container: the private database, unless the operation names one",
      expect: ["save a", "result a", "result b"]
    ) { world in
      let first = save("a", world)
      await world.finish(first) { world.container.add(first) }
      let second = CKModifyRecordsOperation(
        recordsToSave: [CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "p"))])
      second.database = world.container.publicCloudDatabase
      second.modifyRecordsResultBlock = { world.note("result b", $0) }
      await world.finish(second) { world.container.add(second) }
      #expect(world.server.controls.requests.map(\.database) == [.private, .public])
    },
    OperationStory(
      "many at once: none keeps another waiting", expect: ["100 held"]
    ) { world in
      world.server.controls.hold()
      let operations = (0..<100).map { World.id("r\($0)") }.map {
        CKFetchRecordsOperation(recordIDs: [$0])
      }
      await withTaskGroup(of: Void.self) { group in
        for operation in operations { group.addTask { await world.run(operation) } }
        await world.server.controls.waitForHeldRequests(100)
        world.note("\(world.server.controls.heldRequests.count) held")
        world.server.controls.release()
      }
    },
    OperationStory(
      "blocks are called one at a time, not on the main thread", expect: ["400 calls, most 1"]
    ) { world in
      let names = (0..<200).map { "r\($0)" }
      let operation = CKModifyRecordsOperation(recordsToSave: names.map { World.record($0) })
      let calls = Mutex((all: 0, now: 0, most: 0))
      let enter: @Sendable () -> Void = {
        #expect(!Thread.isMainThread)
        calls.withLock { calls in
          calls.all += 1
          calls.now += 1
          calls.most = max(calls.most, calls.now)
        }
        calls.withLock { $0.now -= 1 }
      }
      operation.perRecordProgressBlock = { _, _ in enter() }
      operation.perRecordSaveBlock = { _, _ in enter() }
      await world.run(operation)
      calls.withLock { world.note("\($0.all) calls, most \($0.most)") }
    },
    OperationStory(
      "a block may wait for another operation", expect: ["save b", "result b", "save a"]
    ) { world in
      let operation = CKModifyRecordsOperation(recordsToSave: [World.record("a")])
      operation.perRecordSaveBlock = { id, result in
        let group = DispatchGroup()
        group.enter()
        let inner = save("b", world)
        inner.completionBlock = { group.leave() }
        world.database.add(inner)
        group.wait()
        world.note("save \(id.recordName)", result)
      }
      await world.run(operation)
    },
    OperationStory(
      "a long-lived operation is listed while it runs",
      expect: ["persisted", "listed true, found true", "save a", "result a", "listed false"]
    ) { world in
      world.server.controls.hold(next: 1)
      let operation = save("a", world)
      operation.configuration.isLongLived = true
      operation.longLivedOperationWasPersistedBlock = { world.note("persisted") }
      await world.finish(operation) {
        world.database.add(operation)
        Task {
          await world.server.controls.waitForHeldRequests()
          let ids = try await world.container.allLongLivedOperationIDs()
          let found = try await world.container.longLivedOperation(for: operation.operationID)
          let isListed = ids == [operation.operationID]
          world.note("listed \(isListed), found \(found === operation)")
          world.server.controls.release()
        }
      }
      world.note("listed \(try await !world.container.allLongLivedOperationIDs().isEmpty)")
    },
  ]

  /// Proves CS-249.
  @Test("Changes and the account status are answered although their task is cancelled")
  func callsOfCancelledTasksEnd() async throws {
    let world = try await OperationsWorld()
    let (database, container) = (world.database, world.container)
    let record = OperationsWorld.record("a")
    world.server.controls.hold(next: 1, at: .afterCommit)
    let save = Task { try await database.save(record) }
    await world.server.controls.waitForHeldRequests()
    save.cancel()
    world.server.controls.release()
    #expect(try await save.value === record && record.recordChangeTag != nil)
    let later = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      #expect(Task.isCancelled)
      record["text"] = "edited"
      try await database.save(record)
      #expect(try await container.accountStatus() == .available)
      #expect(try await container.userRecordID().recordName.isEmpty == false)
      try await database.deleteRecord(withID: record.recordID)
      try await database.modifyRecords(saving: [OperationsWorld.record("b")], deleting: [])
      try await database.save(CKRecordZone(zoneName: "other"))
      let end = await #expect(throws: CKError.self) {
        try await database.record(for: record.recordID)
      }
      #expect(end?.code == .operationCancelled)
    }
    try await later.value
    #expect(try await database.allRecordZones().count == 3)
  }

  /// Proves CE-177.
  @Test("Operations and completion handlers end while the app's tasks block every thread")
  func operationsEndWhileTasksBlock() async throws {
    let world = try await OperationsWorld()
    let (database, container) = (world.database, world.container)
    @Sendable func isAnswered() -> Bool {
      let done = DispatchSemaphore(value: 0)
      let operation = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
      operation.qualityOfService = .default
      operation.fetchRecordZonesResultBlock = { _ in
        database.fetchAllRecordZones { _, _ in
          database.save(CKRecord(recordType: "Note")) { _, _ in
            container.accountStatus { _, _ in done.signal() }
          }
        }
      }
      database.add(operation)
      // The bound is for a failure alone.
      return done.wait(timeout: .now() + 120) == .success
    }
    for priority in [TaskPriority.medium, .userInitiated] {
      let tasks = (0..<2 * ProcessInfo.processInfo.activeProcessorCount).map { _ in
        Task.detached(priority: priority) { isAnswered() }
      }
      for task in tasks { #expect(await task.value) }
    }
  }

  /// Counts the jobs that it passes on.
  private final class CountingExecutor: TaskExecutor {
    let jobCount = Atomic(0)
    private let queue = DispatchQueue(label: "counting")

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      jobCount.wrappingAdd(1, ordering: .relaxed)
      queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Whether `body` ran jobs here.
    func runs(_ body: () async throws -> Void) async rethrows -> Bool {
      let before = jobCount.load(ordering: .relaxed)
      try await body()
      return jobCount.load(ordering: .relaxed) > before
    }
  }

  @Test("Operations, completion handlers and saves run on the executor of their environment")
  func workRunsOnExecutorOfEnvironment() async throws {
    let world = try await OperationsWorld()
    let executor = CountingExecutor()
    var environment = CloudSyncEnvironment { _ in
      world.server.device("tablet", signedInAs: "alice")
    }
    environment.taskExecutor = executor
    let container = CloudSyncEnvironment.$current.withValue(environment) {
      CKContainer(identifier: world.container.containerIdentifier ?? "")
    }
    let database = container.privateCloudDatabase
    let operation = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
    #expect(await executor.runs { await world.finish(operation) { database.add(operation) } })
    #expect(try await executor.runs { try await database.save(CKRecordZone(zoneName: "New")) })
    #expect(
      await executor.runs {
        await withCheckedContinuation { done in
          database.fetchAllRecordZones { _, _ in done.resume() }
        }
      })
    world.close()
  }

  /// Proves CS-6, CS-63, CS-64, CS-65, CS-67.
  @Test("An operation runs with the expected calls and results", arguments: stories)
  func operationRunsAsExpected(_ story: OperationStory) async throws { try await story.check() }

  /// Proves CS-66.
  @Test("An operation's own settings override the group's, which override the defaults")
  func operationSettingsOverrideGroupSettings() async throws {
    let group = CKOperationGroup()
    group.defaultConfiguration.qualityOfService = .background
    group.defaultConfiguration.timeoutIntervalForRequest = 5
    let operation = CKFetchRecordsOperation()
    #expect(operation.qualityOfService == .default && operation.timeoutIntervalForRequest == 60)
    operation.group = group
    #expect(operation.qualityOfService == .background && operation.timeoutIntervalForRequest == 5)
    operation.configuration.qualityOfService = .default
    #expect(operation.qualityOfService == .default && operation.timeoutIntervalForRequest == 5)
    operation.qualityOfService = .utility
    #expect(operation.configuration.qualityOfService == .utility)
    let settings = CKOperation.Configuration()
    settings.allowsCellularAccess = false
    operation.configuration = settings
    settings.allowsCellularAccess = true
    #expect(!operation.allowsCellularAccess && operation.qualityOfService == .background)
    operation.configuration = nil
    #expect(operation.allowsCellularAccess && operation.configuration != nil)
    group.defaultConfiguration = settings
    settings.allowsCellularAccess = false
    #expect(group.defaultConfiguration.allowsCellularAccess, "the group has a copy")
    group.defaultConfiguration = nil
    #expect(group.defaultConfiguration?.timeoutIntervalForRequest == 60)
  }

  @Test("Each setting of an operation is its own one, then its group's, then CloudKit's default")
  func eachSettingFallsBackToGroup() throws {
    let (container, other) = (
      CKContainer(identifier: "iCloud.group"), CKContainer(identifier: "iCloud.own")
    )
    let operation = CKFetchRecordsOperation()
    #expect(operation.container == nil && operation.allowsCellularAccess && !operation.isLongLived)
    #expect(operation.timeoutIntervalForRequest == 60)
    #expect(operation.timeoutIntervalForResource == 604_800)
    let settings = CKOperation.Configuration()
    settings.container = container
    settings.allowsCellularAccess = false
    settings.isLongLived = true
    settings.timeoutIntervalForResource = 7
    let group = CKOperationGroup()
    group.defaultConfiguration = settings
    operation.group = group
    let resolved = operation.resolvedConfiguration
    #expect(resolved.container === container && !resolved.allowsCellularAccess)
    #expect(resolved.isLongLived && resolved.timeoutIntervalForResource == 7)
    operation.container = other
    operation.allowsCellularAccess = true
    operation.isLongLived = false
    operation.timeoutIntervalForRequest = 8
    operation.timeoutIntervalForResource = 9
    let copy = try #require(operation.configuration.copy() as? CKOperation.Configuration)
    for own in [operation.resolvedConfiguration, copy] {
      #expect(own.container === other && own.allowsCellularAccess && !own.isLongLived)
      #expect(own.timeoutIntervalForRequest == 8 && own.timeoutIntervalForResource == 9)
    }
  }

  @Test("Operations and groups begin with the settings that CloudKit gives them")
  func operationsBeginWithDefaults() {
    let modify = CKModifyRecordsOperation()
    #expect(modify.isAtomic && modify.savePolicy == .ifServerRecordUnchanged)
    #expect(!CKFetchShareMetadataOperation().shouldFetchRootRecord)
    #expect(CKQueryOperation().resultsLimit == CKQueryOperation.maximumResults)
    let group = CKOperationGroup()
    #expect(group.quantity == 0 && group.name == nil)
    #expect(group.expectedSendSize == .unknown && group.expectedReceiveSize == .unknown)
    #expect(group.description == "<CKOperationGroup: \(group.operationGroupID), name=none>")
  }

  /// Proves CS-54.
  @Test("An operation added in configuredWith takes its settings, unless it has its own")
  func configuredWithAppliesItsSettings() async throws {
    let world = try await OperationsWorld()
    let settings = CKOperation.Configuration()
    settings.qualityOfService = .utility
    let group = CKOperationGroup()
    group.defaultConfiguration.timeoutIntervalForRequest = 5
    let (plain, own) = (CKFetchRecordsOperation(), CKFetchRecordsOperation())
    own.qualityOfService = .userInitiated
    own.group = CKOperationGroup()
    let answered = await world.database.configuredWith(configuration: settings, group: group) {
      database in
      await world.finish(plain) { database.add(plain) }
      await world.finish(own) { database.add(own) }
      return (try? await database.allRecordZones().count) ?? 0
    }
    #expect(answered == 2)
    let urgencies = [
      world.database.urgency, world.database.configuredWith(configuration: settings) { $0.urgency },
      world.database.configuredWith(group: group) { $0.urgency },
    ]
    #expect(urgencies == [.userInitiated, .utility, .default])
    #expect(plain.group === group && own.group !== group)
    #expect(plain.qualityOfService == .utility && plain.timeoutIntervalForRequest == 5)
    #expect(own.qualityOfService == .userInitiated && own.timeoutIntervalForRequest == 5)
    group.defaultConfiguration.qualityOfService = .background
    #expect(plain.qualityOfService == .utility, "the configuration comes before its group")
    let scope = world.container.configuredWith(group: group) { $0.sharedCloudDatabase }
    #expect(scope.databaseScope == .shared)
    let inContainer = CKFetchRecordsOperation()
    await world.finish(inContainer) {
      world.container.configuredWith(group: group) { $0.add(inContainer) }
    }
    #expect(inContainer.group === group)
    world.close()
  }

  /// Tells when it goes.
  ///
  /// Unchecked: its only property never changes.
  private final class Saving: CKModifyRecordsOperation, @unchecked Sendable {
    let gone: CheckedContinuation<Void, Never>

    init(_ gone: CheckedContinuation<Void, Never>) {
      self.gone = gone
      super.init()
    }

    deinit { gone.resume() }
  }

  /// Proves CS-70, I22.
  @Test(
    "A finished operation and the objects that its blocks hold are released",
    .timeLimit(.minutes(20)))
  func finishedOperationReleasesItsBlocks() async throws {
    let world = try await OperationsWorld()
    final class Held: Sendable {}
    weak var left: Held?
    await withCheckedContinuation { gone in
      let held = Held()
      left = held
      let operation = Saving(gone)
      operation.recordsToSave = [World.record("a")]
      operation.modifyRecordsResultBlock = { [held] in
        withExtendedLifetime(held) {}
        world.note("result", $0)
      }
      world.database.add(operation)
    }
    for _ in 0..<1000 where left != nil { await Task.yield() }
    #expect(left == nil && world.journal == ["result"])
    world.close()
  }
}
