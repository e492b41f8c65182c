public import Foundation

/// Why a session could not be recorded or replayed, or how a replay differs from it.
public struct SessionError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What happened and what to do.
  public let description: String
}

extension SessionError: LocalizedError {
  /// The description.
  public var errorDescription: String? { description }
}
