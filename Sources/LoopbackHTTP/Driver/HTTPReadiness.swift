/// A watch on one socket.
///
/// It belongs to the actor of its server, whose thread the watches are on.
final class HTTPReadiness {
  private let poller: HTTPPoller
  private let descriptor: Int32
  private let writing: Bool
  private let released: @Sendable () -> Void
  /// Whether it calls nothing for now.
  private(set) var isPaused = false
  private var isCancelled = false

  /// Watches at once; `released` is called after `cancel()`, when the socket may be closed.
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

  /// Calls nothing until it is resumed.
  func pause() {
    guard !isPaused, !isCancelled else { return }
    isPaused = true
    poller.set(descriptor, writing: writing, isPaused: true)
  }

  /// Goes on after a pause.
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
