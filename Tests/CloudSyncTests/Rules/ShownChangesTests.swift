import CloudSync
import LoopbackServer
import Synchronization
import Testing
import VerificationSupport

/// The pending changes that a delegate is shown while it builds a batch, with a limit of a few.
@Suite("Pending changes shown for a batch", .timeLimit(.minutes(20)))
struct ShownChangesTests {
  private typealias Change = CKSyncEngine.PendingRecordZoneChange

  private let server = LoopbackServer()
  private static let zone = NotesApp.zone

  private static func changes(_ count: Int) -> [Change] {
    (0..<count).map { .saveRecord(NotesApp.id("\($0)")) }
  }

  /// An engine with these pending changes that limits what it shows from 11 changes on.
  private func engine(
    _ delegate: any CKSyncEngineDelegate, _ changes: [Change]
  ) -> CKSyncEngine {
    let container = CKContainer(
      identifier: NotesApp.container, transport: server.device("phone", signedInAs: "alice"))
    var configuration = CKSyncEngine.Configuration(
      database: container.privateCloudDatabase, stateSerialization: nil, delegate: delegate)
    configuration.automaticallySync = false
    configuration.leastShownChanges = 10
    let engine = CKSyncEngine(configuration)
    engine.state.add(pendingDatabaseChanges: [.saveZone(Self.zone)])
    engine.state.add(pendingRecordZoneChanges: changes)
    return engine
  }

  /// Proves CE-170, CE-171.
  @Test func aDelegateThatSendsTheFrontIsShownTwiceItsBatch() async throws {
    let chooser = Chooser { list, _, _ in list }
    let engine = engine(chooser, Self.changes(2_000))
    #expect(engine.state.pendingRecordZoneChanges == Self.changes(2_000))
    try await engine.sendChanges()
    #expect(chooser.shown == [2_000, 500, 500, 500, 500, 500, 500, 250])
    #expect(chooser.pendingInEvents == [1_750, 1_500, 1_250, 1_000, 750, 500, 250, 0])
    #expect(chooser.sent == Self.changes(2_000))
    #expect(engine.state.pendingRecordZoneChanges == [])
  }

  /// Proves CE-172.
  @Test func aDelegateThatSkipsMostChangesIsShownAllBeforeTheSendEnds() async throws {
    let changes = Self.changes(3_000)
    let wanted = Set(stride(from: 0, to: 3_000, by: 1_000).map { changes[$0] })
    let chooser = Chooser { list, _, _ in Array(list.filter(wanted.contains).prefix(1)) }
    let engine = engine(chooser, changes)
    try await engine.sendChanges()
    #expect(chooser.sent == changes.filter(wanted.contains))
    // After a batch from the very front no other wanted change is in sight, and all are shown.
    #expect(chooser.shown == [3_000, 10, 2_999, 2_000, 2_997])
    #expect(engine.state.pendingRecordZoneChanges == changes.filter { !wanted.contains($0) })
  }

  /// Proves CE-171.
  @Test func aDelegateThatReadsTheCountAsWellIsAlwaysShownAll() async throws {
    let counts = Mutex<[Int]>([])
    let chooser = Chooser { list, engine, _ in
      counts.withLock { $0.append(engine.state.pendingRecordZoneChanges.count) }
      return list
    }
    let engine = engine(chooser, Self.changes(1_000))
    try await engine.sendChanges()
    #expect(chooser.shown == [1_000, 750, 500, 250])
    #expect(counts.withLock { $0 } == chooser.shown)
    #expect(chooser.sent == Self.changes(1_000))
  }

  /// Proves CE-171.
  @Test func aSecondReadingInACallbackListsAll() async throws {
    let second = Mutex<[Int]>([])
    let chooser = Chooser { list, engine, number in
      if number == 2 {
        let all = engine.state.pendingRecordZoneChanges
        second.withLock { $0.append(all.count) }
      }
      return list
    }
    let engine = engine(chooser, Self.changes(1_500))
    try await engine.sendChanges()
    #expect(chooser.shown == [1_500, 500, 500, 750, 500, 250])
    #expect(second.withLock { $0 } == [1_000])
    #expect(chooser.sent == Self.changes(1_500))
  }

