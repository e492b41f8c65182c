/// The part of ``CloudStorage`` for the state that servers on the same data share besides the data:
/// counts of requests, and the faults that an operator sets.
///
/// The server calls these functions outside of transactions. The defaults are those of a storage
/// that does not share such state: each server keeps its own.
public protocol SharedStateStorage: AnyObject {
  /// Counts a request of a caller together with those that the other servers count.
  ///
  /// A window begins with the first request after the caller's last window, by one clock for all
  /// servers. Counts may be lost when the storage fails.
  /// - Parameters:
  ///   - caller: the key of the caller.
  ///   - window: the length of a window in seconds.
  /// - Returns: The place of the request in its window; `nil`, which is the default, if each server
  ///   counts its own requests.
  func countRequest(of caller: String, window: Double) throws -> CountedRequest?

  /// The bytes that the servers share, empty at first; `nil`, which is the default, if they share
  /// none.
  func sharedState() throws -> [UInt8]?

  /// Replaces the bytes that the servers share; called only if `sharedState()` returns some.
  ///
  /// - Parameter body: changes the bytes, while no other server can change them; it may be called
  ///   more than once.
  func updateSharedState(_ body: (inout [UInt8]) throws -> Void) throws
}

extension SharedStateStorage {
  /// Each server counts its own requests.
  public func countRequest(of caller: String, window: Double) throws -> CountedRequest? { nil }

  /// The servers share no bytes.
  public func sharedState() throws -> [UInt8]? { nil }

  /// Does nothing.
  public func updateSharedState(_ body: (inout [UInt8]) throws -> Void) throws {}
}

/// The place of a request among those of its caller in a window.
public struct CountedRequest: Hashable, Sendable {
  /// The number of the request in the window, from 1.
  public var number: Int
  /// The seconds until the window ends.
  public var remaining: Double

  /// Creates the place of a request.
  public init(number: Int, remaining: Double) {
    self.number = number
    self.remaining = remaining
  }
}
