import CloudSync
import CloudSyncTesting
import Foundation
import SyncSupport
import Synchronization
import Testing

@testable import GameResultStore
@testable import SyncedStore

@Suite("Queues and retry plan of the results store", .timeLimit(.minutes(20)))
struct GameResultQueueTests {
  /// Groups a queue let go, and a way to wait for the next.
  final class Groups: Sendable {
    private let stream: AsyncStream<[Int]>
    private let listener: AsyncStream<[Int]>.Continuation
    private let seen = Mutex<[[Int]]>([])

    init() { (stream, listener) = AsyncStream.makeStream(of: [Int].self) }

    var all: [[Int]] { seen.withLock { $0 } }

    func add(_ group: [Int]) {
      seen.withLock { $0.append(group) }
      listener.yield(group)
    }

    func next() async -> [Int] {
      for await group in stream { return group }
      return []
    }
  }

  @Test("G: The upload queue flushes at five results, and fewer two seconds after the last one")
  func uploadQueueFlushesAtFive() async {
    let clock = SimulatedClock()
    let groups = Groups()
    let queue = UploadQueue<Int>(clock: clock) { groups.add($0) }
    queue.add(contentsOf: Array(1...12))
    #expect(groups.all == [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]])
    #expect(queue.waiting == [11, 12])
    await clock.waitForSleeper(of: .seconds(2))
    clock.advance(by: .milliseconds(1_900))
    queue.add(13)
    // The wait begins again with 13.
    await clock.waitForSleeper(of: .seconds(2))
    clock.advance(by: .milliseconds(1_900))
    #expect(queue.waiting == [11, 12, 13])
    clock.advance(by: .milliseconds(100))
    _ = await (groups.next(), groups.next())
    #expect(await groups.next() == [11, 12, 13])
    for number in 14...18 { queue.add(number) }
    #expect(groups.all.last == [14, 15, 16, 17, 18])
    queue.add(19)
    #expect(queue.takeAll() == [19] && queue.takeAll() == [])
    #expect(groups.all.count == 4)
  }

  @Test("G: The offline queue on disk holds each change once and loses none")
  func offlineQueueHoldsEachChangeOnce() throws {
    let folder = ResultFolder()
    func open() throws -> GameResultStore {
      try GameResultStore(
        directory: folder.url, container: CKContainer(identifier: "iCloud.example"),
        clock: SimulatedClock(), calendar: ResultDevice.calendar, now: { ResultDevice.noon })
    }
    let store = try open()
    let results = try store.importResults(from: wordles(1_900...1_904)).added
    #expect(try store.add(results).isEmpty)
    #expect(store.store.unsentRecordIDs == results.map { ResultRecord.recordID($0.id) })
    let ids = store.store.unsentRecordIDs
    try store.delete(results[0].id)
    try store.delete(results[1].id)
    // Another device may have added the same puzzle: its deletion is sent in any case.
    let expected = [ids[2], ids[3], ids[4], ids[0], ids[1]]
    #expect(store.store.unsentRecordIDs == expected)
    let again = try open()
    #expect(again.store.unsentRecordIDs == expected && again.status.waiting == 5)
    #expect(again.results == store.results && again.results.count == 3)
  }

  @Test("G: The retry plan waits 2, 4 and 8 seconds, longer when the server asks, then stops")
  func retryPlanWaitsLongerEachTime() {
    var plan = RetryPlan()
    let waits = [plan.next(), plan.next(), plan.next(), plan.next()]
    #expect(waits == [.seconds(2), .seconds(4), .seconds(8), nil])
    #expect(plan.isExhausted)
    plan.reset()
    let asked = [
      plan.next(serverDelay: 30), plan.next(serverDelay: 1), plan.next(serverDelay: .infinity),
    ]
    #expect(asked == [.seconds(30), .seconds(4), .seconds(8)])
  }

