import Foundation
import Records

/// The parts of a comparison as Foundation's classes name them on Apple's platforms.
///
/// Those classes cannot be used on Linux. What their values mean is decided here, apart from them,
/// so that it is tested on every platform.
package struct ComparisonParts {
  /// The left side.
  package var left: ExpressionParts
  /// The right side.
  package var right: ExpressionParts
  /// The raw value of `NSComparisonPredicate.Operator`.
  package var operation: UInt
  /// The raw value of `NSComparisonPredicate.Modifier`.
  package var modifier: UInt
  /// The raw value of `NSComparisonPredicate.Options`.
  package var options: UInt
  /// The comparison as a format string, where operators without a public number are found.
  package var text: String

  /// Creates the description of a comparison.
  package init(
    left: ExpressionParts, right: ExpressionParts, operation: UInt, modifier: UInt, options: UInt,
    text: String
  ) {
    self.left = left
    self.right = right
    self.operation = operation
    self.modifier = modifier
    self.options = options
    self.text = text
  }

  /// The operators by their numbers.
  package static let operators: [UInt: PredicateComparison.Operator] = [
    0: .lessThan, 1: .lessThanOrEquals, 2: .greaterThan, 3: .greaterThanOrEquals, 4: .equals,
    5: .notEquals, 6: .matches, 7: .like, 8: .beginsWith, 9: .endsWith, 10: .isIn, 99: .contains,
    100: .between,
  ]

  /// The modifiers by their numbers.
  package static let modifiers: [UInt: PredicateComparison.Modifier] = [
    0: .direct, 1: .all, 2: .any,
  ]

  /// The comparison's operator; absent when it is a selector of the app's own.
  fileprivate var comparisonOperator: PredicateComparison.Operator? {
    if let known = ComparisonParts.operators[operation] { return known }
    return text.contains(" \(PredicateComparison.Operator.tokenMatches.rawValue)")
      ? .tokenMatches : nil
  }
}

/// The parts of an expression as Foundation's `NSExpression` names them on Apple's platforms.
package indirect enum ExpressionParts {
  /// An object, or nothing.
  case constant(Any?)
  /// The object that is tested.
  case evaluatedObject
  /// A variable, without its `$`.
  case variable(String)
  /// A path of names, and the expression as text, which shows when the path starts elsewhere.
  case keyPath(String, text: String)
  /// A function by its selector; with a target when it is not one of Foundation's own.
  case function(String, target: ExpressionParts?, [ExpressionParts])
  /// A list of expressions.
  case aggregate([ExpressionParts])
  /// An expression of another kind, such as a subquery, as text.
  case other(kind: String, text: String)
}

extension PredicateTree {
  /// Creates the tree of a comparison of Foundation's.
  package init(_ parts: ComparisonParts) {
    guard let operation = parts.comparisonOperator,
      let modifier = ComparisonParts.modifiers[parts.modifier]
    else {
      self = .invalid(PredicateSyntaxError("the comparison has an unknown operator", at: 0))
      return
    }
    self = .comparison(
      PredicateComparison(
        PredicateOperand(parts.left), operation, PredicateOperand(parts.right),
        modifier: modifier,
        options: PredicateComparison.Options(rawValue: UInt8(parts.options & 15))))
  }
}

extension PredicateOperand {
  /// Creates the operand of an expression of Foundation's.
  init(_ parts: ExpressionParts) {
    switch parts {
    case .constant(let value): self.init(argument: value)
    case .evaluatedObject: self = .itself
    case .variable(let name): self = .variable(name)
    case .keyPath(let path, let text): self.init(path: path, text: text)
    case .function(let name, let target, let arguments):
      self.init(
        function: name, ((target.map { [$0] } ?? []) + arguments).map(PredicateOperand.init))
    case .aggregate(let members): self = .list(members.map(PredicateOperand.init))
    case .other(let kind, let text): self = .foreign(type: kind, text: text, members: nil)
    }
  }

  /// The path of a variable or of a function's result is no field of the record.
  private init(path: String, text: String) {
    let itself = "SELF."
    if text.hasPrefix("$") || text.contains("(") {
      self = .foreign(type: "key path of a value", text: text, members: nil)
    } else if path.hasPrefix(itself), text.hasPrefix(itself) {
      self = .key(String(path.dropFirst(itself.count)))
    } else {
      self = .key(path)
    }
  }

  /// The functions that stand for the signs of arithmetic.
  package static let arithmeticFunctions: [String: Arithmetic] = [
    "add:to:": .add, "from:subtract:": .subtract, "multiply:by:": .multiply,
    "divide:by:": .divide, "raise:toPower:": .power,
  ]

  private init(function name: String, _ arguments: [PredicateOperand]) {
    if arguments.count == 2 {
      let (first, second) = (arguments[0], arguments[1])
      if let operation = PredicateOperand.arithmeticFunctions[name] {
        self = .arithmetic(operation, first, second)
        return
      }
      if name == "objectFrom:withIndex:" {
        self = .member(first, Member(second))
        return
      }
      if name == "castObject:toType:", let seconds = first.number,
        [.value(.string("NSDate")), .value(.string("Date"))].contains(second)
      {
        self = .value(.date(Timestamp(secondsSinceReferenceDate: seconds)))
        return
      }
    }
    let canonical = PredicateFunction.canonical(name, count: arguments.count)
    self = .function(canonical ?? name, arguments)
  }
}

extension PredicateOperand.Member {
  /// Creates the member that an index names; the three words are expressions of a private kind.
  fileprivate init(_ index: PredicateOperand) {
    switch index {
    case .foreign(_, "FIRST", _): self = .first
    case .foreign(_, "LAST", _): self = .last
    case .foreign(_, "SIZE", _): self = .size
    case .foreign, .null, .value, .list, .key, .itself, .variable, .function, .arithmetic, .member:
      self = .at(index)
    }
  }
}
