import Synchronization

/// Something that happens once, and that others wait for; it may happen before they wait.
package final class Signal: Sendable {
  private struct Contents {
    var hasFired = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let contents = Mutex(Contents())

  /// Creates a signal that has not happened.
  package init() {}

  /// It happens now, unless it has.
  package func fire() {
    let waiters = contents.withLock { contents in
      contents.hasFired = true
      defer { contents.waiters = [] }
      return contents.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Whether it has happened.
  package var hasFired: Bool { contents.withLock { $0.hasFired } }

  /// Returns when it has happened, even if the task is cancelled.
  package func wait() async {
    await withCheckedContinuation { continuation in
      let isDone = contents.withLock { contents in
        if !contents.hasFired { contents.waiters.append(continuation) }
        return contents.hasFired
      }
      if isDone { continuation.resume() }
    }
  }
}
