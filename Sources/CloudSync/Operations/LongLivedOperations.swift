import Synchronization

/// The long-lived operations that run now, by container.
///
/// They live as long as this process: nothing runs on for an app that has ended.
enum LongLivedOperations {
  private static let running = Mutex<[String: [CKOperation]]>([:])

  /// Lists an operation of a container.
  static func add(_ operation: CKOperation, of container: String) {
    running.withLock { $0[container, default: []].append(operation) }
  }

  /// Takes an operation off the list.
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
