/// A range of keys in the index of a field.
package struct IndexRange: Hashable, Sendable {
  /// The first bytes of the range.
  package let lower: [UInt8]
  /// The first bytes after the range.
  package let upper: [UInt8]

  /// All keys.
  static let all = IndexRange(lower: [], upper: [0xff])
  /// The keys without a place in the order of values.
  static let unordered = IndexRange(kind: .unordered)
  /// The keys whose order is not that of the values: names, and those without a place.
  static let unsortable = IndexRange(
    lower: [IndexKey.Kind.name.rawValue], upper: [0xff])

  init(lower: [UInt8], upper: [UInt8]) {
    self.lower = lower
    self.upper = upper
  }

  /// The keys of one kind.
  init(kind: IndexKey.Kind) { self.init(lower: [kind.rawValue], upper: [kind.rawValue + 1]) }

  /// One key.
  init(_ key: IndexKey) { self.init(lower: key.bytes, upper: key.bytes + [0]) }

  /// The keys of texts or names that begin with `prefix`.
  init(kind: IndexKey.Kind, prefix: String) {
    var lower = [kind.rawValue] + prefix.utf8
    if lower.count >= IndexKey.length {
      lower.removeSubrange(IndexKey.length...)
      self.init(lower: lower, upper: lower + [0])
      return
    }
    // The last byte of UTF-8 and of a kind is below 0xff.
    var upper = lower
    upper[upper.count - 1] += 1
    self.init(lower: lower, upper: upper)
  }

  /// Whether the range is one key.
  var isOneKey: Bool { upper == lower + [0] }

  /// Whether the range contains no key.
  var isEmpty: Bool { !lower.lexicographicallyPrecedes(upper) }

  /// The keys in both ranges; the range may be empty.
  func intersection(_ other: IndexRange) -> IndexRange {
    IndexRange(
      lower: lower.lexicographicallyPrecedes(other.lower) ? other.lower : lower,
      upper: upper.lexicographicallyPrecedes(other.upper) ? upper : other.upper)
  }

  /// The keys in ranges of both lists, each of which is in order and without overlaps.
  static func intersection(_ first: [IndexRange], _ second: [IndexRange]) -> [IndexRange] {
    var found: [IndexRange] = []
    var (left, right) = (0, 0)
    while left < first.count, right < second.count {
      let common = first[left].intersection(second[right])
      if !common.isEmpty { found.append(common) }
      if first[left].upper.lexicographicallyPrecedes(second[right].upper) {
        left += 1
      } else {
        right += 1
      }
    }
    return found
  }

  /// The ranges in order, those that overlap as one.
  static func merged(_ ranges: [IndexRange]) -> [IndexRange] {
    var merged: [IndexRange] = []
    for range in ranges.sorted(by: { $0.lower.lexicographicallyPrecedes($1.lower) }) {
      if let last = merged.last, range.lower.lexicographicallyPrecedes(last.upper) {
        let upper = last.upper.lexicographicallyPrecedes(range.upper) ? range.upper : last.upper
        merged[merged.count - 1] = IndexRange(lower: last.lower, upper: upper)
      } else {
        merged.append(range)
      }
    }
    return merged
  }
}

extension PreparedFilter {
  /// The ranges of the field's index that contain every record that matches, in order; `nil` if the
  /// index does not help.
  var ranges: [IndexRange]? {
    guard !isNegated, let found = positiveRanges else { return nil }
    let mayBeUnordered = found.contains { range in
      let kind = range.lower.first.flatMap(IndexKey.Kind.init(rawValue:))
      return kind == .text || kind == .name
    }
    return IndexRange.merged(mayBeUnordered ? found + [.unordered] : found)
  }

  private var positiveRanges: [IndexRange]? {
    switch condition {
    case .compares(let orders, let operand): return PreparedFilter.ranges(orders, operand)
    case .isOneOf(let set):
      let keys = set.values.map { IndexKey($0) }
      return keys.contains(where: \.isUnordered) ? nil : keys.map { IndexRange($0) }
    case .beginsWith(let prefix):
      let small = prefix.lowercased()
      guard CanonicalText.isCanonical(prefix), CanonicalText.isCanonical(small) else { return nil }
      return [IndexRange(kind: .text, prefix: small), IndexRange(kind: .name, prefix: prefix)]
    case .equalsList, .holdsAny, .holdsAll, .holdsBeginningWith, .isWithin, .hasAllWords,
      .hasAnyWord:
      return nil
    }
  }

  /// The keys of the values in one of `orders` to `operand`.
  private static func ranges(
    _ orders: [QueryValue.Order], _ operand: QueryValue
  ) -> [IndexRange]? {
    let key = IndexKey(operand)
    guard !key.isUnordered, let kind = key.bytes.first.flatMap(IndexKey.Kind.init(rawValue:))
    else { return nil }
    let one = IndexRange(key)
    let all = IndexRange(kind: kind)
    // Values before and behind the operand may have its key, unless the key is exact.
    let includesKey = orders.contains(.equal) || !key.isExact
    let lower = orders.contains(.less) ? all.lower : includesKey ? one.lower : one.upper
    let upper = orders.contains(.greater) ? all.upper : includesKey ? one.upper : one.lower
    return [IndexRange(lower: lower, upper: upper)]
  }
}

extension IndexKey {
  fileprivate var isUnordered: Bool { bytes.first == Kind.unordered.rawValue }
}
