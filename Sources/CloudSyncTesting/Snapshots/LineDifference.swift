/// The difference of two texts, line by line.
struct LineDifference {
  /// The lines of both texts: ` ` marks common lines, `-` lines only in the expected text, `+`
  /// lines only in the actual text.
  ///
  /// Long common parts are shortened.
  let text: String

  init(expected: String, actual: String) {
    let old = expected.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let new = actual.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    var removed: Set<Int> = []
    var added: Set<Int> = []
    for change in new.difference(from: old, by: { $0.utf8.elementsEqual($1.utf8) }) {
      switch change {
      case .remove(let offset, _, _): removed.insert(offset)
      case .insert(let offset, _, _): added.insert(offset)
      }
    }
    var marked: [(mark: String, line: String)] = []
    var (left, right) = (0, 0)
    while left < old.count || right < new.count {
      if left < old.count, removed.contains(left) {
        marked.append(("-", old[left]))
        left += 1
      } else if right < new.count, added.contains(right) {
        marked.append(("+", new[right]))
        right += 1
      } else {
        marked.append((" ", old[left]))
        left += 1
        right += 1
      }
    }
    text = LineDifference.shortened(marked).joined(separator: "\n")
  }

  /// Keeps three lines of context around each difference.
  private static func shortened(_ marked: [(mark: String, line: String)]) -> [String] {
    let context = 3
    var near = Array(repeating: false, count: marked.count)
    for index in marked.indices where marked[index].mark != " " {
      for place in max(0, index - context)...min(marked.count - 1, index + context) {
        near[place] = true
      }
    }
    var lines: [String] = []
    var skipped = 0
    for index in marked.indices {
      if near[index] {
        if skipped > 0 { lines.append("  ... \(skipped) lines the same") }
        skipped = 0
        lines.append("\(marked[index].mark) \(marked[index].line)")
      } else {
        skipped += 1
      }
    }
    if skipped > 0 { lines.append("  ... \(skipped) lines the same") }
    return lines
  }
}
