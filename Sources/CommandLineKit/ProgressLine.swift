/// One line that says how far something is, and fits its terminal.
///
/// What matters least goes first where the terminal is narrow: the bar, then the rate, then what is
/// counted.
package struct ProgressLine: Hashable, Sendable {
  /// What is done, such as `sending`.
  package var what: String

  /// What one of the things is called that are counted.
  package var noun: String

  /// How many are done; `nil` while there is nothing to count yet.
  package var done: Int?

  /// How many there are; `nil` where nobody knows, and then there is no bar.
  package var total: Int?

  /// A line about nothing done yet.
  package init(_ what: String, _ noun: String, done: Int? = 0, of total: Int? = nil) {
    self.what = what
    self.noun = noun
    self.done = done
    self.total = total
  }

  /// The fewest and the most columns of a bar.
  private static let bar = 8...40

  /// The line, in at most `width` columns.
  ///
  /// - Parameter rate: how many are done in a second; `nil` while that says nothing yet.
  package func text(rate: Double?, width: Int) -> String {
    guard let done else { return "\(what) …".cut(to: width) }
    let figures = total.map { "\(done) of \(count($0, noun))" } ?? count(done, noun)
    let short = total.map { "\(done)/\($0)" } ?? "\(done)"
    let speed = rate.map { " · \(Int($0.rounded()))/s" } ?? ""
    let words = [
      "\(what) \(figures)\(speed)", "\(what) \(figures)", "\(what) \(short)", short,
    ]
    let fitting = words.first { $0.displayWidth <= width } ?? short.cut(to: width)
    let space = width - fitting.displayWidth - 1
    guard let total, total > 0, space >= Self.bar.lowerBound else { return fitting }
    let columns = min(space, Self.bar.upperBound)
    let share = Double(min(max(done, 0), total)) / Double(total)
    let filled = Int((share * Double(columns)).rounded(.down))
    return String(repeating: "█", count: filled)
      + String(repeating: "░", count: columns - filled) + " " + fitting
  }
}
