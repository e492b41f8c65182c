import CommandLineKit

/// Shows the progress of a longer operation on bytes: the number, the rate and, if the total is
/// known, the time that is left.
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
  func add(_ bytes: Int) {
    byteCount += bytes
    let now = clock.now
    guard now > next else { return }
    next = now + .milliseconds(100)
    output.progress(Self.text(word, byteCount, of: total, after: (now - start) / .seconds(1)))
    isShown = true
  }

  /// The line after some seconds, more than none.
  static func text(_ word: String, _ done: Int, of total: Int?, after seconds: Double) -> String {
    let rate = Double(done) / seconds
    var text = "\(word) \(size(done))"
    if let total { text += " of \(size(total))" }
    text += " · \(size(Int(rate)))/s"
    if let total, done > 0, total > done {
      text += " · \(Int((Double(total - done) / rate).rounded(.up))) s left"
    }
    return text
  }

  /// Removes the progress line.
  func end() {
    if isShown { output.endProgress() }
  }
}
