import Records

/// A set of values for filters with lists, compared by hashing.
///
/// The set contains a value exactly when `QueryValue.order(to:)` is `equal` for one of its values.
/// NaN equals nothing and is never contained.
struct QueryValueSet {
  /// The values in a canonical form.
  private var forms: Set<QueryValue> = []
  /// Whether the set contains names, which equal references to a record with that name.
  private var hasNames = false
  /// Whether the set contains a value that equals nothing.
  private var hasUnequalValue = false

  /// The values that equal others, each once.
  var values: Set<QueryValue> { forms }

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
  /// The canonical form of equal values; `nil` for NaN, which equals nothing.
  fileprivate var uniqueForm: QueryValue? {
    switch self {
    case .number(let value):
      if value.isNaN { return nil }
      // A floating-point number without a fraction equals the integer.
      return Int64(exactly: value).map { .integer($0) } ?? self
    case .time(let value): return value.isNaN ? nil : self
    case .text, .integer, .bytes, .reference, .name: return self
    }
  }
}
