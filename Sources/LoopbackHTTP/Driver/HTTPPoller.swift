import Synchronization

/// Waits for socket events and queued work, and handles both in order on the thread that calls
/// `run()`.
///
/// Dispatch has sources for sockets, but on Linux they read freed memory when connections are
/// opened and closed quickly, which crashes the process
/// (github.com/swiftlang/swift-corelibs-libdispatch/issues/949).
final class HTTPPoller: Sendable {
  private struct Mailbox {
    var works: [@Sendable () -> Void] = []
    /// Whether the thread sleeps or is about to sleep.
    var isWaiting = false
    var hasEnded = false
  }

  private struct Watches {
    var selector = HTTPSelector()
    var callbacks: [Key: Watch] = [:]
  }

  /// A descriptor that is watched for reading or for writing.
  private struct Key: Hashable {
    var descriptor: Int32
    var writing: Bool
  }

  private struct Watch {
    var event: @Sendable () -> Void
    var isPaused = false
  }

  private let mailbox = Mutex(Mailbox())
  private let watches = Mutex(Watches())
  /// A pipe that wakes the thread; `nil` if the process had no free descriptors.
  private let wakePipe: (reading: Int32, writing: Int32)?

  init() {
    wakePipe = HTTPSocket.makeWakePipe()
    guard let wakePipe else { return }
    watches.withLock { $0.selector.set(wakePipe.reading, writing: false, isWatched: true) }
  }

  deinit {
    watches.withLock { $0.selector.close() }
    guard let wakePipe else { return }
    HTTPSocket.release(wakePipe.reading)
    HTTPSocket.release(wakePipe.writing)
  }

  // MARK: From any thread

  /// Runs `work` on the thread, after the work that is already queued.
  func execute(_ work: @escaping @Sendable () -> Void) {
    let sleeps = mailbox.withLock { mailbox in
      mailbox.works.append(work)
      defer { mailbox.isWaiting = false }
      return mailbox.isWaiting
    }
    if sleeps { ring() }
  }

  /// Ends the thread after all queued work is done.
  func end() {
    mailbox.withLock { $0.hasEnded = true }
    ring()
  }

  private func ring() {
    guard let wakePipe else { return }
    // A full pipe wakes the thread as well.
    [UInt8(1)].withUnsafeBytes { _ = HTTPSocket.write(wakePipe.writing, $0) }
  }

  // MARK: On the thread

  /// Calls `event` whenever the descriptor is readable, or writable, or broken; there can be one
  /// watch of each kind.
  func watch(_ descriptor: Int32, writing: Bool, event: @escaping @Sendable () -> Void) {
    watches.withLock { watches in
      watches.callbacks[Key(descriptor: descriptor, writing: writing)] = Watch(event: event)
      watches.selector.set(descriptor, writing: writing, isWatched: true)
    }
  }

  /// Pauses or resumes a watch.
  func set(_ descriptor: Int32, writing: Bool, isPaused: Bool) {
    watches.withLock { watches in
      watches.callbacks[Key(descriptor: descriptor, writing: writing)]?.isPaused = isPaused
      watches.selector.set(descriptor, writing: writing, isWatched: !isPaused)
    }
  }

  /// Removes a watch, and calls `released` when no further event can occur.
  func remove(_ descriptor: Int32, writing: Bool, released: @escaping @Sendable () -> Void) {
    watches.withLock { watches in
      watches.callbacks[Key(descriptor: descriptor, writing: writing)] = nil
      watches.selector.set(descriptor, writing: writing, isWatched: false)
    }
    execute(released)
  }

  /// Runs the event loop until `end()`.
  func run() {
    while true {
      work()
      let (isBusy, isOver) = mailbox.withLock { mailbox in
        let isBusy = !mailbox.works.isEmpty
        mailbox.isWaiting = !isBusy && !mailbox.hasEnded
        return (isBusy, !isBusy && mailbox.hasEnded)
      }
      if isOver { return }
      // Without a wake pipe, the loop polls its queue.
      let question = watches.withLock { $0.selector.question }
      let found = question.wait(milliseconds: isBusy ? 0 : wakePipe == nil ? 10 : -1)
      mailbox.withLock { $0.isWaiting = false }
      for ready in found { tell(ready) }
    }
  }

  /// Runs the queued work and releases it before the thread sleeps.
  private func work() {
    let works = mailbox.withLock { mailbox in
      defer { mailbox.works = [] }
      return mailbox.works
    }
    for work in works { work() }
  }

  private func tell(_ ready: HTTPSelector.ReadyDescriptor) {
    let descriptor = ready.descriptor
    if descriptor == wakePipe?.reading {
      withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
        while HTTPSocket.read(descriptor, into: buffer) > 0 {}
      }
      return
    }
    // An earlier event may have paused or removed this watch. A descriptor still means the same
    // connection, because none is closed before the next round of work.
    if ready.canRead { event(Key(descriptor: descriptor, writing: false))?() }
    if ready.canWrite { event(Key(descriptor: descriptor, writing: true))?() }
  }

  private func event(_ key: Key) -> (@Sendable () -> Void)? {
    watches.withLock { watches in
      guard let watch = watches.callbacks[key], !watch.isPaused else { return nil }
      return watch.event
    }
  }
}
