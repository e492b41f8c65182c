import Dispatch

/// A source that watches one socket.
///
/// Dispatch traps when a source is resumed once too often or let go while it is paused; here
/// neither can happen.
final class HTTPReadiness {
  private let source: any DispatchSourceProtocol
  /// Whether it calls nothing for now.
  private(set) var isPaused = false
  private var isCancelled = false

  /// Watches at once; `released` is called after `cancel()`, when the socket may be closed.
  init(
    _ source: any DispatchSourceProtocol, event: @escaping @Sendable () -> Void,
    released: @escaping @Sendable () -> Void
  ) {
    self.source = source
    source.setEventHandler(handler: event)
    source.setCancelHandler(handler: released)
    source.activate()
  }

  deinit { cancel() }

  /// About how much there is to read; 0 at the end.
  ///
  /// Dispatch on Linux says 0 as well when both sides have ended and something is left to read,
  /// and then never calls again.
  var available: UInt { source.data }

  /// Calls nothing until it is resumed.
  func pause() {
    guard !isPaused, !isCancelled else { return }
    isPaused = true
    source.suspend()
  }

  /// Goes on after a pause.
  func resume() {
    guard isPaused else { return }
    isPaused = false
    source.resume()
  }

  /// Ends the watch.
  func cancel() {
    guard !isCancelled else { return }
    isCancelled = true
    source.cancel()
    // A paused source would never get to its end.
    resume()
  }
}
