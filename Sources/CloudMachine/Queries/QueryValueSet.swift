import Records

/// Values that a record's values are compared with by hashing, whatever their number.
///
/// A value of a record is in the set exactly when `QueryValue.order(to:)` says `equal` for one of
/// the values. NaN, which equals nothing, is never found.
struct QueryValueSet {
  /// The values in one form for each class of equal values.
  private var forms: Set<QueryValue> = []
  /// Whether there are names, which a reference to a record of that name equals.
  private var hasNames = false
  /// Whether there is a value that equals nothing.
  private var hasUnequalValue = false

  /// The set of `values`.
  init(_ values: some Sequence<QueryValue>) {
    for value in values {
      if case .name = value { hasNames = true }
      if let form = value.uniqueForm {
        forms.insert(form)
      } else {
        hasUnequalValue = true
      }
    }
  }

  /// Whether one of the values equals `value`, which comes from a record.
  func contains(_ value: QueryValue) -> Bool {
    guard let form = value.uniqueForm else { return false }
    if forms.contains(form) { return true }
    guard hasNames, case .reference(let id) = form else { return false }
    return forms.contains(.name(id.name))
  }

  /// Whether each of the values equals one of `members`, which come from a record.
  func isCovered(by members: [QueryValue]) -> Bool {
    if hasUnequalValue { return false }
    var found: Set<QueryValue> = []
    for member in members {
      guard found.count < forms.count else { break }
      guard let form = member.uniqueForm else { continue }
      if forms.contains(form) { found.insert(form) }
      if hasNames, case .reference(let id) = form, forms.contains(.name(id.name)) {
        found.insert(.name(id.name))
      }
    }
    return found.count == forms.count
  }
}

extension QueryValue {
  /// The same value for all values that are equal; `nil` for NaN, which equals nothing.
  fileprivate var uniqueForm: QueryValue? {
    switch self {
    case .number(let value):
      if value.isNaN { return nil }
      // A floating-point number that is whole equals the whole number.
      return Int64(exactly: value).map { .integer($0) } ?? self
    case .time(let value): return value.isNaN ? nil : self
    case .text, .integer, .bytes, .reference, .name: return self
    }
  }
}
