import Records

extension QueryConversion {
  /// The filters that mean one comparison.
  func filters(_ comparison: PredicateComparison) throws(CKError) -> [Query.Filter] {
    let part = "\"\(PredicateTree.comparison(comparison).summary)\""
    if let filter = try tokenSearch(comparison, part) { return [filter] }
    if let filter = try distanceTest(comparison, part) { return [filter] }
    if !comparison.options.isEmpty {
      throw refusal("The options in [] are not supported in queries, in \(part); leave them out.")
    }
    for side in [comparison.left, comparison.right] {
      if case .foreign = side { _ = try constant(side, part) }
    }
    switch comparison.modifier {
    case .direct: return try direct(comparison, part)
    case .any: return [try any(comparison, part)]
    case .all:
      throw refusal("ALL is not supported in queries, in \(part); use ANY, or AND several.")
    }
  }

  private func direct(
    _ comparison: PredicateComparison, _ part: String
  ) throws(CKError) -> [Query.Filter] {
    let (left, right) = (comparison.left, comparison.right)
    switch comparison.operation {
    case .equals, .notEquals, .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals:
      return [try ordered(comparison, part)]
    case .between:
      guard case .list(let bounds) = right, bounds.count == 2 else {
        throw refusal("BETWEEN needs a list of two bounds, in \(part).")
      }
      let key = try key(left, part)
      return [
        try filter(key, .greaterThanOrEquals, bounds[0], part),
        try filter(key, .lessThanOrEquals, bounds[1], part),
      ]
    case .isIn:
      if case .list = right { return [try filter(try key(left, part), .isIn, right, part)] }
      return [try filter(try key(right, part), .listContains, left, part)]
    case .contains:
      if case .list = left { return [try filter(try key(right, part), .isIn, left, part)] }
      return [try filter(try key(left, part), .listContains, right, part)]
    case .beginsWith:
      return [try prefix(left, .beginsWith, right, part)]
    case .endsWith, .like, .matches, .tokenMatches:
      throw unsupported(comparison.operation, part)
    }
  }

  /// Converts `==`, `<` and similar operators, with the field on either side.
  private func ordered(
    _ comparison: PredicateComparison, _ part: String
  ) throws(CKError) -> Query.Filter {
    if case .key = comparison.left {
      return try filter(
        try key(comparison.left, part), comparison.operation.comparator, comparison.right, part)
    }
    if case .key = comparison.right {
      return try filter(
        try key(comparison.right, part), comparison.operation.flipped.comparator,
        comparison.left, part)
    }
    throw try keyless(comparison.left, part)
  }

  private func any(
    _ comparison: PredicateComparison, _ part: String
  ) throws(CKError) -> Query.Filter {
    let (left, right) = (comparison.left, comparison.right)
    switch comparison.operation {
    case .equals, .contains:
      if case .list = left { return try filter(try key(right, part), .isIn, left, part) }
      return try filter(try key(left, part), .listContains, right, part)
    case .isIn:
      if case .list = left { return try filter(try key(right, part), .listContainsAny, left, part) }
      return try filter(try key(left, part), .listContainsAny, right, part)
    case .beginsWith: return try prefix(left, .listMemberBeginsWith, right, part)
    case .notEquals, .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals, .between,
      .endsWith, .like, .matches, .tokenMatches:
      throw refusal(
        "ANY works with =, IN, CONTAINS and BEGINSWITH only, not with "
          + "\(comparison.operation.rawValue) as in \(part).")
    }
  }

  private func prefix(
    _ left: PredicateOperand, _ comparator: Query.Filter.Comparator,
    _ right: PredicateOperand, _ part: String
  ) throws(CKError) -> Query.Filter {
    guard case .value(.string) = right else {
      throw refusal("BEGINSWITH compares a field with a text, unlike \(part).")
    }
    return try filter(try key(left, part), comparator, right, part)
  }

  private func filter(
    _ key: String, _ comparator: Query.Filter.Comparator, _ value: PredicateOperand,
    _ part: String
  ) throws(CKError) -> Query.Filter {
    let takesList = comparator == .isIn || comparator == .listContainsAny
    let isList = if case .list = value { true } else { false }
    if takesList && !isList { throw refusal("IN needs a list, in \(part).") }
    let isEquality = comparator == .equals || comparator == .notEquals
    if isList && !takesList && !isEquality {
      throw refusal("A list cannot be compared in this way, in \(part); compare with one value.")
    }
    let converted = try constant(value, part)
    try check(converted, for: key, part)
    return Query.Filter(key: key, comparator: comparator, value: converted)
  }

  /// Refuses a value that a system field never has.
  private func check(_ value: FieldValue, for key: String, _ part: String) throws(CKError) {
    guard let field = SystemField(rawValue: key) else { return }
    let values = if case .list(let members) = value { members } else { [value] }
    for value in values where value.kind != field.kind {
      throw refusal(
        """
        \(field.fieldName) cannot be compared with a value of the kind \(value.kind), in \(part); \
        compare it with a \(field.kind).
        """)
    }
  }

  private func unsupported(_ operation: PredicateComparison.Operator, _ part: String) -> CKError {
    refusal(
      "\(operation.rawValue) is not supported in queries, in \(part); use BEGINSWITH, or filter "
        + "what was fetched.")
  }
}

extension PredicateComparison.Operator {
  /// The comparator of the same meaning; of use for the six that order values.
  fileprivate var comparator: Query.Filter.Comparator {
    switch self {
    case .equals, .between, .contains, .endsWith, .like, .matches, .tokenMatches: .equals
    case .notEquals: .notEquals
    case .lessThan: .lessThan
    case .lessThanOrEquals: .lessThanOrEquals
    case .greaterThan: .greaterThan
    case .greaterThanOrEquals: .greaterThanOrEquals
    case .isIn: .isIn
    case .beginsWith: .beginsWith
    }
  }

  /// The operator with its sides exchanged.
  fileprivate var flipped: Self {
    switch self {
    case .lessThan: .greaterThan
    case .lessThanOrEquals: .greaterThanOrEquals
    case .greaterThan: .lessThan
    case .greaterThanOrEquals: .lessThanOrEquals
    case .equals, .notEquals, .between, .isIn, .contains, .beginsWith, .endsWith, .like, .matches,
      .tokenMatches:
      self
    }
  }
}
