/// A promise of a store that did not hold, and where.
package struct StoreViolation: Hashable, Sendable, CustomStringConvertible {
  /// The kind of store.
  package var store: String
  /// The seed of the world.
  package var seed: UInt64
  /// The step at which it was seen.
  package var step: Int
  /// What was seen.
  package var message: String
  /// The command that shows it again.
  package var replay: String

  /// Two lines for people.
  package var description: String {
    "\(store), seed \(seed), step \(step): \(message)\n  replay: \(replay)"
  }
}

/// Ends a world at the first promise that does not hold.
struct BrokenPromise: Error {
  var message: String

  init(_ message: String) { self.message = message }
}
