import CloudProtocol
import Dispatch
import Synchronization
import Testing
import VerificationSupport

@testable import LoopbackServer

/// The connections of a server that shares its data with others, here without a database.
@Suite("The connections of a shared storage", .timeLimit(.minutes(20)))
struct StoragePoolTests {
  private final class Work: Sendable {
    let started = Signal()
    let gate = DispatchSemaphore(value: 0)
    let done = Mutex<[String]>([])

    /// Uses a connection until the gate opens.
    func run(_ name: String, on pool: StoragePool) throws(CloudError) {
      do {
        try pool.use { _ in
          started.fire()
          gate.wait()
          done.withLock { $0.append(name) }
        }
      } catch {
        throw error as? CloudError ?? CloudError(.internalError, "\(error)")
      }
    }
  }

  private static func pool(_ patience: Duration, size: Int = 4) -> StoragePool {
    StoragePool((0..<size).map { _ in MemoryStorage() }, patience: patience)
  }

  @Test("Requests of one account wait for each other, and leave two connections to all others")
  func requestsOfOneLockWait() async throws {
    let pool = Self.pool(.seconds(600), size: 3)
    let (first, second) = (Work(), Work())
    async let one: Void = pool.run(lock: "a") { () throws(CloudError) in
      try first.run("one", on: pool)
    }
    await first.started.wait()
    #expect(pool.load == (1, 0))
    async let two: Void = pool.run(lock: "a") { () throws(CloudError) in
      try second.run("two", on: pool)
    }
    while pool.load.waiting == 0 { await Task.yield() }
    #expect(pool.load == (1, 1) && !second.started.hasFired)
    for lock in ["b", nil] {
      let value = try await pool.run(lock: lock) { () throws(CloudError) in 7 }
      #expect(value == 7 && !second.started.hasFired)
    }
    first.gate.signal()
    _ = try await one
    await second.started.wait()
    #expect(first.done.withLock { $0 } == ["one"] && pool.load == (1, 0))
    second.gate.signal()
    _ = try await two
    let last = try await pool.run(lock: "a") { () throws(CloudError) in 8 }
    #expect(last == 8)
    while pool.load != (0, 0) { await Task.yield() }
    pool.close()
    #expect(throws: CloudError.self) { try pool.use { _ in } }
  }

  @Test("A request that waited too long is refused, and a transaction is not run again after that")
  func patienceIsBounded() async throws {
    let pool = Self.pool(.zero)
    let error = await #expect(throws: CloudError.self) {
      try await pool.run { () throws(CloudError) in 1 }
    }
    #expect(error?.code == .serviceUnavailable && error?.retryAfter == 1)
    #expect(!pool.allowsRun(after: .zero) && pool.isShared && pool.size == 4)
    let patient = Self.pool(.seconds(10))
    #expect(patient.allowsRun(after: .seconds(9)) && !patient.allowsRun(after: .seconds(10)))
    let single = StoragePool(MemoryStorage())
    #expect(single.allowsRun(after: .seconds(10_000)) && !single.isShared && single.size == 1)
    #expect(try await single.run(lock: "a") { () throws(CloudError) in 2 } == 2)
    #expect(single.load == (0, 0))
    try single.use { _ in #expect(single.load == (1, 0)) }
    for pool in [pool, patient, single] { pool.close() }
    #expect(single.load == (0, 0))
  }
}
