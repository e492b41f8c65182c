import CommandLineKit

/// Shows the progress of a longer operation.
final class Progress {
  private let word: String
  private let output: Output
  /// When the progress is shown next.
  private var next = ContinuousClock.now + .seconds(1)
  private var byteCount = 0
  private var isShown = false

  init(_ word: String, _ output: Output) {
    self.word = word
    self.output = output
  }

  /// Counts processed bytes.
  func add(_ bytes: Int) {
    byteCount += bytes
    let now = ContinuousClock.now
    guard now > next else { return }
    next = now + .milliseconds(100)
    output.progress("\(word) \(size(byteCount))")
    isShown = true
  }

  /// Removes the progress line.
  func end() {
    if isShown { output.endProgress() }
  }
}
