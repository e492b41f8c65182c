import Records
import Synchronization

/// Keeps the latest events and wakes the tasks that wait for more.
///
/// Its lock is a leaf lock: no other code is called while it is held.
final class EventLog: Sendable {
  fileprivate struct Waiter {
    var id: Int
    var continuation: CheckedContinuation<Void, Never>
  }

  fileprivate struct Contents {
    var events: [ServerEvent] = []
    /// The number of the latest event.
    var last = 0
    var waiters: [Waiter] = []
    var nextWaiter = 0
    var isClosed = false
  }

  /// The minimum number of events that are kept.
  static let length = 2_000

  private let contents = Mutex(Contents())
  private let clock: @Sendable () -> Timestamp

  init(clock: @escaping @Sendable () -> Timestamp) { self.clock = clock }

  /// The number of the latest event; 0 before the first.
  var last: Int { contents.withLock { $0.last } }

  /// The number of waiting tasks.
  var waiterCount: Int { contents.withLock { $0.waiters.count } }

  func add(_ content: ServerEvent.Content) {
    let time = clock()
    let waiters = contents.withLock { contents in
      contents.last += 1
      contents.events.append(ServerEvent(number: contents.last, time: time, content: content))
      if contents.events.count >= 2 * EventLog.length {
        contents.events.removeFirst(EventLog.length)
      }
      return contents.takeWaiters()
    }
    for waiter in waiters { waiter.continuation.resume() }
  }

  /// The events after the event `number`, at most `limit`.
  func page(after number: Int, limit: Int) -> ServerEventPage {
    contents.withLock { contents in
      let first = contents.last - contents.events.count + 1
      guard (0...contents.last).contains(number) else {
        // The number is from another server, so the following events are unknown.
        return ServerEventPage(events: [], next: contents.last, missed: true)
      }
      let start = max(0, number + 1 - first)
      let events = Array(contents.events.dropFirst(start).prefix(max(0, limit)))
      return ServerEventPage(
        events: events, next: events.last?.number ?? number, missed: number + 1 < first)
    }
  }

  /// Returns when there is an event after `number`, when the server closes, or when the task is
  /// cancelled.
  func wait(after number: Int) async {
    let id = contents.withLock { contents in
      contents.nextWaiter += 1
      return contents.nextWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isDone = contents.withLock { contents in
          let isDone = contents.isClosed || Task.isCancelled || contents.last != number
          if !isDone { contents.waiters.append(Waiter(id: id, continuation: continuation)) }
          return isDone
        }
        if isDone { continuation.resume() }
      }
    } onCancel: {
      let waiter = contents.withLock { contents in
        contents.waiters.firstIndex { $0.id == id }.map { contents.waiters.remove(at: $0) }
      }
      waiter?.continuation.resume()
    }
  }

  /// Resumes all waiting tasks.
  func wakeAll() {
    let waiters = contents.withLock { $0.takeWaiters() }
    for waiter in waiters { waiter.continuation.resume() }
  }

  /// Resumes all waiting tasks and lets later ones return at once.
  func close() {
    let waiters = contents.withLock { contents in
      contents.isClosed = true
      return contents.takeWaiters()
    }
    for waiter in waiters { waiter.continuation.resume() }
  }
}

extension EventLog.Contents {
  fileprivate mutating func takeWaiters() -> [EventLog.Waiter] {
    defer { waiters = [] }
    return waiters
  }
}
