import CloudProtocol
import Records

/// A validated filter, ready to be evaluated on many records.
///
/// A negated comparator matches exactly the records that its positive form does not match,
/// including records without the field.
struct PreparedFilter {
  /// A condition on a value.
  enum Condition {
    case compares([QueryValue.Order], QueryValue)
    case equalsList([QueryValue])
    case isOneOf(QueryValueSet)
    case beginsWith(String)
    case holdsAny(QueryValueSet)
    case holdsAll(QueryValueSet)
    case holdsBeginningWith(String)
    case isWithin(Double, of: Location)
    case hasAllWords(Set<String>)
    case hasAnyWord(Set<String>)
  }

  /// The field; `nil` for the words of the whole record.
  let field: QueryField?
  let condition: Condition
  let isNegated: Bool

  /// Prepares `filter` for records of `type`; throws if it is invalid.
  init(
    _ filter: Query.Filter, type: RecordTypeRow?, user: UserID?
  ) throws(CloudError) {
    let (words, isNegated) = filter.comparator.split
    self.isNegated = isNegated
    if case .words(let all) = words {
      let wanted = try PreparedFilter.wanted(filter)
      condition = all ? .hasAllWords(wanted) : .hasAnyWord(wanted)
      field = filter.key.isEmpty ? nil : try QueryField(filter.key)
      try checkWords(filter, type)
      return
    }
    let field = try QueryField(filter.key)
    self.field = field
    try field.require(.queryable, in: type)
    let operand = Operand(filter, field, user)
    condition = try operand.condition(for: words)
    try operand.check(against: field.shape(in: type), for: words)
  }

  /// Whether a record with `examined` in the filter's field matches.
  func holds(for examined: inout ExaminedField) -> Bool { isPositive(&examined) != isNegated }

  private func isPositive(_ examined: inout ExaminedField) -> Bool {
    switch condition {
    case .compares(let orders, let operand):
      guard let order = examined.comparable?.order(to: operand) else { return false }
      return orders.contains(order)
    case .isOneOf(let operands): return examined.comparable.map(operands.contains) ?? false
    case .equalsList(let operands):
      guard let members = examined.members, members.count == operands.count else { return false }
      return zip(members, operands).allSatisfy { $0.order(to: $1) == .equal }
    case .holdsAny(let operands):
      return examined.members?.contains(where: operands.contains) ?? false
    case .holdsAll(let operands): return examined.members.map(operands.isCovered) ?? false
    case .beginsWith(let prefix): return examined.value?.text?.hasPrefix(prefix) ?? false
    case .holdsBeginningWith(let prefix):
      guard case .list(let values) = examined.value else { return false }
      return values.contains { $0.text?.hasPrefix(prefix) ?? false }
    case .isWithin(let metres, let place):
      guard case .location(let location) = examined.value else { return false }
      return location.distance(to: place) <= metres
    case .hasAllWords(let wanted): return wanted.isSubset(of: examined.words)
    case .hasAnyWord(let wanted): return !wanted.isDisjoint(with: examined.words)
    }
  }

  private static func wanted(_ filter: Query.Filter) throws(CloudError) -> Set<String> {
    let texts = filter.value.texts
    if case .list(let values) = filter.value, texts.count < values.count || values.isEmpty {
      throw fault(filter, "needs words to search for")
    }
    guard !texts.isEmpty else { throw fault(filter, "needs words to search for") }
    return texts.reduce(into: []) { $0.formUnion(TextTokens.wanted(in: $1)) }
  }

  private func checkWords(_ filter: Query.Filter, _ type: RecordTypeRow?) throws(CloudError) {
    guard let field else { return }
    try field.require(.searchable, in: type)
    guard let shape = field.shape(in: type) else { return }
    if shape.isEncrypted { throw .unqueryable(field, "is encrypted") }
    guard shape.kind == .string || shape.element == .string else {
      throw PreparedFilter.fault(filter, "searches for words in a field that holds \(shape.words)")
    }
  }

  static func fault(_ filter: Query.Filter, _ words: String) -> CloudError {
    let name = filter.key.isEmpty ? "the whole record" : "'\(filter.key)'"
    return CloudError(
      .invalidArguments, "the filter \(filter.comparator.rawValue) on \(name) \(words)")
  }
}

extension CloudError {
  /// The error of a filter or sort on a field that does not support it.
  static func unqueryable(_ field: QueryField, _ reason: String) -> CloudError {
    CloudError(
      .invalidArguments, "field '\(field.label)' \(reason) and can't be queried or sorted by")
  }
}

extension FieldValue {
  /// The text; a reference's is the name of its record.
  fileprivate var text: String? {
    switch self {
    case .string(let text): text
    case .reference(let reference): reference.target.name
    case .int64, .double, .date, .bytes, .asset, .location, .list: nil
    }
  }
}
