import Foundation
import Records

/// Evaluates a predicate for one object; supports the whole language, also what queries reject.
struct PredicateEvaluation {
  /// The record, dictionary or plain value that is tested.
  let object: Any?
  /// The values of `$variables`.
  let variables: [String: Any]

  /// Whether the predicate holds.
  func isTrue(_ tree: PredicateTree) -> Bool {
    switch tree {
    case .constant(let value): value
    case .comparison(let comparison): isTrue(comparison)
    case .and(let parts): parts.allSatisfy(isTrue)
    case .or(let parts): parts.contains(where: isTrue)
    case .not(let part): !isTrue(part)
    case .invalid, .block: false
    }
  }

  private func isTrue(_ comparison: PredicateComparison) -> Bool {
    let (left, right) = (value(of: comparison.left), value(of: comparison.right))
    switch comparison.modifier {
    case .direct: return holds(left, comparison, right)
    case .any: return left.asList.contains { holds($0, comparison, right) }
    case .all: return left.asList.allSatisfy { holds($0, comparison, right) }
    }
  }

  private func holds(
    _ left: PredicateValue, _ comparison: PredicateComparison, _ right: PredicateValue
  ) -> Bool {
    let options = comparison.options
    switch comparison.operation {
    case .equals: return left.equals(right, options)
    case .notEquals: return !left.equals(right, options)
    case .lessThan: return left.order(right, options) == .orderedAscending
    case .greaterThan: return left.order(right, options) == .orderedDescending
    case .lessThanOrEquals:
      return left.order(right, options).map { $0 != .orderedDescending } ?? false
    case .greaterThanOrEquals:
      return left.order(right, options).map { $0 != .orderedAscending } ?? false
    case .between:
      guard case .list(let bounds) = right, bounds.count == 2,
        let low = left.order(bounds[0], options), let high = left.order(bounds[1], options)
      else { return false }
      return low != .orderedAscending && high != .orderedDescending
    case .isIn: return right.contains(left, options)
    case .contains: return left.contains(right, options)
    case .beginsWith: return texts(left, right, options) { $0.hasPrefix($1) }
    case .endsWith: return texts(left, right, options) { $0.hasSuffix($1) }
    case .like: return texts(left, right, options) { PredicateText.matches($0, like: $1) }
    case .tokenMatches: return left.hasTokens(of: right)
    case .matches:
      guard let text = left.text, let pattern = right.text else { return false }
      return PredicateText.matches(text, expression: pattern, options)
    }
  }

  private func texts(
    _ left: PredicateValue, _ right: PredicateValue, _ options: PredicateComparison.Options,
    _ test: (String, String) -> Bool
  ) -> Bool {
    guard let left = left.text, let right = right.text else { return false }
    return test(options.folded(left), options.folded(right))
  }

  /// The value of an expression.
  func value(of expression: PredicateOperand) -> PredicateValue {
    switch expression {
    case .null: return .null
    case .value(let value): return PredicateValue(value)
    case .list(let members): return .list(members.map(value))
    case .foreign(_, let text, let members):
      return members.map { .list($0.map(value)) } ?? .object(text)
    case .key(let path): return PredicateLookup.value(path, in: object)
    case .itself: return PredicateValue(object)
    case .variable(let name): return PredicateValue(variables[name])
    case .function(let name, let arguments):
      return PredicateFunction.value(name, arguments.map(value))
    case .arithmetic(let operation, let left, let right):
      return PredicateFunction.value(operation, value(of: left), value(of: right))
    case .member(let list, let member): return self.member(member, of: value(of: list))
    }
  }

  private func member(
    _ member: PredicateOperand.Member, of list: PredicateValue
  ) -> PredicateValue {
    let members = list.asList
    switch member {
    case .first: return members.first ?? .null
    case .last: return members.last ?? .null
    case .size: return .value(.int64(Int64(members.count)))
    case .at(let position):
      let position = value(of: position)
      if case .object(let any) = list, let key = position.text {
        return PredicateLookup.value(key, in: any)
      }
      guard let number = position.number, let index = Int(exactly: number),
        members.indices.contains(index)
      else { return .null }
      return members[index]
    }
  }
}

extension PredicateValue {
  /// The members of a list; a single value is a list of itself.
  var asList: [PredicateValue] {
    switch self {
    case .null: []
    case .list(let members): members
    case .value, .object: [self]
    }
  }

  /// The text, when it is one.
  var text: String? {
    guard case .value(.string(let text)) = self else { return nil }
    return text
  }

  /// The number, when it is one.
  var number: Double? {
    switch self {
    case .value(.int64(let number)): Double(number)
    case .value(.double(let number)): number
    default: nil
    }
  }

  /// Whether a list holds a value, a text a part, or a record all of some words.
  func contains(_ other: PredicateValue, _ options: PredicateComparison.Options) -> Bool {
    switch self {
    case .list(let members): return members.contains { $0.equals(other, options) }
    case .value(.string(let text)):
      guard let part = other.text else { return false }
      return PredicateText.contains(options.folded(text), options.folded(part))
    case .object(is CKRecord): return hasTokens(of: other)
    case .null, .value, .object: return false
    }
  }

  /// Whether a record, a text or a list of texts has all the words of a text.
  func hasTokens(of other: PredicateValue) -> Bool {
    guard let words = other.text else { return false }
    let tokens: [String]
    if case .object(let record as CKRecord) = self {
      tokens = record.allTokens()
    } else {
      tokens = asList.compactMap(\.text).flatMap(PredicateText.tokens)
    }
    return Set(tokens).isSuperset(of: PredicateText.tokens(words))
  }
}
