/// A sorted set of names with cheap insertion and removal.
///
/// Stored in runs of bounded length. Complexity: a change, or the start of an iteration, is a
/// search among the runs and one within a run.
struct SortedNames {
  private static let longestRun = 512

  /// Ascending runs of ascending names; none is empty.
  private var runs: [[String]] = []

  /// Adds a name; adding an existing name has no effect.
  mutating func insert(_ name: String) {
    guard let run = runIndex(for: name) else {
      runs.append([name])
      return
    }
    let place = place(of: name, in: run)
    if place < runs[run].count, runs[run][place] == name { return }
    runs[run].insert(name, at: place)
    guard runs[run].count > SortedNames.longestRun else { return }
    let half = SortedNames.longestRun / 2
    let upper = Array(runs[run][half...])
    runs[run].removeSubrange(half...)
    runs.insert(upper, at: run + 1)
  }

  /// Removes a name, if it exists.
  mutating func remove(_ name: String) {
    guard let run = runIndex(for: name) else { return }
    let place = place(of: name, in: run)
    guard place < runs[run].count, runs[run][place] == name else { return }
    runs[run].remove(at: place)
    if runs[run].isEmpty { runs.remove(at: run) }
  }

  /// The names after `name`, or from the first for `nil`, at most `limit`.
  func names(after name: String?, limit: Int) -> [String] {
    var found: [String] = []
    guard limit > 0 else { return found }
    var run = name.flatMap { runIndex(for: $0) } ?? 0
    var place = 0
    if let name, run < runs.count {
      place = self.place(of: name, in: run)
      if place < runs[run].count, runs[run][place] == name { place += 1 }
    }
    while run < runs.count {
      for name in runs[run][place...] {
        found.append(name)
        if found.count == limit { return found }
      }
      run += 1
      place = 0
    }
    return found
  }

  /// The last run that starts at or before `name`, or the first; `nil` when there is none.
  private func runIndex(for name: String) -> Int? {
    runs.isEmpty ? nil : max(0, runs.partitioningIndex { $0[0] > name } - 1)
  }

  /// The first position in a run whose name is not before `name`.
  private func place(of name: String, in run: Int) -> Int {
    runs[run].partitioningIndex { $0 >= name }
  }
}

extension Array {
  /// The first index whose element fulfils `predicate`, as all later elements do; `endIndex` if
  /// none does.
  func partitioningIndex(where predicate: (Element) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = low + (high - low) / 2
      if predicate(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
