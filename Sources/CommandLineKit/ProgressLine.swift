/// A progress line that fits its terminal.
///
/// On a narrow terminal the least important parts are omitted: the bar, then the rate, then the
/// noun.
package struct ProgressLine: Hashable, Sendable {
  /// The activity, such as `sending`.
  package var what: String

  /// The noun of the counted items.
  package var noun: String

  /// The number of completed items; `nil` before counting starts.
  package var done: Int?

  /// The total number of items; `nil` if unknown, which omits the bar.
  package var total: Int?

  /// Creates a line.
  package init(_ what: String, _ noun: String, done: Int? = 0, of total: Int? = nil) {
    self.what = what
    self.noun = noun
    self.done = done
    self.total = total
  }

  /// The minimum and maximum width of a bar in columns.
  private static let bar = 8...40

  /// The line, in at most `width` columns.
  ///
  /// - Parameter rate: the number of items per second; `nil` if it is not meaningful yet.
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
