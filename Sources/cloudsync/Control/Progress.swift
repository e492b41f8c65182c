import CommandLineKit

/// Shows the progress of a longer operation on bytes: the number, the rate and, if it is known how
/// much is done, the time that is left.
final class Progress {
  private let word: String
  private let total: Int?
  private let output: Output
  private let clock = ContinuousClock()
  private let start: ContinuousClock.Instant
  /// When the progress is shown next.
  private var next: ContinuousClock.Instant
  private var byteCount = 0
  private var isShown = false

  init(_ word: String, of total: Int? = nil, _ output: Output) {
    self.word = word
    self.total = total
    self.output = output
    start = clock.now
    next = start + .seconds(1)
  }

  /// Counts processed bytes.
  ///
  /// - Parameter fraction: how much of the operation is done, from 0 to 1; `nil` if only the number
  ///   of bytes tells.
  func add(_ bytes: Int, fraction: Double? = nil) {
    byteCount += bytes
    let now = clock.now
    guard now > next else { return }
    next = now + .milliseconds(100)
    output.progress(
      Self.text(
        word, byteCount, of: total, fraction: fraction, after: (now - start) / .seconds(1)))
    isShown = true
  }

  /// The line after some seconds, more than none.
  static func text(
    _ word: String, _ done: Int, of total: Int?, fraction: Double? = nil, after seconds: Double
  ) -> String {
    var text = "\(word) \(size(done))"
    if let total { text += " of \(size(total))" }
    text += " · \(size(Int(Double(done) / seconds)))/s"
    let fraction = fraction ?? total.map { Double(done) / Double(max(1, $0)) } ?? 0
    if fraction > 0, fraction < 1 {
      text += " · \(Int((seconds * (1 - fraction) / fraction).rounded(.up))) s left"
    }
    return text
  }

  /// Removes the progress line.
  func end() {
    if isShown { output.endProgress() }
  }
}
