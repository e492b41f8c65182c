import Synchronization

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

  private struct Watches {
    var selector = HTTPSelector()
    /// What to call, by descriptor: for reading and for writing.
    var reading: [Int32: Watch] = [:]
    var writing: [Int32: Watch] = [:]
  }

  private struct Watch {
    var event: @Sendable () -> Void
    var isPaused = false
  }

  private let mailbox = Mutex(Mailbox())
  private let watches = Mutex(Watches())
  /// A pipe that wakes the thread; `nil` when the process had no descriptors left for it.
  private let bell: (reading: Int32, writing: Int32)?

  init() {
    bell = HTTPSocket.makeBell()
    guard let bell else { return }
    watches.withLock { $0.selector.set(bell.reading, reading: true) }
  }

  deinit {
    watches.withLock { $0.selector.close() }
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

  /// Calls `event` whenever the descriptor can be read, or written, or is broken; there can be one
  /// watch of each kind.
  func watch(_ descriptor: Int32, writing: Bool, event: @escaping @Sendable () -> Void) {
    watches.withLock { watches in
      if writing {
        watches.writing[descriptor] = Watch(event: event)
        watches.selector.set(descriptor, writing: true)
      } else {
        watches.reading[descriptor] = Watch(event: event)
        watches.selector.set(descriptor, reading: true)
      }
    }
  }

  /// Calls nothing for now, or does again.
  func set(_ descriptor: Int32, writing: Bool, isPaused: Bool) {
    watches.withLock { watches in
      if writing {
        watches.writing[descriptor]?.isPaused = isPaused
        watches.selector.set(descriptor, writing: !isPaused)
      } else {
        watches.reading[descriptor]?.isPaused = isPaused
        watches.selector.set(descriptor, reading: !isPaused)
      }
    }
  }

  /// Watches no more, and calls `released` when no event can come any more.
  func remove(_ descriptor: Int32, writing: Bool, released: @escaping @Sendable () -> Void) {
    watches.withLock { watches in
      if writing {
        watches.writing[descriptor] = nil
        watches.selector.set(descriptor, writing: false)
      } else {
        watches.reading[descriptor] = nil
        watches.selector.set(descriptor, reading: false)
      }
    }
    execute(released)
  }

  /// Works and waits until the end.
  func run() {
    while true {
      work()
      let (isBusy, isOver) = mailbox.withLock { mailbox in
        let isBusy = !mailbox.works.isEmpty
        mailbox.isWaiting = !isBusy && !mailbox.hasEnded
        return (isBusy, !isBusy && mailbox.hasEnded)
      }
      if isOver { return }
      // Without a bell it has to look up now and then.
      let question = watches.withLock { $0.selector.question }
      let found = question.wait(milliseconds: isBusy ? 0 : bell == nil ? 10 : -1)
      mailbox.withLock { $0.isWaiting = false }
      for finding in found { tell(finding) }
    }
  }

  /// Does what waits; nothing of it is held afterwards, while the thread sleeps.
  private func work() {
    let works = mailbox.withLock { mailbox in
      defer { mailbox.works = [] }
      return mailbox.works
    }
    for work in works { work() }
  }

  private func tell(_ finding: HTTPSelector.Finding) {
    let descriptor = finding.descriptor
    if descriptor == bell?.reading {
      withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
        while HTTPSocket.read(descriptor, into: buffer) > 0 {}
      }
      return
    }
    // Each may have been paused or removed by what came before it; no descriptor means another
    // connection, since none is closed before the next work.
    if finding.canRead { event { $0.reading[descriptor] }?() }
    if finding.canWrite { event { $0.writing[descriptor] }?() }
  }

  private func event(_ watch: (Watches) -> Watch?) -> (@Sendable () -> Void)? {
    watches.withLock { watches in
      guard let watch = watch(watches), !watch.isPaused else { return nil }
      return watch.event
    }
  }
}
