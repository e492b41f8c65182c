import Records
import Synchronization

/// Remembers the latest of what happened, and wakes who waits for more.
///
/// Its own lock is the last one taken: nothing is called while it is held.
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

  /// How many events are remembered at least.
  static let length = 2_000

  private let contents = Mutex(Contents())
  private let clock: @Sendable () -> Timestamp

  init(clock: @escaping @Sendable () -> Timestamp) { self.clock = clock }

  /// The number of the latest event; 0 before the first.
  var last: Int { contents.withLock { $0.last } }

  /// How many tasks wait.
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

  /// What followed the event `number`, at most `limit` events of it.
  func page(after number: Int, limit: Int) -> ServerEventPage {
    contents.withLock { contents in
      let first = contents.last - contents.events.count + 1
      guard (0...contents.last).contains(number) else {
        // A number of another server: its story can't be told on.
        return ServerEventPage(events: [], next: contents.last, missed: true)
      }
      let start = max(0, number + 1 - first)
      let events = Array(contents.events.dropFirst(start).prefix(max(0, limit)))
      return ServerEventPage(
        events: events, next: events.last?.number ?? number, missed: number + 1 < first)
    }
  }

  /// Returns when something followed the event `number`, when the server closes, or when the task
  /// is cancelled.
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

  /// Lets nobody wait who waits now.
  func wakeAll() {
    let waiters = contents.withLock { $0.takeWaiters() }
    for waiter in waiters { waiter.continuation.resume() }
  }

  /// Lets nobody wait any longer.
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
