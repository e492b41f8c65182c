/// The server's event log.
extension LoopbackServer {
  /// The number of the latest event; 0 before the first.
  public var lastEventNumber: Int { controls.events.last }

  /// The number of tasks that wait in `waitForEvents(after:)`.
  public var eventWaiterCount: Int { controls.events.waiterCount }

  /// The events after the event `number`; the log keeps at least the last 2,000.
  ///
  /// A number that this server never assigned returns no events and `missed`.
  /// - Parameters:
  ///   - number: the number of the last known event; 0 for none.
  ///   - limit: the maximum number of events, at least 0.
  public func events(after number: Int, limit: Int = 500) -> ServerEventPage {
    controls.events.page(after: number, limit: limit)
  }

  /// Returns when there is an event after `number`, when the server closes, or when the task is
  /// cancelled.
  public func waitForEvents(after number: Int) async { await controls.events.wait(after: number) }

  /// Resumes all current calls of `waitForEvents(after:)` without an event.
  package func wakeEventWaiters() { controls.events.wakeAll() }
}
