/// The word of `words` that is most similar to `text`, for suggestions.
///
/// - Returns: `nil` if none is similar: at most a third of its letters may differ.
package func nearest(to text: String, of words: [String]) -> String? {
  let text = text.lowercased()
  let close = words.map { (word: $0, steps: editDistance(text, $0.lowercased())) }
    .filter { $0.steps <= max(1, $0.word.count / 3) || (text.count > 1 && $0.word.hasPrefix(text)) }
  return close.min { $0.steps < $1.steps }?.word
}

/// The end of a message about a mistyped word: the word that may be meant, or nothing.
package func suggestion(for text: String, of words: [String]) -> String {
  nearest(to: text, of: words).map { "; did you mean \($0)?" } ?? ""
}

/// The edit distance: the number of inserted, deleted, replaced or transposed letters between
/// `first` and `second`.
package func editDistance(_ first: String, _ second: String) -> Int {
  let (first, second) = (Array(first), Array(second))
  var before: [Int] = []
  var last = Array(0...second.count)
  for (row, letter) in first.enumerated() {
    var next = [row + 1]
    for (column, other) in second.enumerated() {
      var steps = min(
        last[column + 1] + 1, next[column] + 1, last[column] + (letter == other ? 0 : 1))
      if row > 0, column > 0, letter == second[column - 1], first[row - 1] == other {
        steps = min(steps, before[column - 1] + 1)
      }
      next.append(steps)
    }
    (before, last) = (last, next)
  }
  return last[second.count]
}
