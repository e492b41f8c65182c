import SQLite

/// Why a server's file cannot be used; the file was left as it was.
public struct ServerFileError: Error, Hashable, Sendable {
  /// The kinds of reason.
  public enum Code: String, Hashable, Sendable, CaseIterable {
    /// The path cannot be opened: a missing folder, a folder in its place, or no permission.
    case cannotOpen
    /// The file or its folder may be read but not written.
    case readOnly
    /// The file is no database at all.
    case notADatabase
    /// The file is a database, but of another program.
    case foreign
    /// The file was written by a newer version of this package.
    case newer
    /// The file's content is damaged.
    case damaged
    /// Another process holds the file for too long.
    case busy
    /// The disk is full.
    case full
    /// The system failed to read or write, or SQLite failed in another way.
    case failed
  }

  /// What kind of reason.
  public var code: Code

  /// The path of the file.
  public var path: String

  /// What happened, to what, and what to do.
  public var message: String

  init(_ code: Code, path: String, _ message: String) {
    self.code = code
    self.path = path
    self.message = message
  }

  init(_ error: SQLiteError, path: String) {
    switch error.code {
    case .cannotOpen:
      self.init(
        .cannotOpen, path: path,
        "cannot open \(path); check that its folder exists and may be read and written")
    case .readOnly:
      self.init(.readOnly, path: path, "\(path) may not be written; change its permissions")
    case .notADatabase:
      self.init(
        .notADatabase, path: path,
        "\(path) is not a database; name another file, or move this one away")
    case .corrupt, .mismatch: self.init(damaged: error.message, path: path)
    case .busy, .locked:
      self.init(.busy, path: path, "another process holds \(path) for too long; try again later")
    case .full:
      self.init(.full, path: path, "the disk that holds \(path) is full; make room and try again")
    case .inputOutput:
      self.init(
        .failed, path: path, "the system failed to read or write \(path): \(error.message)")
    default: self.init(.failed, path: path, "SQLite failed on \(path): \(error.message)")
    }
  }

  init(damaged detail: String, path: String) {
    self.init(
      .damaged, path: path,
      "\(path) is damaged (\(detail)); restore it from a copy, or move it away to start anew")
  }
}

extension ServerFileError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}
