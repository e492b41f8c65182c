import CommandLineKit

/// Shows how much was done, once it takes long enough to wonder.
final class Progress {
  private let word: String
  private let output: Output
  /// When it is worth showing again.
  private var next = ContinuousClock.now + .seconds(1)
  private var byteCount = 0
  private var isShown = false

  init(_ word: String, _ output: Output) {
    self.word = word
    self.output = output
  }

  /// Counts what was done.
  func add(_ bytes: Int) {
    byteCount += bytes
    let now = ContinuousClock.now
    guard now > next else { return }
    next = now + .milliseconds(100)
    output.progress("\(word) \(size(byteCount))")
    isShown = true
  }

  /// Removes the line.
  func end() {
    if isShown { output.endProgress() }
  }
}
