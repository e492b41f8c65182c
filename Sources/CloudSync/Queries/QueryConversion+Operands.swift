import Records

extension QueryConversion {
  /// The field that an operand names.
  func key(_ expression: PredicateOperand, _ part: String) throws(CKError) -> String {
    guard case .key(let name) = expression else { throw try keyless(expression, part) }
    return try queryKey(name, in: part)
  }

  /// The error for an operand that should have been a field's name.
  func keyless(_ expression: PredicateOperand, _ part: String) throws(CKError) -> CKError {
    switch expression {
    case .function, .arithmetic, .member, .variable: _ = try constant(expression, part)
    case .itself:
      return refusal("self can only be searched for words, with self CONTAINS, unlike \(part).")
    case .null, .value, .list, .foreign, .key: break
    }
    return refusal("One side must be a field's name, in \(part).")
  }

  /// The value of an operand.
  func constant(_ expression: PredicateOperand, _ part: String) throws(CKError) -> FieldValue {
    switch expression {
    case .value(.asset):
      throw refusal(
        "Files cannot be compared, in \(part); store the value to search for in a field.")
    case .value(let value): return value
    case .list(let members):
      var values: [FieldValue] = []
      for member in members {
        if case .list = member { throw refusal("Lists hold no lists, in \(part).") }
        values.append(try constant(member, part))
      }
      return .list(values)
    case .function("now", let arguments) where arguments.isEmpty: return .date(now)
    case .null:
      throw refusal(
        "Comparing with nil is not supported in queries, in \(part); store a field for it.")
    case .foreign(let type, _, _):
      throw refusal(
        """
        An argument of the type \(type) is not supported in queries, in \(part); use text, \
        numbers, dates, data, lists, references, records or places.
        """)
    case .key(let name):
      throw refusal("Two fields cannot be compared with each other (\(name)), in \(part).")
    case .itself: throw refusal("self cannot be a value, in \(part).")
    case .variable(let name): throw refusal("The variable $\(name) has no value, in \(part).")
    case .function(let name, _):
      throw refusal(
        """
        The function \(name) is not supported here in queries, in \(part); only now(), distance \
        and tokenize are.
        """)
    case .arithmetic:
      throw refusal("Calculations are not supported in queries, in \(part); compute the value.")
    case .member: throw refusal("Subscripts are not supported in queries, in \(part).")
    }
  }

  /// The filter of `self CONTAINS 'words'` and of `ALL tokenize('words', 'Cdl') IN allTokens`;
  /// `nil` when the comparison is neither.
  func tokenSearch(
    _ comparison: PredicateComparison, _ part: String
  ) throws(CKError) -> Query.Filter? {
    let words: PredicateOperand
    var key = ""
    var comparator = Query.Filter.Comparator.containsAllTokens
    switch (comparison.operation, comparison.left, comparison.right) {
    case (.contains, .itself, let text), (.contains, .key("allTokens"), let text):
      guard comparison.modifier == .direct else { return nil }
      words = text
    case (.tokenMatches, .itself, let text), (.tokenMatches, .key("allTokens"), let text):
      guard comparison.modifier == .direct else { return nil }
      words = text
    case (.tokenMatches, .key(let name), let text):
      guard comparison.modifier == .direct else { return nil }
      key = try queryKey(name, in: part)
      words = text
    case (.isIn, .function(PredicateFunction.tokenize, let arguments), .key("allTokens")):
      guard comparison.modifier != .direct else { return nil }
      if comparison.modifier == .any { comparator = .containsAnyTokens }
      guard let text = arguments.first else { return nil }
      words = text
    default: return nil
    }
    guard case .value(.string(let text)) = words else {
      throw refusal("Only a text can be searched for its words, in \(part).")
    }
    return Query.Filter(key: key, comparator: comparator, value: .string(text))
  }

  /// The filter of a test of distance; `nil` when the comparison is none.
  func distanceTest(
    _ comparison: PredicateComparison, _ part: String
  ) throws(CKError) -> Query.Filter? {
    let places: [PredicateOperand]
    let radius: PredicateOperand
    let isInside: Bool
    if case .function(PredicateFunction.distance, let arguments) = comparison.left {
      (places, radius) = (arguments, comparison.right)
      isInside = comparison.operation == .lessThan || comparison.operation == .lessThanOrEquals
    } else if case .function(PredicateFunction.distance, let arguments) = comparison.right {
      (places, radius) = (arguments, comparison.left)
      isInside =
        comparison.operation == .greaterThan || comparison.operation == .greaterThanOrEquals
    } else {
      return nil
    }
    guard isInside, comparison.modifier == .direct, comparison.options.isEmpty else {
      throw refusal("A distance can only be tested to be less than a radius, unlike \(part).")
    }
    guard let metres = radius.number, metres.isFinite, metres >= 0 else {
      throw refusal("The radius must be a number that is not negative, in \(part).")
    }
    switch (places.first, places.last) {
    case (.key(let name), .value(.location(let place))),
      (.value(.location(let place)), .key(let name)):
      return Query.Filter(
        key: try queryKey(name, in: part), comparator: .near, value: .location(place),
        distance: metres)
    default:
      throw refusal("A distance is measured between a field and a place, unlike \(part).")
    }
  }
}

extension PredicateOperand {
  /// The number, when it is one.
  var number: Double? {
    switch self {
    case .value(.int64(let number)): Double(number)
    case .value(.double(let number)): number
    default: nil
    }
  }
}
