import Foundation
import Synchronization

/// Hands errands to the threads that carry them.
final class LoopbackOffice: Sendable {
  private struct State {
    var queue: [LoopbackErrand] = []
    /// Those that wait for an errand; who came last is asked first, so that the others may go.
    var idle: [Idler] = []
    var threads = 0
    var isClosed = false
  }

  /// A thread that waits for an errand.
  private final class Idler: Sendable {
    let bell = DispatchSemaphore(value: 0)
    let errand = Mutex<LoopbackErrand?>(nil)
  }

  private let mostConnections: Int
  private let idleSeconds: Double
  let patience: Int32
  private let state = Mutex(State())

  init(mostConnections: Int, patience: Int32, idleSeconds: Double) {
    self.mostConnections = mostConnections
    self.patience = patience
    self.idleSeconds = idleSeconds
  }

  /// Has an errand run, at once or when a thread is free.
  func take(_ errand: LoopbackErrand) {
    let needsThread = state.withLock { state in
      if let idler = state.idle.popLast() {
        idler.errand.withLock { $0 = errand }
        idler.bell.signal()
        return false
      }
      state.queue.append(errand)
      guard state.threads < mostConnections else { return false }
      state.threads += 1
      return true
    }
    guard needsThread else { return }
    let thread = Thread { [self] in
      var carrier = LoopbackCarrier(patience: patience)
      while let errand = next() { carrier.run(errand) }
      carrier.hangUp()
    }
    thread.stackSize = 1 << 19
    thread.start()
  }

  /// The next errand for a thread; `nil` when it may go.
  private func next() -> LoopbackErrand? {
    let idler = Idler()
    let (errand, isOver) = state.withLock { state -> (LoopbackErrand?, Bool) in
      if !state.queue.isEmpty { return (state.queue.removeFirst(), false) }
      if state.isClosed {
        state.threads -= 1
        return (nil, true)
      }
      state.idle.append(idler)
      return (nil, false)
    }
    if errand != nil || isOver { return errand }
    if idler.bell.wait(timeout: .now() + idleSeconds) == .timedOut {
      state.withLock { state in
        guard let index = state.idle.firstIndex(where: { $0 === idler }) else { return }
        state.idle.remove(at: index)
        state.threads -= 1
      }
    }
    // One that was rung for, even at the last moment, has its errand; who has none may go.
    return idler.errand.withLock { $0.take() }
  }

  /// Lets the threads go that wait.
  func close() {
    let idle = state.withLock { state in
      state.isClosed = true
      defer { state.idle = [] }
      state.threads -= state.idle.count
      return state.idle
    }
    for idler in idle { idler.bell.signal() }
  }
}
