import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Waits for sockets and for work, and does the one after the other on the one thread that calls
/// `run()`.
///
/// Dispatch has sources for sockets, but on Linux their bookkeeping reads freed memory when
/// connections come and go quickly, which ends the process
/// (github.com/swiftlang/swift-corelibs-libdispatch/issues/949).
final class HTTPPoller: Sendable {
  private struct Mailbox {
    var works: [@Sendable () -> Void] = []
    /// Whether the thread sleeps, or is about to.
    var isWaiting = false
    var hasEnded = false
  }

  /// What is watched, each at a place of its own.
  private struct Watches {
    var entries: [pollfd] = []
    var owners: [Owner?] = []
    var free: [Int] = []
    var nextID = 0
  }

  private struct Owner {
    var id: Int
    var event: @Sendable () -> Void
  }

  /// A place among the watches, and whose it is.
  struct Ticket: Sendable {
    fileprivate var place: Int
    fileprivate var id: Int
  }

  private let mailbox = Mutex(Mailbox())
  private let watches = Mutex(Watches())
  /// A pipe that wakes the thread; `nil` when the process had no descriptors left for it.
  private let bell: (reading: Int32, writing: Int32)?

  init() {
    bell = HTTPSocket.makeBell()
    guard let bell else { return }
    watches.withLock { watches in
      watches.entries.append(pollfd(fd: bell.reading, events: Int16(POLLIN), revents: 0))
      watches.owners.append(nil)
    }
  }

  deinit {
    guard let bell else { return }
    HTTPSocket.release(bell.reading)
    HTTPSocket.release(bell.writing)
  }

  // MARK: From any thread

  /// Calls `work` on the thread, after what waits there already.
  func execute(_ work: @escaping @Sendable () -> Void) {
    let sleeps = mailbox.withLock { mailbox in
      mailbox.works.append(work)
      defer { mailbox.isWaiting = false }
      return mailbox.isWaiting
    }
    if sleeps { ring() }
  }

  /// Lets the thread go when all work is done.
  func end() {
    mailbox.withLock { $0.hasEnded = true }
    ring()
  }

  private func ring() {
    guard let bell else { return }
    // A full pipe rings as well.
    [UInt8(1)].withUnsafeBytes { _ = HTTPSocket.write(bell.writing, $0) }
  }

  // MARK: On the thread

  /// Calls `event` whenever the descriptor can be read, or written, or is broken.
  func watch(
    _ descriptor: Int32, writing: Bool, event: @escaping @Sendable () -> Void
  ) -> Ticket {
    let entry = pollfd(fd: descriptor, events: Int16(writing ? POLLOUT : POLLIN), revents: 0)
    return watches.withLock { watches in
      watches.nextID += 1
      let owner = Owner(id: watches.nextID, event: event)
      guard let place = watches.free.popLast() else {
        watches.entries.append(entry)
        watches.owners.append(owner)
        return Ticket(place: watches.entries.count - 1, id: owner.id)
      }
      watches.entries[place] = entry
      watches.owners[place] = owner
      return Ticket(place: place, id: owner.id)
    }
  }

  /// Watches a descriptor, or, with `nil`, nothing for now.
  func set(_ ticket: Ticket, _ descriptor: Int32?) {
    watches.withLock { watches in
      guard watches.owners[ticket.place]?.id == ticket.id else { return }
      // The system passes over descriptors below 0.
      watches.entries[ticket.place].fd = descriptor ?? -1
    }
  }

  /// Watches no more, and calls `released` when no event can come any more.
  func remove(_ ticket: Ticket, released: @escaping @Sendable () -> Void) {
    watches.withLock { watches in
      guard watches.owners[ticket.place]?.id == ticket.id else { return }
      watches.entries[ticket.place] = pollfd(fd: -1, events: 0, revents: 0)
      watches.owners[ticket.place] = nil
      watches.free.append(ticket.place)
    }
    execute(released)
  }

  /// Works and waits until the end.
  func run() {
    while true {
      let works = mailbox.withLock { mailbox in
        defer { mailbox.works = [] }
        return mailbox.works
      }
      for work in works { work() }
      let (isBusy, isOver) = mailbox.withLock { mailbox in
        let isBusy = !mailbox.works.isEmpty
        mailbox.isWaiting = !isBusy && !mailbox.hasEnded
        return (isBusy, !isBusy && mailbox.hasEnded)
      }
      if isOver { return }
      // Without a bell it has to look up now and then.
      let found = wait(milliseconds: isBusy ? 0 : bell == nil ? 10 : -1)
      mailbox.withLock { $0.isWaiting = false }
      for (place, id) in found {
        // It may have been paused or removed by what came before it.
        let event = watches.withLock { watches in
          guard let owner = watches.owners[place], owner.id == id, watches.entries[place].fd >= 0
          else { return nil as (@Sendable () -> Void)? }
          return owner.event
        }
        event?()
      }
    }
  }

  /// Waits for events; the places where there are some, and whose they are.
  private func wait(milliseconds: Int32) -> [(place: Int, id: Int)] {
    var entries = watches.withLock { $0.entries }
    guard poll(&entries, nfds_t(entries.count), milliseconds) > 0 else { return [] }
    if let bell, entries[0].revents != 0 {
      withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
        while HTTPSocket.read(bell.reading, into: buffer) > 0 {}
      }
    }
    return watches.withLock { watches in
      entries.indices.compactMap { place in
        guard entries[place].revents != 0, let owner = watches.owners[place] else { return nil }
        return (place, owner.id)
      }
    }
  }
}
