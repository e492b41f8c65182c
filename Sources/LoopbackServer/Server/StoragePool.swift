import CloudMachine
import CloudProtocol
import Dispatch
import Foundation
import Synchronization

/// A storage that prepares the next run of a transaction that ended with a `TransactionConflict`.
protocol RerunStorage: AnyObject {
  /// Called when a transaction is not run again: the next one is another.
  func endRuns()
}

/// A storage in this process that can be read while it is changed.
protocol SnapshotStorage: CloudStorage {
  /// A storage whose next transaction reads one state of the data while others change it; `nil` if
  /// the storage can't make one now.
  ///
  /// The caller only reads from it, and closes it.
  func snapshotForReading() throws -> (any CloudStorage)?
}

extension MemoryStorage: SnapshotStorage {
  func snapshotForReading() -> (any CloudStorage)? { snapshot() }
}

/// The storages of a server: views of the same data, each used by one transaction at a time.
///
/// A storage in this process is a pool of one, whose transactions run on their caller's thread. The
/// transactions of several storages, which wait for a database elsewhere, run on threads of their
/// own.
final class StoragePool: Sendable {
  /// The number of storages.
  let size: Int
  /// The storages that no transaction uses; `nil` once the pool is closed.
  private let idle: Mutex<[Storage]?>
  /// One for each idle storage.
  private let permits: DispatchSemaphore
  /// The threads of transactions that wait for a database elsewhere.
  private let threads: OperationQueue?
  /// How long a transaction may wait for a storage; `nil` for ever.
  private let patience: Duration?
  /// The transactions of each lock that run, and those that wait for their turn.
  private let locks = Mutex<[String: LockQueue]>([:])

  private struct LockQueue {
    var running = 0
    var waiting: [@Sendable () -> Void] = []
  }

  // The lock of `idle` guards it: who took it out uses it alone.
  private struct Storage: @unchecked Sendable {
    let value: any CloudStorage
  }

  /// A pool of a storage in this process.
  init(_ storage: sending any CloudStorage) {
    size = 1
    idle = Mutex([Storage(value: storage)])
    permits = DispatchSemaphore(value: 1)
    threads = nil
    patience = nil
  }

  /// A pool of storages that wait for a database elsewhere.
  ///
  /// - Parameters:
  ///   - storages: views of the same data, at least one.
  ///   - patience: how long a transaction may wait for one of them.
  init(_ storages: sending [any CloudStorage], patience: Duration) {
    size = storages.count
    idle = Mutex(storages.map(Storage.init))
    permits = DispatchSemaphore(value: size)
    let threads = OperationQueue()
    threads.maxConcurrentOperationCount = size
    self.threads = threads
    self.patience = patience
  }

  /// Whether other transactions may change the data while one runs.
  var isShared: Bool { threads != nil }

  /// Whether a transaction that took some time may be run again, rather than keep its storage from
  /// others.
  func allowsRun(after time: Duration) -> Bool { patience.map { time < $0 } ?? true }

  /// The number of storages in use, and of transactions that wait for one.
  var load: (used: Int, waiting: Int) {
    let used = size - (idle.withLock { $0?.count } ?? size)
    let queued = locks.withLock { $0.values.reduce(0) { $0 + $1.waiting.count } }
    return (used, queued + max(0, (threads?.operationCount ?? 0) - used))
  }

  /// Runs `body` with a storage on this thread.
  ///
  /// - Throws: `networkFailure` if the pool is closed, `serviceUnavailable` if no storage was free
  ///   in time, and what `body` throws.
  func use<Value>(_ body: (any CloudStorage) throws -> Value) throws -> Value {
    if let patience {
      guard permits.wait(timeout: .now() + patience / .seconds(1)) == .success else {
        throw StoragePool.exhausted
      }
    } else {
      permits.wait()
    }
    defer { permits.signal() }
    guard let storage = idle.withLock({ $0?.popLast() }) else {
      throw CloudError(.networkFailure, "the loopback server is closed")
    }
    defer {
      if isShared { (storage.value as? any RerunStorage)?.endRuns() }
      idle.withLock { $0?.append(storage) }
    }
    return try body(storage.value)
  }

  /// Runs `work`, which calls `use`, where it may wait.
  ///
  /// - Parameter lock: names a lock in the database that the transaction may wait for. Two storages
  ///   are kept from transactions with the same one, so that those of others do not wait for it.
  func run<Value: Sendable>(
    lock: String? = nil, _ work: @escaping @Sendable () throws(CloudError) -> Value
  ) async throws(CloudError) -> Value {
    guard let threads, let patience else { return try work() }
    let deadline = ContinuousClock.now + patience
    let result: Result<Value, CloudError> = await withCheckedContinuation { done in
      enqueue(lock) {
        threads.addOperation {
          defer { self.dequeue(lock) }
          guard ContinuousClock.now < deadline else {
            return done.resume(returning: .failure(StoragePool.exhausted))
          }
          done.resume(returning: Result { () throws(CloudError) in try work() })
        }
      }
    }
    return try result.get()
  }

  /// Calls `start` now, or when fewer transactions with the same lock run.
  private func enqueue(_ lock: String?, _ start: @escaping @Sendable () -> Void) {
    guard let lock else { return start() }
    let isFirst = locks.withLock { locks in
      if locks[lock, default: LockQueue()].running >= max(1, size - 2) {
        locks[lock]?.waiting.append(start)
        return false
      }
      locks[lock, default: LockQueue()].running += 1
      return true
    }
    if isFirst { start() }
  }

  /// Starts the next transaction with a lock after one has ended.
  private func dequeue(_ lock: String?) {
    guard let lock else { return }
    let next = locks.withLock { locks -> (@Sendable () -> Void)? in
      guard let queue = locks[lock] else { return nil }
      if !queue.waiting.isEmpty { return locks[lock]?.waiting.removeFirst() }
      locks[lock] = queue.running > 1 ? LockQueue(running: queue.running - 1) : nil
      return nil
    }
    next?()
  }

  private static let exhausted = CloudError(
    .serviceUnavailable, "all connections to the database are in use; try again", retryAfter: 1)

  /// Closes the storages after their transactions have ended; a second call does nothing.
  func close() {
    for _ in 0..<size {
      permits.wait()
      // A file that cannot be closed cleanly has nothing more to lose: every commit is synced.
      try? idle.withLock({ $0?.popLast() })?.value.close()
    }
    idle.withLock { $0 = nil }
    for _ in 0..<size { permits.signal() }
  }
}
