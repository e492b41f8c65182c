package import CloudSync
import Foundation

/// A trace in chronological order, with its summary.
package struct SyncTraceTimeline: Encodable, Sendable {
  /// The summary of a trace; times are in seconds.
  package struct Summary: Encodable, Sendable {
    /// The time from the first entry to the last.
    package var length = 0.0
    /// The number of requests.
    package var requests = 0
    /// The number of failed requests.
    package var failedAnswers = 0
    /// The total duration of requests.
    package var timeInRequests = 0.0
    /// The total duration of delegate calls.
    package var timeInDelegate = 0.0
    /// The number of unreadable lines, such as the last line of a killed process.
    package var unreadableLines = 0
  }

  /// The entries, the earliest first.
  package private(set) var entries: [SyncTraceEntry] = []

  /// Their summary.
  package private(set) var summary = Summary()

  /// Parses the lines of a trace; unreadable ones are counted and skipped.
  package init(lines text: String) {
    for line in text.split(whereSeparator: \.isNewline) {
      guard let entry = try? SyncTraceEntry(jsonLine: line) else {
        summary.unreadableLines += 1
        continue
      }
      entries.append(entry)
    }
    let order = entries.indices.sorted { (entries[$0].time, $0) < (entries[$1].time, $1) }
    entries = order.map { entries[$0] }
    if let first = entries.first, let last = entries.last {
      summary.length = last.time - first.time
    }
    for entry in entries { count(entry) }
  }

  private mutating func count(_ entry: SyncTraceEntry) {
    switch entry.kind {
    case .request: summary.requests += 1
    case .answer:
      summary.timeInRequests += entry.duration ?? 0
      if entry.error != nil { summary.failedAnswers += 1 }
    case .event, .question: summary.timeInDelegate += entry.duration ?? 0
    case .change, .signal, .stage, .wait, .operation: break
    }
  }

  // MARK: Text

  /// The timeline with one line for each entry: the time, a bar for each operation, and the entry.
  package var text: String {
    var lines: [String] = []
    var isInOperation = false
    var last: Double?
    for entry in entries {
      if let last, entry.time - last >= 1 {
        lines.append("            … \(Self.seconds(entry.time - last)) s")
      }
      last = entry.time
      let opens = entry.kind == .stage && entry.name.hasPrefix("announcing")
      let closes =
        entry.kind == .stage && ["idle", "dormant", "stopped"].contains(entry.name)
        && isInOperation
      let side = opens ? "┌" : closes ? "└" : isInOperation ? "│" : " "
      isInOperation = opens || (isInOperation && !closes)
      lines.append("\(Self.padded(Self.seconds(entry.time), 10)) \(side) \(Self.words(entry))")
    }
    lines += ["", summaryLine]
    return lines.map { $0 + "\n" }.joined()
  }

  private var summaryLine: String {
    var parts = [
      "\(entries.count) entries in \(Self.seconds(summary.length)) s",
      "\(summary.requests) requests, \(Self.seconds(summary.timeInRequests)) s",
      "\(summary.failedAnswers) failed",
      "delegate \(Self.seconds(summary.timeInDelegate)) s",
    ]
    if summary.unreadableLines > 0 { parts.append("\(summary.unreadableLines) lines unreadable") }
    return parts.joined(separator: "; ")
  }

  private static func words(_ entry: SyncTraceEntry) -> String {
    var words: String
    switch entry.kind {
    case .request: words = "→ \(entry.name)"
    case .answer: words = "← \(entry.name)"
    case .change, .signal, .stage, .wait, .event, .question, .operation:
      words = "\(entry.kind.rawValue) \(entry.name)"
    }
    if let request = entry.request { words += " #\(request)" }
    if let counts = entry.counts {
      for (name, count) in counts.sorted(by: { $0.key < $1.key }) where count != 0 {
        words += ", \(count) \(name)"
      }
    }
    if let until = entry.until { words += ", until \(seconds(until)) s" }
    if let duration = entry.duration {
      words += String(format: ", %.1f ms", locale: nil, duration * 1_000)
    }
    if let error = entry.error { words += ", failed: \(error)" }
    return words
  }

  private static func seconds(_ value: Double) -> String {
    String(format: "%.3f", locale: nil, value)
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }
}