  @Test(
    "G: Each failure has its message, which announces a retry only when one follows"
  )
  func messagePromisesOnlyRealRetries() {
    let table: [(CKError.Code, Bool, String?)] = [
      (.networkUnavailable, true, "No internet. Will sync when online."),
      (.quotaExceeded, false, "iCloud storage full. Free up space in Settings → iCloud."),
      (.zoneBusy, true, "iCloud temporarily unavailable. Retrying..."),
      (.serviceUnavailable, true, "iCloud temporarily unavailable. Retrying..."),
      (.serviceUnavailable, false, "iCloud temporarily unavailable."),
      (.partialFailure, true, "Some data couldn't sync. Retrying..."),
      (.serverRecordChanged, true, nil), (.changeTokenExpired, true, nil),
    ]
    for (code, isRetrying, message) in table {
      #expect(SyncFailure(code, isRetrying: isRetrying).message == message, "\(code)")
    }
    let silent = CKError.Code.allCases.filter {
      SyncFailure($0, isRetrying: true, detail: "why").message == nil
    }
    #expect(silent == [.serverRecordChanged, .operationCancelled, .changeTokenExpired])
  }

  @Test("G: At first launch the list is not called empty before the first sync has ended")
  func emptyListWaitsForFirstSync() {
    let failure = SyncFailure(.serviceUnavailable, isRetrying: true)
    let table: [(SyncState, Date?, String)] = [
      (.syncing, nil, "Syncing your data..."), (.syncing, ResultDevice.noon, "No results yet"),
      (.synced(lastSyncDate: ResultDevice.noon), ResultDevice.noon, "No results yet"),
      (.failed(failure), nil, "iCloud temporarily unavailable. Retrying... Using offline data"),
      (.offline, nil, "Using offline data"),
    ]
    for (state, lastSync, text) in table {
      var status = SyncStatus(state: state, lastSync: lastSync)
      if case .failed(let failure) = state { status.message = failure.message }
      #expect(status.emptyText == text)
    }
  }

  @Test(
    "G: A damaged file gives a clear error, and nothing is changed",
    arguments: ["results.journal", "sync-state.data"])
  func damagedResultFileIsLeftUnchanged(_ name: String) throws {
    let folder = ResultFolder()
    func open() throws -> GameResultStore {
      try GameResultStore(
        directory: folder.url, container: CKContainer(identifier: "iCloud.example"),
        clock: SimulatedClock(), calendar: ResultDevice.calendar, now: { ResultDevice.noon })
    }
    do {
      let store = try open()
      try store.add(sharedText: "Wordle 1,963 4/6")
    }
    let url = folder.url.appendingPathComponent(name)
    var bytes = (try? Data(contentsOf: url)) ?? Data("{}".utf8)
    if bytes.count > 4 { bytes[bytes.count - 4] ^= 1 } else { bytes = Data("{]".utf8) }
    try bytes.write(to: url)
    let before = folder.names()
    let error = #expect(throws: FileError.self) { try open().start() }
    #expect(error?.description.contains(name) == true)
    #expect(error?.description.contains("Wordle") == false)
    #expect(folder.names() == before)
    #expect(try Data(contentsOf: url) == bytes)
  }

  @Test("G: A change that a crash interrupted is complete or not made at the next start")
  func interruptedChangeIsWholeOrAbsent() throws {
    let folder = ResultFolder()
    func open() throws -> GameResultStore {
      try GameResultStore(
        directory: folder.url, container: CKContainer(identifier: "iCloud.example"),
        clock: SimulatedClock(), calendar: ResultDevice.calendar, now: { ResultDevice.noon })
    }
    let first = try open().add(sharedText: "Wordle 1,963 4/6")
    let url = folder.url.appendingPathComponent("results.journal")
    let before = try Data(contentsOf: url)
    try open().importResults(from: wordles(1_950...1_953))
    let after = try Data(contentsOf: url)
    // The four results with their unsent changes are there together, or none of them.
    for end in before.count...after.count {
      try after.prefix(end).write(to: url)
      let store = try open()
      #expect(store.results.count == (end == after.count ? 5 : 1))
      #expect(store.status.waiting == store.results.count)
      #expect(store.result(first.id) == first)
    }
  }
}
