/// A key of 128 bits.
public struct StorageSecret: Hashable, Sendable {
  /// The first half.
  public var first: UInt64
  /// The second half.
  public var second: UInt64

  /// Creates a key from its halves.
  public init(first: UInt64, second: UInt64) {
    self.first = first
    self.second = second
  }

  /// A key derived from a storage's identity, for tests and simulations only: it can be computed
  /// from any token.
  public init(guessableFrom identity: UInt64) {
    self.init(first: identity ^ 0x736f_6d65_7073_6575, second: ~identity)
  }
}
