/// What happens on the server, while it happens.
extension LoopbackServer {
  /// The number of the latest event; 0 before the first.
  public var lastEventNumber: Int { controls.events.last }

  /// How many tasks wait in `waitForEvents(after:)`.
  public var eventWaiterCount: Int { controls.events.waiterCount }

  /// What followed the event `number`; at least the last 2,000 events are remembered.
  ///
  /// A number this server never gave to an event brings no event and says that some were missed.
  /// - Parameters:
  ///   - number: the number of the last event known; 0 for none.
  ///   - limit: the most events to return, at least 0.
  public func events(after number: Int, limit: Int = 500) -> ServerEventPage {
    controls.events.page(after: number, limit: limit)
  }

  /// Returns when there is something to say to `events(after:)`, when the server closes, or when
  /// the task is cancelled.
  public func waitForEvents(after number: Int) async { await controls.events.wait(after: number) }

  /// Lets every `waitForEvents(after:)` return that waits now, without an event.
  package func wakeEventWaiters() { controls.events.wakeAll() }
}
