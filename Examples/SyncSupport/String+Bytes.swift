import Foundation

extension String {
  /// Whether both texts are the same bytes; `==` also takes texts for equal that only read so.
  public func hasSameBytes(as other: String) -> Bool {
    let (first, second) = (self.utf8, other.utf8)
    guard first.count == second.count else { return false }
    let isSame = first.withContiguousStorageIfAvailable { first in
      second.withContiguousStorageIfAvailable { second in
        guard let start = first.baseAddress, let other = second.baseAddress else { return true }
        return memcmp(start, other, first.count) == 0
      }
    }
    return (isSame ?? nil) ?? first.elementsEqual(second)
  }
}
