import Synchronization

/// Shows progress in one line of a terminal that is redrawn.
///
/// It is drawn at most ten times a second, first after a short delay, and removed at the end.
package final class ProgressBar: Sendable {
  /// The escape sequence that clears the current line.
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

  /// The delay before progress is shown.
  private static let moment = Duration.milliseconds(300)

  /// The minimum time between two redraws.
  private static let interval = Duration.milliseconds(100)

  /// Creates a bar.
  ///
  /// - Parameters:
  ///   - width: the width of the terminal in columns.
  ///   - elapsed: the time since the work started.
  ///   - write: writes to the terminal; called by one thread at a time.
  package init(
    width: Int, elapsed: @escaping @Sendable () -> Duration,
    write: @escaping @Sendable (String) -> Void
  ) {
    // Text in the last column may wrap to the next line.
    self.width = width - 1
    self.elapsed = elapsed
    self.write = write
  }

  /// Shows `line` if the next redraw is due.
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

  /// Removes the bar; later calls draw nothing.
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
    // A very short time gives no meaningful rate.
    guard seconds >= 0.5 else { return nil }
    return Double(done - counted.first) / seconds
  }
}

extension Output {
  /// Whether progress is shown: the output is a terminal that can redraw a line.
  package var showsProgress: Bool { !isJSON && errors.canRedraw }

  /// A bar on standard error; `nil` if progress is not shown.
  package func progressBar() -> ProgressBar? {
    guard showsProgress else { return nil }
    return ProgressBar(width: errors.width ?? 80, elapsed: elapsedTime()) {
      Output.writeError($0)
    }
  }
}
