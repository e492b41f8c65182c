import Foundation

#if os(Linux)
  import CEpoll
#endif

/// Asks the system which sockets are readable or writable.
///
/// Uses epoll where it is available, so that idle sockets cost nothing; otherwise poll.
struct HTTPSelector {
  /// A descriptor that is readable or writable; both if it is broken.
  struct ReadyDescriptor {
    var descriptor: Int32
    var canRead: Bool
    var canWrite: Bool
  }

  fileprivate struct Interest: Equatable {
    var reading = false
    var writing = false
    var isNone: Bool { !reading && !writing }
  }

  private var interests: [Int32: Interest] = [:]
  /// The epoll descriptor; negative where epoll is not available.
  private let table: Int32

  init() {
    #if os(Linux)
      table = epoll_create1(Int32(EPOLL_CLOEXEC))
    #else
      table = -1
    #endif
  }

  /// Releases the epoll descriptor.
  func close() { if table >= 0 { HTTPSocket.release(table) } }

  /// Sets whether a descriptor is watched for reading, or for writing.
  mutating func set(_ descriptor: Int32, writing: Bool, isWatched: Bool) {
    let old = interests[descriptor] ?? Interest()
    var new = old
    if writing { new.writing = isWatched } else { new.reading = isWatched }
    guard new != old else { return }
    interests[descriptor] = new.isNone ? nil : new
    #if os(Linux)
      guard table >= 0 else { return }
      var event = epoll_event()
      event.events =
        (new.reading ? EPOLLIN.rawValue : 0) | (new.writing ? EPOLLOUT.rawValue : 0)
      event.data.fd = descriptor
      // A descriptor without interest is removed: a broken connection would be reported forever.
      let change = new.isNone ? EPOLL_CTL_DEL : old.isNone ? EPOLL_CTL_ADD : EPOLL_CTL_MOD
      _ = epoll_ctl(table, change, descriptor, &event)
    #endif
  }

  /// A copy of the interests, which can be polled while other threads change them.
  var question: Question { Question(table: table, interests: table < 0 ? interests : [:]) }

  /// One poll of the system.
  struct Question {
    fileprivate let table: Int32
    fileprivate let interests: [Int32: Interest]

    /// Waits until a descriptor is ready, at most `milliseconds`; -1 waits without a limit.
    func wait(milliseconds: Int32) -> [ReadyDescriptor] {
      #if os(Linux)
        if table >= 0 { return waitWithTable(milliseconds) }
      #endif
      var entries = interests.map { descriptor, interest in
        pollfd(
          fd: descriptor,
          events: Int16(interest.reading ? POLLIN : 0) | Int16(interest.writing ? POLLOUT : 0),
          revents: 0)
      }
      guard poll(&entries, nfds_t(entries.count), milliseconds) > 0 else { return [] }
      return entries.filter { $0.revents != 0 }.map { entry in
        let isBroken = entry.revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0
        return ReadyDescriptor(
          descriptor: entry.fd, canRead: isBroken || entry.revents & Int16(POLLIN) != 0,
          canWrite: isBroken || entry.revents & Int16(POLLOUT) != 0)
      }
    }

    #if os(Linux)
      private func waitWithTable(_ milliseconds: Int32) -> [ReadyDescriptor] {
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 128) { events in
          let count = epoll_wait(table, events.baseAddress, Int32(events.count), milliseconds)
          return events.prefix(Int(max(0, count))).map { event in
            let isBroken = event.events & (EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0
            return ReadyDescriptor(
              descriptor: event.data.fd,
              canRead: isBroken || event.events & EPOLLIN.rawValue != 0,
              canWrite: isBroken || event.events & EPOLLOUT.rawValue != 0)
          }
        }
      }
    #endif
  }
}
