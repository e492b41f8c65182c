package import Foundation

/// The circumstances of a run: date, commit and machine.
package struct RunRecord: Codable, Hashable, Sendable {
  /// The day in UTC, such as `2026-11-21`.
  package var date: String
  /// The commit, with `-dirty` if files other than those with figures were changed.
  package var commit: String
  /// The number of cores and the operating system.
  package var machine: String

  /// The circumstances of this process, whose current folder is in the repository.
  package static var current: RunRecord {
    func git(_ words: String...) -> String? {
      (try? Process.output(of: ["git"] + words))?.trimmingCharacters(in: .newlines)
    }
    let changes = git(
      "status", "--porcelain", "--untracked-files=no", "--", ":(top)",
      ":(top,exclude)Docs/Reliability.*", ":(top,exclude)Docs/Performance")
    let commit = git("rev-parse", "--short=8", "HEAD") ?? ""
    let information = ProcessInfo.processInfo
    return RunRecord(
      date: Date.now.formatted(.iso8601.year().month().day()),
      commit: commit.isEmpty ? "unknown" : commit + (changes == "" ? "" : "-dirty"),
      machine: "\(information.activeProcessorCount) cores, "
        + information.operatingSystemVersionString)
  }

  /// Replaces the lines between the two markers of `page`, `<!-- figures -->` and
  /// `<!-- end of figures -->`; a page without them is left as it is.
  package static func write(_ lines: [String], to page: URL) throws {
    guard let text = try? String(contentsOf: page, encoding: .utf8),
      let start = text.range(of: "<!-- figures -->\n"),
      let end = text.range(of: "<!-- end of figures -->")
    else { return }
    let table = lines.map { $0 + "\n" }.joined()
    let new = text[..<start.upperBound] + "\n" + table + "\n" + text[end.lowerBound...]
    try Data(new.utf8).write(to: page)
  }
}
