import CommandLineKit
import Foundation

/// A lock that processes take on a file; it is free again when the holder ends, however it ends.
final class FileLock: Sendable {
  /// Who else may hold the lock at the same time.
  enum Kind: Sendable {
    /// Others who share it.
    case shared
    /// Nobody.
    case exclusive
  }

  private let descriptor: CInt

  /// Takes the lock on the file at `path`, waiting when it is held.
  ///
  /// - Parameters:
  ///   - seconds: how long to wait at most.
  ///   - waiting: called once when the wait becomes worth a word.
  /// - Throws: `ToolError` when the file can't be opened, or the wait was too long.
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
      // Most commands take a moment; only a longer wait is worth a word.
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
    // A child forked at this moment holds the descriptor too; only this frees the lock at once.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}
