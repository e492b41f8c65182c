import CommandLineKit
import Foundation
import Synchronization

/// A command with this tool's standard streams, in its process group.
///
/// Foundation's `Process` would put it into a new group, where it could not read from the terminal.
final class ChildProcess: Sendable {
  private let id: pid_t
  private let hasEnded = Mutex(false)

  /// Starts a command, which is looked up in `PATH`.
  init(_ command: [String], environment: [String: String]) throws(ToolError) {
    #if canImport(Darwin)
      var attributes: posix_spawnattr_t?
    #else
      var attributes = posix_spawnattr_t()
    #endif
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // What this tool ignores would be ignored there too.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    // Threads that serve tasks block nearly all signals, which the command would go on with.
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

    var words = command.map { strdup($0) } + [nil]
    var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for text in words + variables { free(text) } }
    var id: pid_t = 0
    let error = posix_spawnp(&id, words[0] ?? strdup(""), nil, &attributes, &words, &variables)
    guard error == 0 else {
      let name = quoted(command.first ?? "")
      switch error {
      case ENOENT:
        throw ToolError("there is no command \(name); check its name and PATH", code: 127)
      default:
        throw ToolError(
          "cannot run the command \(name): \(String(cString: strerror(error)))", code: 126)
      }
    }
    self.id = id
  }

  /// Sends a signal, unless the command has ended.
  func send(_ signal: CInt) {
    hasEnded.withLock { hasEnded in
      if !hasEnded { kill(id, signal) }
    }
  }

  /// Waits for the command's end.
  func exitCode() async -> CInt {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { [self] in continuation.resume(returning: waitForEnd()) }
    }
  }

  private func waitForEnd() -> CInt {
    // The process is not reaped until no more signals are sent, because its ID could be reused.
    var info = siginfo_t()
    while waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    return hasEnded.withLock { hasEnded in
      hasEnded = true
      var status: CInt = 0
      while waitpid(id, &status, 0) < 0, errno == EINTR {}
      let signal = status & 0x7F
      return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }
  }
}
