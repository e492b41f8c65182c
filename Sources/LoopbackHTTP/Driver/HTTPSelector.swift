#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif
#if os(Linux)
  import CEpoll
#endif

/// Asks the system which sockets can be read or written.
///
/// With epoll, where there is one, the cost does not grow with the sockets that are silent; else
/// with poll.
struct HTTPSelector {
  /// What can be done with a descriptor; both when it is broken.
  struct Finding {
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
  /// The descriptor of the system's own table; below 0 where there is none.
  private let table: Int32

  init() {
    #if os(Linux)
      table = epoll_create1(Int32(EPOLL_CLOEXEC))
    #else
      table = -1
    #endif
  }

  /// Gives back what it holds.
  func close() { if table >= 0 { HTTPSocket.release(table) } }

  /// Wants to know of a descriptor that it can be read, or written, or neither.
  mutating func set(_ descriptor: Int32, reading: Bool? = nil, writing: Bool? = nil) {
    let old = interests[descriptor] ?? Interest()
    let new = Interest(reading: reading ?? old.reading, writing: writing ?? old.writing)
    guard new != old else { return }
    interests[descriptor] = new.isNone ? nil : new
    #if os(Linux)
      guard table >= 0 else { return }
      var event = epoll_event()
      event.events =
        (new.reading ? EPOLLIN.rawValue : 0) | (new.writing ? EPOLLOUT.rawValue : 0)
      event.data.fd = descriptor
      // What nobody waits for is taken out: a broken connection would be told for ever.
      let change = new.isNone ? EPOLL_CTL_DEL : old.isNone ? EPOLL_CTL_ADD : EPOLL_CTL_MOD
      _ = epoll_ctl(table, change, descriptor, &event)
    #endif
  }

  /// What to ask the system, which can be done while others change what is wanted.
  var question: Question { Question(table: table, interests: table < 0 ? interests : [:]) }

  /// A question to the system.
  struct Question {
    fileprivate let table: Int32
    fileprivate let interests: [Int32: Interest]

    /// Waits until something is found, so many milliseconds at most, or without end for -1.
    func wait(milliseconds: Int32) -> [Finding] {
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
        return Finding(
          descriptor: entry.fd, canRead: isBroken || entry.revents & Int16(POLLIN) != 0,
          canWrite: isBroken || entry.revents & Int16(POLLOUT) != 0)
      }
    }

    #if os(Linux)
      private func waitWithTable(_ milliseconds: Int32) -> [Finding] {
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 128) { events in
          let count = epoll_wait(table, events.baseAddress, Int32(events.count), milliseconds)
          return events.prefix(Int(max(0, count))).map { event in
            let isBroken = event.events & (EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0
            return Finding(
              descriptor: event.data.fd,
              canRead: isBroken || event.events & EPOLLIN.rawValue != 0,
              canWrite: isBroken || event.events & EPOLLOUT.rawValue != 0)
          }
        }
      }
    #endif
  }
}
