import Disk
public import Foundation

/// The reason why a state file could not be used; its bytes are unchanged.
public struct FileStateStoreError: Error, Hashable, Sendable, LocalizedError,
  CustomStringConvertible
{
  /// The kinds of errors.
  public struct Code: Hashable, Sendable {
    private let rawValue: UInt8

    private init(_ rawValue: UInt8) { self.rawValue = rawValue }

    /// Another store has the file open.
    public static let inUse = Code(0)
    /// A read or write failed.
    public static let system = Code(1)
    /// The file is not a state file.
    public static let foreign = Code(2)
    /// The file was written by a newer version.
    public static let future = Code(3)
    /// The file is a damaged state file.
    public static let damaged = Code(4)
  }

  /// The kind of error.
  public let code: Code

  /// A description of the problem, with the file and the remedy.
  public let message: String

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// Creates an error for a failed file operation.
  static func system(_ doing: String, _ path: String, _ error: DiskError) -> FileStateStoreError {
    FileStateStoreError(
      .system, "Could not \(doing) the state file \(path): \(error). Check disk and rights.")
  }

  /// The message.
  public var errorDescription: String? { message }

  /// The message.
  public var description: String { message }
}