  /// Proves CE-172.
  @Test func aDelegateThatDeclinesAPartIsAskedAgainAndShownAll() async throws {
    let chooser = Chooser { list, _, number in number == 1 ? [] : list }
    let engine = engine(chooser, Self.changes(1_000))
    try await engine.sendChanges()
    #expect(chooser.shown == [1_000, 500, 750, 500, 250])
    #expect(chooser.sent == Self.changes(1_000))
  }

  /// Proves CE-172.
  @Test func aDelegateThatDeclinesAllEndsTheSend() async throws {
    let chooser = Chooser { list, _, number in number == 0 ? [] : list }
    let engine = engine(chooser, Self.changes(1_000))
    try await engine.sendChanges()
    #expect(chooser.shown == [1_000] && chooser.sent == [])
    #expect(engine.state.pendingRecordZoneChanges == Self.changes(1_000))
    try await engine.sendChanges()
    #expect(chooser.shown == [1_000, 1_000, 500, 500, 250])
    #expect(chooser.sent == Self.changes(1_000))
  }

  /// Proves CE-171.
  @Test func aDelegateThatSendsInItsOwnOrderIsAlwaysShownAll() async throws {
    let chooser = Chooser { list, _, _ in list.reversed() }
    let engine = engine(chooser, Self.changes(1_000))
    try await engine.sendChanges()
    #expect(chooser.shown == [1_000, 750, 500, 250])
    #expect(chooser.sent == Self.changes(1_000).reversed())
  }

  /// Proves CE-15, CE-170.
  @Test func changesRemovedWhileABatchIsBuiltAreNeitherShownNorSent() async throws {
    let changes = Self.changes(1_000)
    let unwanted = Set(stride(from: 1, to: 1_000, by: 2).map { changes[$0] })
    let chooser = Chooser { list, engine, _ in
      let batch = list.prefix(100)
      engine.state.remove(pendingRecordZoneChanges: batch.filter(unwanted.contains))
      return batch.filter { !unwanted.contains($0) }
    }
    let engine = engine(chooser, changes)
    try await engine.sendChanges()
    #expect(chooser.shown == [1_000, 198, 198, 198, 198, 198, 198, 198, 198, 100])
    #expect(chooser.sent == changes.filter { !unwanted.contains($0) })
    #expect(engine.state.pendingRecordZoneChanges == [])
  }

  /// Proves CE-170.
  @Test func theFrontContainsChangesInTheScopeOnly() async throws {
    let other = CKRecordZone(zoneName: "Other")
    let others: [Change] = (0..<900).map {
      .saveRecord(CKRecord.ID(recordName: "\($0)", zoneID: other.zoneID))
    }
    let chooser = Chooser { list, _, _ in Array(list.prefix(100)) }
    let engine = engine(chooser, Self.changes(900) + others)
    engine.state.add(pendingDatabaseChanges: [.saveZone(other)])
    let scopes: [CKSyncEngine.SendChangesOptions.Scope] = [
      .recordIDs(others.prefix(50).map(\.id)), .zoneIDs([other.zoneID]),
      .allExcluding([other.zoneID]),
    ]
    for scope in scopes { try await engine.sendChanges(.init(scope: scope)) }
    #expect(chooser.sent == others + Self.changes(900))
    #expect(chooser.shown.prefix(3) == [1_800, 100, 200])
    #expect(chooser.listedOutOfScope == 1, "the first list only")
  }

