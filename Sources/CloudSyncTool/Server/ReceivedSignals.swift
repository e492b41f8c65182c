import CommandLineKit
import Foundation
import Synchronization

/// The received termination signals, and the one that asks for log files to be opened again.
///
/// A signal handler may call few functions, so it writes the signal to a pipe that a thread reads.
final class ReceivedSignals: Sendable {
  /// A signal.
  struct Received: Hashable, Sendable {
    var number: CInt
    /// Whether the terminal sent it, to all processes in its foreground group.
    var isFromTerminal: Bool
  }

  private struct State {
    var handler: (@Sendable (Received) -> Void)?
    /// The signals that arrived without a handler.
    var early: [Received] = []
    /// Called when `SIGUSR1` arrives.
    var reopening: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())
  /// The handled termination signals.
  private static let numbers = [SIGINT, SIGTERM, SIGHUP]

  /// Starts handling the signals; allowed once per process.
  init() throws(ToolError) {
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else {
      throw ToolError("no pipe for signals: \(String(cString: strerror(errno)))")
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    signalPipe = ends[1]
    let reading = ends[0]
    Thread.detachNewThread { [self] in
      var bytes: [UInt8] = [0, 0]
      while true {
        let count = read(reading, &bytes, 2)
        if count == 2 {
          take(Received(number: CInt(bytes[0]), isFromTerminal: bytes[1] == 1))
        } else if count == 0 || errno != EINTR {
          return
        }
      }
    }
    for number in ReceivedSignals.numbers { catchSignal(number) }
  }

  /// Sets what is called for `SIGUSR1`, which ends the process until this is called.
  func handleReopening(_ handler: @escaping @Sendable () -> Void) {
    let isFirst = state.withLock { state in
      defer { state.reopening = handler }
      return state.reopening == nil
    }
    if isFirst { catchSignal(SIGUSR1) }
  }

  private func take(_ signal: Received) {
    guard signal.number != SIGUSR1 else {
      state.withLock { $0.reopening }?()
      return
    }
    let handler = state.withLock { state in
      if state.handler == nil { state.early.append(signal) }
      return state.handler
    }
    handler?(signal)
  }

  /// Sets the handler, replacing an earlier one; signals that arrived without a handler are
  /// delivered at once.
  func handle(_ handler: @escaping @Sendable (Received) -> Void) {
    let early = state.withLock { state in
      state.handler = handler
      defer { state.early = [] }
      return state.early
    }
    for signal in early { handler(signal) }
  }

  /// Keeps signals for the next handler.
  func hold() { state.withLock { $0.handler = nil } }

  /// Waits for a signal; further signals end the process immediately.
  func next() async {
    await withCheckedContinuation { continuation in handleNext { _ in continuation.resume() } }
  }

  /// Sets the handler of the next signal; further signals end the process immediately.
  func handleNext(_ handler: @escaping @Sendable (Received) -> Void) {
    let isNext = Mutex(true)
    handle { signal in
      let wasNext = isNext.withLock { isNext in
        defer { isNext = false }
        return isNext
      }
      if wasNext { handler(signal) } else { ReceivedSignals.end(signal) }
    }
  }

  /// Ends the process immediately.
  static func end(_ signal: Received) { _exit(128 + signal.number) }
}

/// The pipe to which the handler writes.
///
/// Set once, before the handler is installed.
nonisolated(unsafe) private var signalPipe: CInt = -1

private func catchSignal(_ number: CInt) {
  var action = sigaction()
  // Respect nohup: keep SIGHUP ignored.
  if number == SIGHUP, sigaction(number, nil, &action) == 0, isIgnored(action) { return }
  action.sa_flags = CInt(SA_SIGINFO | SA_RESTART)
  let handler:
    @convention(c) (CInt, UnsafeMutablePointer<siginfo_t>?, UnsafeMutableRawPointer?) ->
      Void = { number, info, _ in
        let error = errno
        let isFromTerminal = info.map { isFromSystem($0.pointee) } ?? false
        var bytes = (UInt8(truncatingIfNeeded: number), UInt8(isFromTerminal ? 1 : 0))
        _ = write(signalPipe, &bytes, 2)
        errno = error
      }
  #if canImport(Darwin)
    action.__sigaction_u.__sa_sigaction = handler
  #elseif canImport(Musl)
    action.__sa_handler.sa_sigaction = handler
  #else
    action.__sigaction_handler.sa_sigaction = handler
  #endif
  _ = sigaction(number, &action, nil)
}

private func isIgnored(_ action: sigaction) -> Bool {
  #if canImport(Darwin)
    let handler = action.__sigaction_u.__sa_handler
  #elseif canImport(Musl)
    let handler = action.__sa_handler.sa_handler
  #else
    let handler = action.__sigaction_handler.sa_handler
  #endif
  // SIG_IGN is not a function but the address 1.
  return unsafeBitCast(handler, to: Int.self) == 1
}

/// Whether the system sent the signal, for example for a pressed key, and not a process.
private func isFromSystem(_ info: siginfo_t) -> Bool {
  #if canImport(Darwin)
    info.si_pid == 0
  #else
    info.si_code > 0
  #endif
}
