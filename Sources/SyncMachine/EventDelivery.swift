/// The events that the app has not handled.
struct EventDelivery: Sendable {
  /// The events to deliver, in their order.
  var events: [SyncEvent] = []
  /// Whether the app is handling an event or a question for a batch or options.
  var isWithApp = false
}

/// The state update that follows the state changes since the last one.
struct PendingUpdate: Sendable {
  /// The moment of the oldest state change that no state update has reported.
  var since: Moment?
  /// Whether the update is delivered without its delay.
  var isUrgent = false
}

/// The numbering of requests, and those that no operation awaits any more.
struct RequestHistory: Sendable {
  /// The number of the latest request.
  var lastToken: UInt64 = 0
  /// The requests that the driver may cancel.
  var abandoned: [RequestToken] = []
  /// The random number of the latest response.
  var lastJitter = 0.5
}
