/// The progress of a longer operation on bytes: the number, the rate and, if it is known how much
/// is done, the time that is left.
///
/// It is shown after a second, and then at most ten times a second.
package struct ByteProgress: Sendable {
  private let verb: String
  private let total: Int?
  private let output: Output
  private let elapsed: @Sendable () -> Duration
  private let start: Duration
  /// When the progress is shown next.
  private var next: Duration
  private var byteCount = 0
  private var isShown = false

  /// Starts to measure.
  ///
  /// - Parameters:
  ///   - verb: the verb for the bytes, such as `exported`.
  ///   - total: the number of all bytes; `nil` if it is not known.
  ///   - output: what the progress is shown on.
  ///   - elapsed: the time since any moment before.
  package init(
    _ verb: String, of total: Int? = nil, _ output: Output,
    elapsed: @escaping @Sendable () -> Duration = elapsedTime()
  ) {
    self.verb = verb
    self.total = total
    self.output = output
    self.elapsed = elapsed
    start = elapsed()
    next = start + .seconds(1)
  }

  /// Counts processed bytes, and shows the progress if that is due.
  ///
  /// - Parameter fraction: how much of the operation is done, from 0 to 1; `nil` if only the number
  ///   of bytes tells.
  package mutating func add(_ bytes: Int, fraction: Double? = nil) {
    if let text = counted(bytes, fraction: fraction) { show(text) }
  }

  /// Counts processed bytes, and returns the line to show; `nil` if none is due.
  mutating func counted(_ bytes: Int, fraction: Double?) -> String? {
    byteCount += bytes
    let now = elapsed()
    guard now > next else { return nil }
    next = now + .milliseconds(100)
    let seconds = (now - start) / .seconds(1)
    var text = "\(verb) \(size(byteCount))"
    if let total { text += " of \(size(total))" }
    text += " · \(size(Int(Double(byteCount) / seconds)))/s"
    let fraction = fraction ?? total.map { Double(byteCount) / Double(max(1, $0)) } ?? 0
    if fraction > 0, fraction < 1 {
      text += " · \(Int((seconds * (1 - fraction) / fraction).rounded(.up))) s left"
    }
    return text
  }

  /// Shows a line in place of the progress, at once.
  package mutating func show(_ text: String) {
    output.progress(text)
    isShown = true
  }

  /// Removes the progress line.
  package mutating func end() {
    if isShown { output.endProgress() }
    isShown = false
  }
}

/// A function that returns the time since this call.
package func elapsedTime() -> @Sendable () -> Duration {
  let clock = ContinuousClock()
  let start = clock.now
  return { clock.now - start }
}
