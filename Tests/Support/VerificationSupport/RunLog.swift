import CommandLineKit
package import Foundation
import Synchronization

/// The latest result of each verification run, as a JSON file beside the page that shows them.
package struct RunLog: Codable, Sendable {
  /// The result of one run.
  package struct Entry: Codable, Sendable {
    var command: String
    var figures: [String]
    var holds: Bool
    /// The duration in seconds; `nil` if it was not recorded.
    var seconds: Int?
    var run: RunRecord
  }

  private var entries: [Entry]

  /// Adds the figures of this process to the log at `url`, in place of an earlier run of the same
  /// command, and writes the table of the page with the same name and the extension `md`.
  package static func add(
    _ command: String, holds: Bool, took duration: Duration, to url: URL
  ) throws {
    let old = try? JSONDecoder().decode(RunLog.self, from: Data(contentsOf: url))
    var log = old ?? RunLog(entries: [])
    let entry = Entry(
      command: command, figures: figures.withLock { $0 }, holds: holds,
      seconds: Int(duration.components.seconds), run: .current)
    if let index = log.entries.firstIndex(where: { $0.command == command }) {
      log.entries[index] = entry
    } else {
      log.entries.append(entry)
    }
    try Data((Output.json(log) + "\n").utf8).write(to: url)
    try RunRecord.write(log.table, to: url.deletingPathExtension().appendingPathExtension("md"))
  }

  private var table: [String] {
    ["| run | figures | duration | date, commit, machine |", "|---|---|---|---|"]
      + entries.map { entry in
        let verdict = entry.holds ? "" : "**violations found**; "
        let run = entry.run
        // A line break ends a row of a table.
        let figures = entry.figures.joined(separator: "; ").replacing("\n", with: "; ")
        let seconds = entry.seconds.map { "\($0) s" } ?? ""
        return "| `\(entry.command)` | \(verdict)\(figures) | \(seconds) "
          + "| \(run.date), \(run.commit), \(run.machine) |"
      }
  }
}

/// The lines that `conclude` printed.
private let figures = Mutex<[String]>([])

/// Prints a line with the figures of a run, which `--write` adds to a log.
package func conclude(_ line: String) {
  noteFigures(line)
  say(line)
}

/// Adds a line with figures, which has been printed already, to the log of `--write`.
package func noteFigures(_ line: String) { figures.withLock { $0.append(line) } }
