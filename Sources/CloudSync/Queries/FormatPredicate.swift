#if canImport(CoreLocation)
  import Foundation  // public, because the module exports CoreLocation
#else
  package import Foundation
#endif

#if !canImport(Darwin)

  /// A predicate that was created from a format string.
  ///
  /// Foundation's own predicate can only hold a closure on Linux. An error in the format is kept,
  /// and reported by the query that uses the predicate, instead of ending the process as Apple's
  /// exception would; such a predicate is never true.
  package final class FormatPredicate: NSPredicate {
    /// The parsed format.
    package let tree: PredicateTree

    /// Creates a predicate from `tree`.
    package init(_ tree: PredicateTree) {
      self.tree = tree
      super.init(block: { _, _ in false })
    }

    /// Whether `object`, a record, a dictionary or a plain value, matches.
    package override func evaluate(with object: Any?) -> Bool {
      evaluate(with: object, substitutionVariables: nil)
    }

    /// Whether `object` matches, with values for the `$variables` of the format.
    package override func evaluate(
      with object: Any?, substitutionVariables bindings: [String: Any]?
    ) -> Bool {
      PredicateEvaluation(object: object, variables: bindings ?? [:]).isTrue(tree)
    }

    /// Returns the object itself, since it is immutable.
    package override func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether `object` is an equal predicate.
    package override func isEqual(_ object: Any?) -> Bool {
      (object as? FormatPredicate)?.tree == tree
    }

    /// The hash, consistent with `isEqual`.
    package override var hash: Int { tree.hashValue }

    /// The predicate as a format string without placeholders.
    ///
    /// Marked like the property it replaces, which Foundation deprecated on Linux.
    @available(*, deprecated, message: "Foundation marks predicate strings so on Linux.")
    package override var predicateFormat: String { tree.format }

    /// The predicate as a format string without placeholders.
    package override var description: String { tree.format }
  }
#endif

extension PredicateTree {
  /// Creates the tree of `predicate`; a closure becomes `block`.
  package init(_ predicate: NSPredicate) {
    if let compound = predicate as? NSCompoundPredicate {
      let parts = (compound.subpredicates as [Any]).compactMap { $0 as? NSPredicate }.map(
        PredicateTree.init)
      switch compound.compoundPredicateType {
      case .and: self = .and(parts)
      case .or: self = .or(parts)
      case .not: self = parts.first.map(PredicateTree.not) ?? .constant(true)
      @unknown default: self = .block
      }
    } else if predicate.isEqual(NSPredicate(value: true)) {
      self = .constant(true)
    } else if predicate.isEqual(NSPredicate(value: false)) {
      self = .constant(false)
    } else {
      self = PredicateTree.simple(predicate)
    }
  }

  private static func simple(_ predicate: NSPredicate) -> PredicateTree {
    #if canImport(Darwin)
      return (predicate as? NSComparisonPredicate).map { PredicateTree(ComparisonParts($0)) }
        ?? .block
    #else
      return (predicate as? FormatPredicate)?.tree ?? .block
    #endif
  }
}
