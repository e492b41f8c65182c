import Synchronization

/// Suspends one task until another signals that there is work.
///
/// A signal without a waiting task is kept, so that none is lost.
final class Wakeup: Sendable {
  private enum State {
    case idle
    case signalled
    case waiting(CheckedContinuation<Void, Never>)
  }

  private let state = Mutex(State.idle)

  /// Signals that there is work; called from any thread.
  func signal() {
    let waiting: CheckedContinuation<Void, Never>? = state.withLock { state in
      switch state {
      case .idle, .signalled:
        state = .signalled
        return nil
      case .waiting(let continuation):
        state = .idle
        return continuation
      }
    }
    waiting?.resume()
  }

  /// Returns at the next signal, at once if there was one since the last return.
  func wait() async {
    await withCheckedContinuation { continuation in
      let resumesNow = state.withLock { state in
        switch state {
        case .signalled:
          state = .idle
          return true
        case .idle, .waiting:
          state = .waiting(continuation)
          return false
        }
      }
      if resumesNow { continuation.resume() }
    }
  }
}
