import Foundation

/// A lock on a file between processes; the system releases it when the process ends.
package final class FileLock: Sendable {
  /// The kind of a lock.
  package enum Kind: Sendable {
    /// Other shared locks are allowed.
    case shared
    /// No other lock is allowed.
    case exclusive
  }

  private let descriptor: CInt

  /// Locks the file at `path`, and waits while it is locked.
  ///
  /// - Parameters:
  ///   - busy: the message of the error if it is still locked at the end of the time.
  ///   - seconds: the maximum time to wait.
  ///   - waiting: called once after half a second.
  /// - Throws: `ToolError` if the file can't be opened, or at the end of the time.
  package init(
    _ path: String, _ kind: Kind, busy: String, waitAtMost seconds: Double = 30,
    waiting: () -> Void = {}
  ) async throws {
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw ToolError("cannot open the lock file \(path): \(String(cString: strerror(errno)))")
    }
    let operation = kind == .shared ? LOCK_SH : LOCK_EX
    var waited = 0.0
    var hasTold = false
    while flock(descriptor, operation | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR else {
        throw ToolError("cannot lock \(path): \(String(cString: strerror(errno)))")
      }
      if waited >= 0.5 && !hasTold {
        hasTold = true
        waiting()
      }
      guard waited < seconds else { throw ToolError(busy) }
      try await Task.sleep(for: .milliseconds(20))
      waited += 0.02
    }
  }

  deinit {
    guard descriptor >= 0 else { return }
    // A forked child may still hold the descriptor; this releases the lock at once.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}
