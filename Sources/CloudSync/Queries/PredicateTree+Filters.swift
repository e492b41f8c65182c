package import Records

#if canImport(CoreLocation)
  import Foundation  // public, because the module exports CoreLocation
#else
  package import Foundation
#endif

extension PredicateTree {
  /// Creates a predicate equivalent to the filters of a query.
  package init(_ filters: [Query.Filter]) {
    let parts = filters.map(PredicateTree.init)
    self =
      switch parts.count {
      case 0: .constant(true)
      case 1: parts[0]
      default: .and(parts)
      }
  }

  /// Creates a predicate equivalent to one filter.
  private init(_ filter: Query.Filter) {
    let key = PredicateOperand.key(SystemField(rawValue: filter.key)?.fieldName ?? filter.key)
    let value = PredicateOperand(filter.value)
    func made(
      _ operation: PredicateComparison.Operator, _ modifier: PredicateComparison.Modifier = .direct
    ) -> PredicateTree {
      .comparison(PredicateComparison(key, operation, value, modifier: modifier))
    }
    func all() -> PredicateTree {
      guard case .list(let members) = value else { return made(.contains) }
      return .and(members.map { .comparison(PredicateComparison(key, .contains, $0)) })
    }
    func tokens(_ modifier: PredicateComparison.Modifier) -> PredicateTree {
      let words = PredicateOperand.function(
        PredicateFunction.tokenize, [value, .value(.string("Cdl"))])
      return .comparison(
        PredicateComparison(words, .isIn, .key("allTokens"), modifier: modifier))
    }
    switch filter.comparator {
    case .equals: self = made(.equals)
    case .notEquals: self = made(.notEquals)
    case .lessThan: self = made(.lessThan)
    case .lessThanOrEquals: self = made(.lessThanOrEquals)
    case .greaterThan: self = made(.greaterThan)
    case .greaterThanOrEquals: self = made(.greaterThanOrEquals)
    case .isIn: self = filter == QueryConversion.never ? .constant(false) : made(.isIn)
    case .isNotIn: self = .not(made(.isIn))
    case .beginsWith: self = made(.beginsWith)
    case .notBeginsWith: self = .not(made(.beginsWith))
    case .listContains: self = made(.contains)
    case .notListContains: self = .not(made(.contains))
    case .near:
      self = .comparison(
        PredicateComparison(
          .function(PredicateFunction.distance, [key, value]), .lessThanOrEquals,
          .value(.double(filter.distance ?? 0))))
    case .containsAllTokens:
      self =
        filter.key.isEmpty
        ? .comparison(PredicateComparison(.itself, .contains, value)) : made(.tokenMatches)
    case .containsAnyTokens: self = tokens(.any)
    case .listContainsAny: self = made(.isIn, .any)
    case .notListContainsAny: self = .not(made(.isIn, .any))
    case .listContainsAll: self = all()
    case .notListContainsAll: self = .not(all())
    case .listMemberBeginsWith: self = made(.beginsWith, .any)
    case .notListMemberBeginsWith: self = .not(made(.beginsWith, .any))
    }
  }

  /// The predicate as Foundation's class.
  ///
  /// On Apple's platforms a part that Foundation may not parse is a block that is never true, which
  /// queries refuse.
  package var predicate: NSPredicate {
    #if canImport(Darwin)
      switch self {
      case .constant(let value): return NSPredicate(value: value)
      case .comparison(let comparison):
        guard let template = PredicateTemplate(comparison) else {
          return NSPredicate { _, _ in false }
        }
        return NSPredicate(format: template.format, argumentArray: template.arguments)
      case .and(let parts):
        return NSCompoundPredicate(type: .and, subpredicates: parts.map(\.predicate))
      case .or(let parts):
        return NSCompoundPredicate(type: .or, subpredicates: parts.map(\.predicate))
      case .not(let part): return NSCompoundPredicate(type: .not, subpredicates: [part.predicate])
      case .invalid, .block: return NSPredicate { _, _ in false }
      }
    #else
      if case .constant(let value) = self { return NSPredicate(value: value) }
      return FormatPredicate(self)
    #endif
  }
}

extension PredicateOperand {
  /// Creates an operand from a value.
  package init(_ value: FieldValue) {
    if case .list(let members) = value {
      self = .list(members.map(PredicateOperand.init))
    } else {
      self = .value(value)
    }
  }
}
