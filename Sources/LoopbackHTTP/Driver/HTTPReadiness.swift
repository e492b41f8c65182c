/// A watch on one socket.
///
/// Isolated to the server's actor, whose thread runs the watches.
final class HTTPReadiness {
  private let poller: HTTPPoller
  private let descriptor: Int32
  private let writing: Bool
  private let released: @Sendable () -> Void
  /// Whether the watch is paused.
  private(set) var isPaused = false
  private var isCancelled = false

  /// Starts watching; `released` is called after `cancel()`, when the socket may be closed.
  init(
    _ poller: HTTPPoller, _ descriptor: Int32, writing: Bool,
    event: @escaping @Sendable () -> Void, released: @escaping @Sendable () -> Void
  ) {
    self.poller = poller
    self.descriptor = descriptor
    self.writing = writing
    self.released = released
    poller.watch(descriptor, writing: writing, event: event)
  }

  deinit { cancel() }

  /// Pauses the watch until `resume()`.
  func pause() {
    guard !isPaused, !isCancelled else { return }
    isPaused = true
    poller.set(descriptor, writing: writing, isPaused: true)
  }

  /// Resumes the watch after a pause.
  func resume() {
    guard isPaused, !isCancelled else { return }
    isPaused = false
    poller.set(descriptor, writing: writing, isPaused: false)
  }

  /// Ends the watch.
  func cancel() {
    guard !isCancelled else { return }
    isCancelled = true
    poller.remove(descriptor, writing: writing, released: released)
  }
}
