import CommandLineKit
import Foundation

/// The signals that ask the tool to end, as they arrive.
///
/// A handler may do next to nothing, so it writes the signal into a pipe that a thread reads.
final class ReceivedSignals: Sendable {
  /// One signal.
  struct Received: Hashable, Sendable {
    var number: CInt
    /// Whether the terminal sent it, which tells all programs in its foreground.
    var isFromTerminal: Bool
  }

  private let stream: AsyncStream<Received>
  /// The signals that are caught.
  static let numbers = [SIGINT, SIGTERM, SIGHUP]

  /// Catches the signals from now on; may be done once in a process.
  init() throws {
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else {
      throw ToolError("no pipe for signals: \(String(cString: strerror(errno)))")
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    signalPipe = ends[1]
    let (stream, continuation) = AsyncStream.makeStream(of: Received.self)
    self.stream = stream
    let reading = ends[0]
    Thread.detachNewThread {
      var bytes: [UInt8] = [0, 0]
      while true {
        let count = read(reading, &bytes, 2)
        if count == 2 {
          continuation.yield(Received(number: CInt(bytes[0]), isFromTerminal: bytes[1] == 1))
        } else if count == 0 || errno != EINTR {
          return
        }
      }
    }
    for number in ReceivedSignals.numbers { catchSignal(number) }
  }

  /// The next signal.
  func next() async -> Received? {
    for await signal in stream { return signal }
    return nil
  }

  /// Ends the process when another signal arrives, without any goodbye.
  func exitAtNext() {
    Task {
      guard let signal = await next() else { return }
      _exit(128 + signal.number)
    }
  }
}

/// Where the handler writes. Set once, before the first handler is there, and never changes then.
nonisolated(unsafe) private var signalPipe: CInt = -1

private func catchSignal(_ number: CInt) {
  var action = sigaction()
  action.sa_flags = CInt(SA_SIGINFO | SA_RESTART)
  let handler:
    @convention(c) (CInt, UnsafeMutablePointer<siginfo_t>?, UnsafeMutableRawPointer?) ->
      Void = { number, info, _ in
        let error = errno
        // What no process sent, the terminal did.
        let isFromTerminal = info.map { sender(of: $0.pointee) == 0 } ?? false
        var bytes = (UInt8(truncatingIfNeeded: number), UInt8(isFromTerminal ? 1 : 0))
        _ = write(signalPipe, &bytes, 2)
        errno = error
      }
  #if canImport(Darwin)
    action.__sigaction_u.__sa_sigaction = handler
  #else
    action.__sigaction_handler.sa_sigaction = handler
  #endif
  _ = sigaction(number, &action, nil)
}

/// The process that sent a signal; 0 when none did.
private func sender(of info: siginfo_t) -> pid_t {
  #if canImport(Darwin)
    info.si_pid
  #else
    info._sifields._kill.si_pid
  #endif
}
