public import Foundation

/// An error of a store's file; the description says what to do and contains nothing of the content.
public struct FileError: Error, Hashable, Sendable, LocalizedError, CustomStringConvertible {
  /// The step that failed.
  public enum Step: String, Hashable, Sendable {
    /// The file could not be read.
    case read
    /// The file could not be written.
    case write
    /// The file is damaged, or not a file of this kind.
    case understand
    /// The file is intact, but another version of the app wrote it, and this one can't use it.
    case use
  }

  /// The step that failed.
  public let step: Step

  /// The file.
  public let url: URL

  /// The cause, without the file's path.
  public let reason: String

  /// Creates an error.
  public init(_ step: Step, _ url: URL, _ reason: String) {
    self.step = step
    self.url = url
    self.reason = reason
  }

  /// The step, the file and the reason.
  public var errorDescription: String? { description }

  /// The step, the file and the reason.
  public var description: String { "cannot \(step.rawValue) \(url.path): \(reason)" }
}

/// A damaged file that was set aside, so that the store could be opened without it.
public struct FileRecovery: Hashable, Sendable, CustomStringConvertible {
  /// The damage.
  public let error: FileError

  /// The copy of the damaged file.
  public let copy: URL

  /// Creates a recovery.
  public init(_ error: FileError, copy: URL) {
    self.error = error
    self.copy = copy
  }

  /// The damaged file, its copy and the consequence.
  public var description: String {
    "\(error.url.lastPathComponent) was damaged and is kept as \(copy.lastPathComponent). "
      + "Everything is fetched again; changes that only the damaged part contained are not sent, "
      + "and none if it alone named their account."
  }
}
