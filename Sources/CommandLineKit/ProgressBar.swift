import Synchronization

/// Shows how far something is, in one line of a terminal that is drawn again and again.
///
/// It is drawn at most ten times a second, for the first time when it has taken a moment, and
/// nothing of it is left when it ends.
package final class ProgressBar: Sendable {
  /// What is written to a terminal to be back at the beginning of an empty line.
  package static let clearing = "\r\u{1B}[K"

  private struct State {
    var drawn: Duration?
    var counted: (what: String, first: Int, since: Duration)?
    var isOver = false
  }

  private let width: Int
  private let elapsed: @Sendable () -> Duration
  private let write: @Sendable (String) -> Void
  private let state = Mutex(State())

  /// How long something takes that needs no progress.
  private static let moment = Duration.milliseconds(300)

  /// The shortest time from one drawing to the next.
  private static let interval = Duration.milliseconds(100)

  /// A bar that is not drawn yet.
  ///
  /// - Parameters:
  ///   - width: the columns of the terminal.
  ///   - elapsed: the time since the work began.
  ///   - write: takes what goes to the terminal; called by one thread at a time.
  package init(
    width: Int, elapsed: @escaping @Sendable () -> Duration,
    write: @escaping @Sendable (String) -> Void
  ) {
    // In the last column a terminal may begin the next line.
    self.width = width - 1
    self.elapsed = elapsed
    self.write = write
  }

  /// Shows `line` if it is time to.
  package func show(_ line: ProgressLine) {
    state.withLock { state in
      let now = elapsed()
      let next = state.drawn.map { $0 + Self.interval } ?? Self.moment
      if state.counted?.what != line.what {
        state.counted = (line.what, line.done ?? 0, now)
      }
      guard !state.isOver, now >= next else { return }
      state.drawn = now
      write(Self.clearing + line.text(rate: Self.rate(state, line, now), width: width))
    }
  }

  /// Removes what was drawn; nothing is drawn any more.
  package func end() {
    state.withLock { state in
      if !state.isOver, state.drawn != nil { write(Self.clearing) }
      state.isOver = true
    }
  }

  private static func rate(_ state: State, _ line: ProgressLine, _ now: Duration) -> Double? {
    guard let counted = state.counted, let done = line.done, done > counted.first else {
      return nil
    }
    let seconds = (now - counted.since) / .seconds(1)
    // The work done in a blink says nothing about a second.
    guard seconds >= 0.5 else { return nil }
    return Double(done - counted.first) / seconds
  }
}

extension Output {
  /// Whether somebody watches a terminal that can draw a line again.
  package var showsProgress: Bool { !isJSON && errors.canRedraw }

  /// A bar on standard error; `nil` where nobody would see it.
  package func progressBar() -> ProgressBar? {
    guard showsProgress else { return nil }
    let clock = ContinuousClock()
    let start = clock.now
    return ProgressBar(width: errors.width ?? 80, elapsed: { clock.now - start }) {
      Output.writeError($0)
    }
  }
}