  /// Proves CE-171.
  @Test func otherTasksAndOtherEnginesListAllDuringACallback() async throws {
    let counts = Mutex<[[Int]]>([])
    let other = engine(Chooser { _, _, _ in [] }, Self.changes(900))
    let chooser = Chooser { list, engine, _ in
      let state = engine.state
      let detached = await Task.detached { state.pendingRecordZoneChanges.count }.value
      counts.withLock { $0.append([detached, other.state.pendingRecordZoneChanges.count]) }
      return list
    }
    let engine = engine(chooser, Self.changes(1_000))
    try await engine.sendChanges()
    #expect(chooser.shown == [1_000, 500, 500, 250])
    #expect(counts.withLock { $0 } == [[1_000, 900], [750, 900], [500, 900], [250, 900]])
  }

  /// Proves CE-171.
  @Test func aTaskThatOutlivesTheCallbackListsAll() async throws {
    let reader = LateReader()
    let engine = engine(reader, Self.changes(1_000))
    try await engine.sendChanges()
    #expect(await reader.read() == 750)
    withExtendedLifetime(engine) {}
  }
}

/// A delegate that sends the front of the list once, and lets a task read it after the next call.
private final class LateReader: CKSyncEngineDelegate {
  private let callCount = Mutex(0)
  private let release = Signal()
  private let reading = Mutex<Task<Int, Never>?>(nil)

  /// Lets the task read the list.
  ///
  /// - Returns: The length of the list; `nil` if there is no task.
  func read() async -> Int? {
    release.fire()
    return await reading.withLock { $0 }?.value
  }

  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {}

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    let state = syncEngine.state
    let number = callCount.withLock { count in
      count += 1
      return count
    }
    guard number > 1 else {
      return await CKSyncEngine.RecordZoneChangeBatch(
        pendingChanges: state.pendingRecordZoneChanges
      ) { CKRecord(recordType: "Note", recordID: $0) }
    }
    let release = release
    let task = Task {
      await release.wait()
      return state.pendingRecordZoneChanges.count
    }
    reading.withLock { $0 = task }
    return nil
  }
}

/// A delegate that sends the changes that its closure chooses from the list.
private final class Chooser: CKSyncEngineDelegate {
  typealias Change = CKSyncEngine.PendingRecordZoneChange

  private struct Contents {
    var shown: [Int] = []
    var pendingInEvents: [Int] = []
    var sent: [Change] = []
    var listedOutOfScope = 0
  }

  private let contents = Mutex(Contents())
  private let choice: @Sendable ([Change], CKSyncEngine, _ number: Int) async -> [Change]

  init(_ choice: @escaping @Sendable ([Change], CKSyncEngine, Int) async -> [Change]) {
    self.choice = choice
  }

  /// The length of each list that was shown.
  var shown: [Int] { contents.withLock { $0.shown } }
  /// The number of pending changes while the app handled each result.
  var pendingInEvents: [Int] { contents.withLock { $0.pendingInEvents } }
  /// The saved records.
  var sent: [Change] { contents.withLock { $0.sent } }
  /// The number of lists with a change that is not in the scope of the send.
  var listedOutOfScope: Int { contents.withLock { $0.listedOutOfScope } }

  func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
    guard case .sentRecordZoneChanges(let sent) = event else { return }
    let count = syncEngine.state.pendingRecordZoneChanges.count
    contents.withLock { contents in
      contents.pendingInEvents.append(count)
      contents.sent += sent.savedRecords.map { .saveRecord($0.recordID) }
    }
  }

  func nextRecordZoneChangeBatch(
    _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
  ) async -> CKSyncEngine.RecordZoneChangeBatch? {
    let scope = context.options.scope
    let list = syncEngine.state.pendingRecordZoneChanges
    let changes = list.filter { scope.contains($0) }
    let number = contents.withLock { contents in
      contents.shown.append(list.count)
      if changes.count < list.count { contents.listedOutOfScope += 1 }
      return contents.shown.count - 1
    }
    return await CKSyncEngine.RecordZoneChangeBatch(
      pendingChanges: await choice(changes, syncEngine, number)
    ) { CKRecord(recordType: "Note", recordID: $0) }
  }
}

extension CKSyncEngine.PendingRecordZoneChange {
  fileprivate var id: CKRecord.ID {
    switch self {
    case .saveRecord(let id), .deleteRecord(let id): id
    }
  }
}
