import Foundation

/// A regular expression for uniform text; it ignores case.
struct SharePattern: Sendable {
  private let expression: NSRegularExpression

  /// Compiles a pattern of this module.
  init(_ pattern: String) {
    guard
      let expression = try? NSRegularExpression(pattern: pattern, options: .caseInsensitive)
    else { preconditionFailure("\(pattern) is not a regular expression.") }
    self.expression = expression
  }

  /// The matches in a part of a text, in order; `^` stands for the beginning of the part.
  func matches(in text: ShareText, _ range: Range<Int>) -> [ShareMatch] {
    expression.matches(in: text.part(range), range: NSRange(0..<range.count)).map {
      ShareMatch(result: $0, start: range.lowerBound, source: text)
    }
  }

  // MARK: Parts of patterns

  /// A place that is not between two letters.
  static let noLetters = "(?!(?<=[a-z])[a-z])"

  /// A whole number that `Int` can hold.
  static let number = "(?<![0-9])[0-9]{1,9}+(?![0-9])"

  /// A puzzle's number: an optional `#`, then digits, grouped in threes by commas, points,
  /// apostrophes or blanks as people's languages do it.
  ///
  /// "Wordle 123 456/6" has no grouped number: a slash makes it an outcome.
  static let puzzle = #"""
     *(?:(?:[#№]|no\.) *)?(?<puzzle>(?>[0-9]{4,9}(?![0-9])|[0-9]{1,3}(?![0-9])\#
    (?:(?:[,.'’]| (?![0-9]{3}/))[0-9]{3}(?![0-9\u20e3])){0,2}))
    """#

  /// An outcome such as `4/6` or `X/6`.
  static let outcome = " *(?:(?<used>[0-9]{1,9}+)|x|-) */ *(?<limit>[0-9]{1,9}+)(?![0-9])"

  /// Any number of blanks and line ends, with the marks of quoted lines.
  static let blankLines = #"(?: |\n[ >]*)*+"#

  /// A date such as `Nov 3, 2026`.
  static let namedDay = #"""
    (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* *[0-9]{1,9}+,? *[0-9]{1,9}+
    """#

  /// A date: `2026-11-03`, `9.7.2024` (day first) or `11/3/2026` (month first).
  static let numericDay = """
    (?<![0-9])[0-9]{1,9}+(?<separator>[-./])[0-9]{1,9}+\\k<separator>[0-9]{1,9}+
    """
}

/// A place in uniform text where a pattern was found.
struct ShareMatch {
  fileprivate let result: NSTextCheckingResult
  fileprivate let start: Int
  fileprivate let source: ShareText

  /// The place in the text.
  var range: Range<Int> {
    start + result.range.location..<start + result.range.location + result.range.length
  }

  /// The text of a named group; `nil` if the group has no part in the match.
  subscript(name: String) -> String? { text(of: result.range(withName: name)) }

  var text: String { source.part(range) }

  /// The text of the first group that has a part in the match; the whole text without groups.
  var value: String {
    (1..<max(result.numberOfRanges, 1)).lazy.compactMap { text(of: result.range(at: $0)) }.first
      ?? text
  }

  private func text(of group: NSRange) -> String? {
    guard group.location != NSNotFound else { return nil }
    return source.part(start + group.location..<start + group.location + group.length)
  }
}
