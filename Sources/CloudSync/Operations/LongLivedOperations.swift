import Foundation
import Synchronization

/// The running long-lived operations, by container.
///
/// They end with the process.
enum LongLivedOperations {
  private static let running = Mutex<[String: [CKOperation]]>([:])

  /// Lists an operation of a container.
  static func add(_ operation: CKOperation, of container: String) {
    running.withLock { $0[container, default: []].append(operation) }
  }

  /// Removes an operation from the list.
  static func remove(_ operation: CKOperation, of container: String) {
    running.withLock { running in
      running[container]?.removeAll { $0 === operation }
      if running[container]?.isEmpty == true { running[container] = nil }
    }
  }

  /// The listed operations of a container, oldest first.
  static func operations(of container: String) -> [CKOperation] {
    running.withLock { $0[container] ?? [] }
  }
}

/// The queue of the operations that are added to a database or container.
///
/// One queue suffices: operations do not block a thread while they wait.
let operationQueue: OperationQueue = {
  let queue = OperationQueue()
  queue.name = "swift-cloud-sync.operations"
  queue.maxConcurrentOperationCount = .max
  return queue
}()
