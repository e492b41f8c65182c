import CommandLineKit
import Foundation

/// A lock on a file between processes; the system releases it when the process ends.
final class FileLock: Sendable {
  /// The kind of a lock.
  enum Kind: Sendable {
    /// Other shared locks are allowed.
    case shared
    /// No other lock is allowed.
    case exclusive
  }

  private let descriptor: CInt

  /// Locks the file at `path`, and waits while it is locked.
  ///
  /// - Parameters:
  ///   - seconds: the maximum time to wait.
  ///   - waiting: called once after half a second.
  /// - Throws: `ToolError` if the file can't be opened, or at the end of the time.
  init(
    _ path: String, _ kind: Kind, what: String, waitAtMost seconds: Double = 30,
    waiting: () -> Void = {}
  ) async throws {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw ToolError("cannot open the lock file \(path): \(String(cString: strerror(errno)))")
    }
    let operation = kind == .shared ? LOCK_SH : LOCK_EX
    var waited = 0.0
    var hasTold = false
    while flock(descriptor, operation | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK || errno == EINTR else {
        let reason = String(cString: strerror(errno))
        close(descriptor)
        throw ToolError("cannot lock \(path): \(reason)")
      }
      if waited >= 0.5 && !hasTold {
        hasTold = true
        waiting()
      }
      guard waited < seconds else {
        close(descriptor)
        throw ToolError("\(what) is in use by another stores command; try again when it is done")
      }
      do {
        try await Task.sleep(for: .milliseconds(20))
      } catch {
        close(descriptor)
        throw error
      }
      waited += 0.02
    }
    self.descriptor = descriptor
  }

  deinit {
    // A forked child may still hold the descriptor; this releases the lock at once.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}
