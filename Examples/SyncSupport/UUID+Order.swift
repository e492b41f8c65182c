public import Foundation

extension UUID {
  /// Whether this ID comes before `other`, in the order of their texts.
  ///
  /// Compares the bytes: the same order as that of the texts, which would cost two strings for
  /// every comparison.
  public func precedes(_ other: UUID) -> Bool {
    withUnsafeBytes(of: uuid) { first in
      withUnsafeBytes(of: other.uuid) { second in first.lexicographicallyPrecedes(second) }
    }
  }
}
