import CloudProtocol
import Records

/// The positive comparison of a comparator.
enum Comparison {
  case equals
  case orders([QueryValue.Order])
  case isOneOf
  case beginsWith
  case contains
  case containsAny
  case containsAll
  case memberBeginsWith
  case near
  case words(all: Bool)
}

extension Query.Filter.Comparator {
  /// The comparison, and whether the comparator negates it.
  var split: (comparison: Comparison, isNegated: Bool) {
    switch self {
    case .equals: (.equals, false)
    case .notEquals: (.equals, true)
    case .lessThan: (.orders([.less]), false)
    case .lessThanOrEquals: (.orders([.less, .equal]), false)
    case .greaterThan: (.orders([.greater]), false)
    case .greaterThanOrEquals: (.orders([.greater, .equal]), false)
    case .isIn: (.isOneOf, false)
    case .isNotIn: (.isOneOf, true)
    case .beginsWith: (.beginsWith, false)
    case .notBeginsWith: (.beginsWith, true)
    case .listContains: (.contains, false)
    case .notListContains: (.contains, true)
    case .near: (.near, false)
    case .containsAllTokens: (.words(all: true), false)
    case .containsAnyTokens: (.words(all: false), false)
    case .listContainsAny: (.containsAny, false)
    case .notListContainsAny: (.containsAny, true)
    case .listContainsAll: (.containsAll, false)
    case .notListContainsAll: (.containsAll, true)
    case .listMemberBeginsWith: (.memberBeginsWith, false)
    case .notListMemberBeginsWith: (.memberBeginsWith, true)
    }
  }
}

/// The operand of a filter.
struct Operand {
  private let filter: Query.Filter
  private let field: QueryField
  private let user: UserID?

  /// The operand of `filter` on `field`; `user` is the requester.
  init(_ filter: Query.Filter, _ field: QueryField, _ user: UserID?) {
    self.filter = filter
    self.field = field
    self.user = user
  }

  /// The condition on the field; throws if the value does not suit the comparator.
  func condition(for comparison: Comparison) throws(CloudError) -> PreparedFilter.Condition {
    switch comparison {
    case .equals:
      if case .list(let values) = filter.value { return .equalsList(try all(values)) }
      return .compares([.equal], try one(filter.value))
    case .orders(let orders):
      if case .reference = filter.value { throw fault("can't order references") }
      return .compares(orders, try one(filter.value))
    case .isOneOf: return .isOneOf(QueryValueSet(try all(try list())))
    case .contains: return .holdsAny(QueryValueSet([try one(filter.value)]))
    case .containsAny: return .holdsAny(QueryValueSet(try all(try list())))
    case .containsAll: return .holdsAll(QueryValueSet(try all(try list())))
    case .beginsWith: return .beginsWith(try text())
    case .memberBeginsWith: return .holdsBeginningWith(try text())
    case .near:
      guard case .location(let place) = filter.value else { throw fault("needs a location") }
      guard let metres = filter.distance, metres >= 0, metres.isFinite else {
        throw fault("needs a distance in metres")
      }
      return .isWithin(metres, of: place)
    case .words: throw fault("can't be used here")
    }
  }

  /// Throws unless a field of `shape` can be compared with the operand.
  func check(against shape: FieldShape?, for comparison: Comparison) throws(CloudError) {
    guard let shape else { return }
    if shape.isEncrypted { throw .unqueryable(field, "is encrypted") }
    if shape.kind == .asset || shape.element == .asset {
      throw .unqueryable(field, "holds assets")
    }
    let isFitting =
      switch comparison {
      case .equals:
        if case .list(let values) = filter.value {
          shape.kind == .list && areLike(shape.element, values)
        } else {
          isLike(shape.kind, filter.value)
        }
      case .orders: isLike(shape.kind, filter.value)
      case .isOneOf: areLike(shape.kind, filter.value.listed)
      case .contains: shape.kind == .list && isLike(shape.element, filter.value)
      case .containsAny, .containsAll:
        shape.kind == .list && areLike(shape.element, filter.value.listed)
      case .beginsWith: shape.kind == .string || isNameOfSystem(shape.kind)
      case .memberBeginsWith: shape.kind == .list && shape.element ?? .string == .string
      case .near: shape.kind == .location
      case .words: true
      }
    if case .contains = comparison, shape.kind == .string {
      throw fault("finds elements of lists; words of texts are found with \"self CONTAINS\"")
    }
    guard isFitting else { throw fault("does not match the field, which holds \(shape.words)") }
  }

  private func areLike(_ kind: FieldValue.Kind?, _ values: [FieldValue]) -> Bool {
    values.allSatisfy { isLike(kind, $0) }
  }

  /// Whether a field of `kind` can be compared with `value`.
  private func isLike(_ kind: FieldValue.Kind?, _ value: FieldValue) -> Bool {
    guard let kind else { return true }
    return kind == value.kind || (kind.isNumber && value.kind.isNumber)
      || (value.kind == .string && isNameOfSystem(kind))
  }

  private func isNameOfSystem(_ kind: FieldValue.Kind) -> Bool {
    if case .system = field { kind == .reference } else { false }
  }

  private func list() throws(CloudError) -> [FieldValue] {
    guard case .list(let values) = filter.value else { throw fault("needs a list") }
    return values
  }

  private func text() throws(CloudError) -> String {
    guard case .string(let text) = filter.value else { throw fault("needs a text") }
    return text
  }

  private func all(_ values: [FieldValue]) throws(CloudError) -> [QueryValue] {
    var found: [QueryValue] = []
    for value in values { found.append(try one(value)) }
    return found
  }

  private func one(_ value: FieldValue) throws(CloudError) -> QueryValue {
    switch (field, value) {
    case (.system(let system), .reference(let reference)) where system.isUser:
      return .name(userName(reference.target.name))
    case (.system(let system), .string(let name)) where system != .created && system != .modified:
      return .name(system.isUser ? userName(name) : name)
    case (.system, _), (.named, _):
      guard let value = QueryValue(value) else {
        throw fault("can't compare with a value of the kind \(value.kind)")
      }
      return value
    }
  }

  private func userName(_ name: String) -> String {
    name == ZoneID.currentOwner ? user?.rawValue ?? name : name
  }

  private func fault(_ words: String) -> CloudError { PreparedFilter.fault(filter, words) }
}

extension FieldValue {
  fileprivate var listed: [FieldValue] {
    if case .list(let values) = self { values } else { [] }
  }
}

extension FieldValue.Kind {
  fileprivate var isNumber: Bool { self == .int64 || self == .double }
}

extension FieldShape {
  /// A description of the field's type.
  var words: String {
    switch (kind, element) {
    case (.list, let element?): "a list of the kind \(element)"
    case (let kind, _): "the kind \(kind)"
    }
  }
}
