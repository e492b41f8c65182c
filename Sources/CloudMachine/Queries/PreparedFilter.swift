import CloudProtocol
import Records

/// A filter that makes sense, ready to be put to many records.
///
/// A negative comparator holds exactly where its positive one does not, also for a record that
/// lacks the field.
struct PreparedFilter {
  /// What must hold of a value.
  enum Condition {
    case compares([QueryValue.Order], QueryValue)
    case equalsList([QueryValue])
    case isOneOf([QueryValue])
    case beginsWith(String)
    case holdsAny([QueryValue])
    case holdsAll([QueryValue])
    case holdsBeginningWith(String)
    case isWithin(Double, of: Location)
    case hasAllWords(Set<String>)
    case hasAnyWord(Set<String>)
  }

  /// Where to look; `nil` for the words of the whole record.
  let field: QueryField?
  let condition: Condition
  let isNegated: Bool
  /// The fields whose words must not be searched.
  private var unsearchable: Set<String> = []

  /// Prepares `filter` for records of `type`, or says what is wrong with it.
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

  /// Whether `record` passes.
  func holds(for record: Record) -> Bool { isPositive(record) != isNegated }

  private func isPositive(_ record: Record) -> Bool {
    switch condition {
    case .hasAllWords(let wanted): return wanted.isSubset(of: words(of: record))
    case .hasAnyWord(let wanted): return !wanted.isDisjoint(with: words(of: record))
    case .compares, .equalsList, .isOneOf, .beginsWith, .holdsAny, .holdsAll,
      .holdsBeginningWith, .isWithin:
      guard let value = field?.value(in: record) else { return false }
      return holds(for: value)
    }
  }

  private func holds(for value: FieldValue) -> Bool {
    switch condition {
    case .compares(let orders, let operand):
      guard let order = QueryValue(value)?.order(to: operand) else { return false }
      return orders.contains(order)
    case .isOneOf(let operands):
      guard let value = QueryValue(value) else { return false }
      return operands.contains { value.order(to: $0) == .equal }
    case .equalsList(let operands):
      guard let members = value.members, members.count == operands.count else { return false }
      return zip(members, operands).allSatisfy { $0.order(to: $1) == .equal }
    case .holdsAny(let operands):
      guard let members = value.members else { return false }
      return operands.contains { operand in members.contains { $0.order(to: operand) == .equal } }
    case .holdsAll(let operands):
      guard let members = value.members else { return false }
      return operands.allSatisfy { operand in members.contains { $0.order(to: operand) == .equal } }
    case .beginsWith(let prefix): return value.text?.hasPrefix(prefix) ?? false
    case .holdsBeginningWith(let prefix):
      guard case .list(let values) = value else { return false }
      return values.contains { $0.text?.hasPrefix(prefix) ?? false }
    case .isWithin(let metres, let place):
      guard case .location(let location) = value else { return false }
      return location.distance(to: place) <= metres
    case .hasAllWords, .hasAnyWord: return false
    }
  }

  private func words(of record: Record) -> Set<String> {
    var words: Set<String> = []
    for element in record.fields where !element.field.isEncrypted {
      guard field.map({ $0.key == element.key }) ?? !unsearchable.contains(element.key) else {
        continue
      }
      for text in element.field.value.texts { words.formUnion(TextTokens.all(in: text)) }
    }
    return words
  }

  private static func wanted(_ filter: Query.Filter) throws(CloudError) -> Set<String> {
    let texts = filter.value.texts
    if case .list(let values) = filter.value, texts.count < values.count || values.isEmpty {
      throw fault(filter, "needs words to look for")
    }
    guard !texts.isEmpty else { throw fault(filter, "needs words to look for") }
    return texts.reduce(into: []) { $0.formUnion(TextTokens.wanted(in: $1)) }
  }

  private mutating func checkWords(
    _ filter: Query.Filter, _ type: RecordTypeRow?
  ) throws(CloudError) {
    guard let field else {
      for row in type?.fields ?? [] where !row.indexes.contains(.searchable) {
        unsearchable.insert(row.key)
      }
      return
    }
    try field.require(.searchable, in: type)
    guard let shape = field.shape(in: type) else { return }
    if shape.isEncrypted { throw .unqueryable(field, "is encrypted") }
    guard shape.kind == .string || shape.element == .string else {
      throw PreparedFilter.fault(filter, "looks for words in a field that holds \(shape.words)")
    }
  }

  static func fault(_ filter: Query.Filter, _ words: String) -> CloudError {
    let name = filter.key.isEmpty ? "the whole record" : "'\(filter.key)'"
    return CloudError(
      .invalidArguments, "the filter \(filter.comparator.rawValue) on \(name) \(words)")
  }
}

extension CloudError {
  /// The answer to a filter or sort on a field that can't have one.
  static func unqueryable(_ field: QueryField, _ reason: String) -> CloudError {
    CloudError(
      .invalidArguments, "field '\(field.label)' \(reason) and can't be queried or sorted by")
  }
}

extension FieldValue {
  /// The members of a list that have an order; `nil` for anything but a list.
  fileprivate var members: [QueryValue]? {
    guard case .list(let values) = self else { return nil }
    return values.compactMap { QueryValue($0) }
  }

  /// The text; a reference's is the name of its record.
  fileprivate var text: String? {
    switch self {
    case .string(let text): text
    case .reference(let reference): reference.target.name
    case .int64, .double, .date, .bytes, .asset, .location, .list: nil
    }
  }

  /// The text, or the texts of a list.
  fileprivate var texts: [String] {
    switch self {
    case .string(let text): [text]
    case .list(let values): values.flatMap(\.texts)
    case .int64, .double, .date, .bytes, .reference, .asset, .location: []
    }
  }
}
