public import Foundation
import Synchronization

/// What became of an import.
public struct IdeaImportReport: Hashable, Sendable {
  /// A row that was skipped.
  public struct Problem: Error, Hashable, CustomStringConvertible {
    /// The line it begins in, from 1.
    public var line: Int
    /// What is wrong with it, without any of its content.
    public var reason: String

    /// One sentence for people.
    public var description: String { "line \(line) was skipped: \(reason)" }
  }

  /// The ideas that are new.
  public var added: [Idea] = []
  /// How many rows name an idea that is there already, or that an earlier row names.
  public var duplicates = 0
  /// The rows that were skipped.
  public var problems: [Problem] = []
  /// The columns nobody knows.
  public var ignoredColumns: [String] = []
}

/// Why a whole file can't be imported; nothing of it was then.
public enum IdeaImportError: Error, Hashable, Sendable, CustomStringConvertible {
  /// There is nothing in it.
  case isEmpty
  /// It is text of another kind than UTF-8.
  case isNotUTF8
  /// The first row can't be read.
  case headerIsBroken(reason: String)
  /// No column is the title.
  case hasNoTitleColumn
  /// Two columns mean the same.
  case columnIsDoubled(name: String)

  /// One sentence for people.
  public var description: String {
    switch self {
    case .isEmpty: "the file is empty; its first row names the columns"
    case .isNotUTF8: "the file is UTF-16 text; save it as \"CSV UTF-8\""
    case .headerIsBroken(let reason): "the first row can't be read: \(reason)"
    case .hasNoTitleColumn: "no column is called title (or 標題, 标题); the first row names the columns"
    case .columnIsDoubled(let name): "there are two columns for \(name)"
    }
  }
}

extension IdeaStore {
  /// Adds the ideas of a CSV file: its first row names the columns, `title` is the only one that
  /// must be there.
  ///
  /// The good rows are added together in one write, the bad ones are reported and skipped; no row
  /// is taken in half. A row with the ID of an idea that is, or was, on this device changes
  /// nothing, so importing a file with IDs twice adds nothing twice.
  /// - Throws: `IdeaImportError` for a file that is none, `FileError` when it can't be written
  ///   down; nothing is added then.
  @discardableResult
  public func importIdeas(fromCSV data: Data) throws -> IdeaImportReport {
    var file = try IdeaFile(data)
    var report = IdeaImportReport()
    report.ignoredColumns = file.ignoredColumns
    var seen = state.withLock { Set($0.shelf.rows.keys) }
    let now = now()
    while let row = file.next(deviceID: deviceID, now: now, makeID: makeID) {
      switch row {
      case .success(let idea):
        if seen.insert(idea.id.uuidString).inserted {
          report.added.append(idea)
        } else {
          report.duplicates += 1
        }
      case .failure(let problem): report.problems.append(problem)
      }
    }
    guard !report.added.isEmpty else { return report }
    try add(
      report.added,
      [
        entry(
          .import, nil,
          "\(report.added.count) ideas from a file; \(report.problems.count) rows skipped.")
      ])
    return report
  }
}
