public import Foundation

/// An error of a recording or a replay, or a difference between them.
public struct SessionError: Error, Hashable, Sendable, CustomStringConvertible, LocalizedError {
  /// A description of the problem and its remedy.
  public let description: String

  /// The text of `description`, for `localizedDescription`.
  public var errorDescription: String? { description }
}
