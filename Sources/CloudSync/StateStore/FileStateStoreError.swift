import Disk
public import Foundation

/// Why a state file could not be used; what could be saved of it is untouched.
public struct FileStateStoreError: Error, Hashable, Sendable {
  /// The kinds of fault.
  public struct Code: Hashable, Sendable {
    private let rawValue: UInt8

    private init(_ rawValue: UInt8) { self.rawValue = rawValue }

    /// Another store has the file open.
    public static let inUse = Code(0)
    /// The system refused to read or write.
    public static let system = Code(1)
    /// The file is no state file.
    public static let foreign = Code(2)
    /// A newer version wrote it.
    public static let future = Code(3)
    /// It was a state file and is damaged.
    public static let damaged = Code(4)
  }

  /// What kind of fault it is.
  public let code: Code

  /// What happened, to which file, and what to do.
  public let message: String

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// What the disk said when something was done to the file.
  static func system(_ doing: String, _ path: String, _ error: DiskError) -> FileStateStoreError {
    FileStateStoreError(
      .system, "Could not \(doing) the state file \(path): \(error). Check disk and rights.")
  }
}

extension FileStateStoreError: LocalizedError, CustomStringConvertible {
  /// The message.
  public var errorDescription: String? { message }

  /// The message.
  public var description: String { message }
}
