#if canImport(Darwin)
  import Foundation

  extension ComparisonParts {
    /// Reads a comparison.
    init(_ predicate: NSComparisonPredicate) {
      self.init(
        left: ExpressionParts(predicate.leftExpression),
        right: ExpressionParts(predicate.rightExpression),
        operation: predicate.predicateOperatorType.rawValue,
        modifier: predicate.comparisonPredicateModifier.rawValue,
        options: predicate.options.rawValue, text: predicate.predicateFormat)
    }
  }

  extension ExpressionParts {
    /// Reads an expression.
    ///
    /// Foundation raises an exception for a property that the kind does not have, so only those of
    /// the kind are read.
    fileprivate init(_ expression: NSExpression) {
      let text = expression.description
      switch expression.expressionType {
      case .constantValue: self.init(object: expression.constantValue)
      case .evaluatedObject: self = .evaluatedObject
      case .variable: self = .variable(expression.variable)
      case .keyPath: self = .keyPath(expression.keyPath, text: text)
      case .function:
        // Foundation writes `FUNCTION(target, selector, ...)` only for targets of an app.
        let target = text.hasPrefix("FUNCTION(") ? ExpressionParts(expression.operand) : nil
        self = .function(
          expression.function, target: target,
          (expression.arguments ?? []).map(ExpressionParts.init))
      case .aggregate: self.init(object: expression.collection)
      default:
        self = .other(kind: "expression \(expression.expressionType.rawValue)", text: text)
      }
    }

    /// An object; a list of objects or of expressions when it is an array.
    private init(object: Any?) {
      switch object {
      case let expression as NSExpression: self.init(expression)
      case let members as [Any]: self = .aggregate(members.map { ExpressionParts(object: $0) })
      default: self = .constant(object)
      }
    }
  }
#endif
