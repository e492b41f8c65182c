import CloudProtocol
import CloudSyncTesting
import Records
import Synchronization
import Testing

@testable import LoopbackServer

/// How much a server keeps, and how often it tries.
@Suite("The bounds of a server", .timeLimit(.minutes(20)))
struct ServerBoundTests {
  @Test("A delay lasts a day at most")
  func delayLastsADay() async throws {
    let world = World()
    world.controls.delay(by: 100_000)
    async let user = world.phone.send(
      CloudCall(container: "c", database: .private, requestID: "1", request: .fetchCurrentUser))
    await world.clock.waitForSleepers()
    #expect(world.clock.hasSleeper(of: .seconds(86_400)))
    world.clock.advance(by: .seconds(100_000))
    _ = try await user
    world.close()
  }

  /// A storage with these rows of the zone `zone` in alice's database.
  private static func server(_ rows: [RecordRow]) throws -> LoopbackServer {
    let storage = MemoryStorage()
    let alice = UserID("_a")
    let home = DatabaseID(
      container: "c", environment: .development, scope: .private, owner: alice)
    try storage.commit(
      [
        .putAccount(AccountRow(name: "alice", user: alice)),
        .putDatabase(DatabaseRow(id: home, incarnation: 1, sequence: 100_000)),
        .putZone(ZoneRow(id: zone, incarnation: 1, changedAt: 100_000), in: home),
      ] + rows.map { .putRecord($0, in: home) })
    return try LoopbackServer(storage: storage)
  }

  private static let zone = ZoneID(name: "Z")

  private static func row(_ number: Int, isLive: Bool = true) -> RecordRow {
    let id = RecordID(name: "r\(number)", zone: zone)
    return RecordRow(
      id: id, type: "T", record: isLive ? Record(id: id, type: "T") : nil,
      changedAt: UInt64(number), device: nil)
  }

  private func latest(
    _ server: LoopbackServer, before: UInt64? = nil, limit: Int
  ) throws -> LatestRecords {
    try server.latestRecords(
      in: Self.zone, container: "c", account: "alice", environment: .development, before: before,
      limit: limit)
  }

  @Test("The records of a zone are counted up to 10,000")
  func recordsAreCountedUpToALimit() throws {
    let server = try Self.server((1...10_001).map { Self.row($0) })
    let page = try latest(server, limit: 2)
    #expect(page.count == 10_000 && page.records.map(\.id.name) == ["r10001", "r10000"])
    server.close()
  }

  @Test("A page of the latest records looks at 20,000 changes, and the next one goes on")
  func pageLooksAtManyChanges() throws {
    let rows = [Self.row(1)] + (2...20_002).map { Self.row($0, isLive: false) }
    let server = try Self.server(rows)
    let page = try latest(server, limit: 10_000)
    #expect(page.records.isEmpty && page.count == 1)
    let next = try #require(page.next)
    let rest = try latest(server, before: next, limit: 10_000)
    #expect(rest.records.map(\.id.name) == ["r1"] && rest.next == nil)
    server.close()
  }

  @Test("A transaction is run ten times, or six times if each run waits; an export runs once")
  func transactionsAreRunAgain() throws {
    let conflicts = Conflicts()
    let server = try LoopbackServer(storage: ConflictingStorage(conflicts))
    let start = server.storageUse
    for (count, delay, runs) in [
      (0, Duration.zero, 1), (9, .zero, 10), (10, .zero, 10), (5, .nanoseconds(1), 6),
      (6, .nanoseconds(1), 6),
    ] {
      let before = server.storageUse
      conflicts.set(count, delay: delay)
      let isDone = (try? server.accounts()) != nil
      #expect(isDone == (count < runs), "\(count)")
      #expect(conflicts.left == max(0, count - runs), "\(count)")
      let use = server.storageUse
      #expect(use.conflicts - before.conflicts == min(count, runs - 1), "\(count)")
      #expect(use.transactions - before.transactions == 1)
      if !isDone { #expect(use.lastFailure == "busy") }
    }
    conflicts.set(1, delay: .zero)
    let error = #expect(throws: CloudError.self) { try server.exportArchive() }
    #expect(error?.code == .zoneBusy && conflicts.left == 0)
    #expect(start.lastFailure == nil)
    server.close()
  }

  @Test("A client is told to wait a second for a busy file, and half a minute for a full disk")
  func failuresOfAFileSayWhenToRetry() throws {
    let conflicts = Conflicts()
    let server = try LoopbackServer(storage: ConflictingStorage(conflicts))
    for code in ServerFileError.Code.allCases {
      conflicts.fail(code)
      let error = #expect(throws: CloudError.self) { try server.accounts() }
      let seconds: Double? =
        switch code {
        case .busy: 1
        case .full, .readOnly, .failed: 30
        case .cannotOpen, .notADatabase, .foreign, .newer, .damaged: nil
        }
      #expect(error?.retryAfter == seconds, "\(code)")
      #expect(error?.code == (seconds == nil ? .internalError : .serviceUnavailable), "\(code)")
    }
    conflicts.fail(nil)
    server.close()
  }
}
