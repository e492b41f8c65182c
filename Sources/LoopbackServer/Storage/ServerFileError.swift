public import Foundation
import SQLite

/// The error of a server's file that cannot be used; the file is left unchanged.
public struct ServerFileError: Error, Hashable, Sendable, LocalizedError {
  /// The error codes.
  public enum Code: String, Hashable, Sendable, CaseIterable {
    /// The path cannot be opened: a missing folder, a folder at the path, or no permission.
    case cannotOpen
    /// The file or its folder is read-only.
    case readOnly
    /// The file is not a database.
    case notADatabase
    /// The file is the database of another program.
    case foreign
    /// The file was written by a newer version of this package.
    case newer
    /// The file's content is damaged.
    case damaged
    /// Another process locked the file for too long.
    case busy
    /// The disk is full.
    case full
    /// The system failed to read or write, or SQLite failed in another way.
    case failed
  }

  /// The error code.
  public var code: Code

  /// The path of the file.
  public var path: String

  /// The message: what failed, for which file, and how to fix it.
  public var message: String

  /// The message.
  public var errorDescription: String? { message }

  /// The message with other words for the path, which clients of the server need not know.
  let messageForClients: String

  /// Creates an error.
  ///
  /// - Parameter message: Returns the message with the words for the file: its path, or others.
  init(_ code: Code, path: String, _ message: (_ file: String) -> String) {
    self.code = code
    self.path = path
    self.message = message(path)
    messageForClients = message("the server's file")
  }

  /// Creates an error with a message that does not contain the path.
  init(_ code: Code, path: String, _ message: String) {
    self.init(code, path: path) { _ in message }
  }

  init(_ error: SQLiteError, path: String) {
    switch error.code {
    case .cannotOpen:
      self.init(.cannotOpen, path: path) {
        "cannot open \($0); check that its folder exists and may be read and written"
      }
    case .readOnly:
      self.init(.readOnly, path: path) {
        "\($0) may not be written; change its permissions, or free some space if its disk was "
          + "full when it was opened, and start again"
      }
    case .notADatabase:
      self.init(.notADatabase, path: path) {
        "\($0) is not a database; use another file, or move this one away"
      }
    case .corrupt, .mismatch: self.init(damaged: error.message, path: path)
    case .busy, .locked:
      self.init(.busy, path: path) {
        "another process has locked \($0) for too long; try again later"
      }
    case .full:
      self.init(.full, path: path) {
        "the disk that holds \($0) is full; free some space and try again"
      }
    case .inputOutput where error.extendedCode == .sharedMemorySize:
      self.init(SQLiteError(.full, error.message), path: path)
    case .inputOutput:
      self.init(.failed, path: path) {
        "the system failed to read or write \($0): \(error.message) "
          + "(SQLite's code \(error.extendedCode.rawValue))"
      }
    default: self.init(.failed, path: path) { "SQLite failed on \($0): \(error.message)" }
    }
  }

  /// The error of a file that is not at its path any more.
  static func moved(_ path: String) -> ServerFileError {
    ServerFileError(.failed, path: path) {
      "\($0) was moved, replaced or deleted while it was open; put it back, or stop the server"
    }
  }

  init(damaged detail: String, path: String) {
    self.init(.damaged, path: path) {
      "\($0) is damaged (\(detail)); restore it from a copy, or move it away to create a new file"
    }
  }
}

extension ServerFileError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}
