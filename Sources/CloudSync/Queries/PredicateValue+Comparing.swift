import Records

#if canImport(CoreLocation)
  import Foundation  // public, because the module exports CoreLocation
#else
  package import Foundation
#endif

extension PredicateValue {
  /// Whether both are the same; numbers by size, references by their target.
  func equals(_ other: PredicateValue, _ options: PredicateComparison.Options) -> Bool {
    switch (self, other) {
    case (.null, .null): return true
    case (.value(.string(let first)), .value(.string(let second))):
      return options.folded(first).utf8.elementsEqual(options.folded(second).utf8)
    case (.value(.reference(let first)), .value(.reference(let second))):
      return first.target == second.target
    case (.value(let first), .value(let second)):
      if let order = PredicateValue.order(first, second, options) { return order == .orderedSame }
      return first == second
    case (.list(let first), .list(let second)):
      return first.count == second.count
        && zip(first, second).allSatisfy { $0.equals($1, options) }
    case (.object(let first), .object(let second)):
      return String(describing: first) == String(describing: second)
    case (.object(let record as CKRecord), .value(.reference(let reference))),
      (.value(.reference(let reference)), .object(let record as CKRecord)):
      return record.recordID.value == reference.target
    case (.null, _), (.value, _), (.list, _), (.object, _): return false
    }
  }

  /// The order of both values; `nil` if their kinds have no common order.
  func order(
    _ other: PredicateValue, _ options: PredicateComparison.Options
  ) -> ComparisonResult? {
    guard case .value(let first) = self, case .value(let second) = other else { return nil }
    return PredicateValue.order(first, second, options)
  }

  private static func order(
    _ first: FieldValue, _ second: FieldValue, _ options: PredicateComparison.Options
  ) -> ComparisonResult? {
    func result<Value: Comparable>(_ first: Value, _ second: Value) -> ComparisonResult? {
      first < second
        ? .orderedAscending
        : first > second ? .orderedDescending : first == second ? .orderedSame : nil
    }
    switch (first, second) {
    case (.int64(let first), .int64(let second)): return result(first, second)
    case (.int64(let first), .double(let second)): return result(Double(first), second)
    case (.double(let first), .int64(let second)): return result(first, Double(second))
    case (.double(let first), .double(let second)): return result(first, second)
    case (.date(let first), .date(let second)):
      return result(first.secondsSinceReferenceDate, second.secondsSinceReferenceDate)
    case (.string(let first), .string(let second)):
      let (first, second) = (options.folded(first), options.folded(second))
      if first.utf8.elementsEqual(second.utf8) { return .orderedSame }
      return first.unicodeScalars.lexicographicallyPrecedes(second.unicodeScalars)
        ? .orderedAscending : .orderedDescending
    case (.int64, _), (.double, _), (.date, _), (.string, _), (.bytes, _), (.reference, _),
      (.asset, _), (.location, _), (.list, _):
      return nil
    }
  }

  /// The order of two objects by a field; without a field the objects themselves are compared.
  package static func order(
    _ first: Any, _ second: Any, by key: String?, ascending: Bool
  ) -> ComparisonResult {
    func value(_ object: Any) -> PredicateValue {
      let evaluation = PredicateEvaluation(object: object, variables: [:])
      return evaluation.value(of: key.map(PredicateOperand.key) ?? .itself)
    }
    let (first, second) = (value(first), value(second))
    let order: ComparisonResult =
      switch (first, second) {
      case (.null, .null): .orderedSame
      case (.null, _): .orderedAscending
      case (_, .null): .orderedDescending
      default: first.order(second, []) ?? .orderedSame
      }
    if ascending { return order }
    switch order {
    case .orderedAscending: return .orderedDescending
    case .orderedDescending: return .orderedAscending
    case .orderedSame: return .orderedSame
    }
  }
}

extension PredicateComparison.Options {
  /// The text without what may differ.
  func folded(_ text: String) -> String {
    var options: String.CompareOptions = []
    if contains(.caseInsensitive) { options.insert(.caseInsensitive) }
    if contains(.diacriticInsensitive) { options.insert(.diacriticInsensitive) }
    return options.isEmpty ? text : text.folding(options: options, locale: nil)
  }
}
