#if !canImport(Darwin)
  public import Foundation

  /// Gives `NSPredicate` the initializers with a format string.
  ///
  /// Only initializers of a protocol can return an object of a subclass. The protocol is public
  /// because its initializers are; code outside this module has no use for it. Foundation's own
  /// initializers of these names are unavailable on Linux, so these are chosen.
  public protocol _CKFormattable {}

  extension NSPredicate: _CKFormattable {}

  extension _CKFormattable where Self: NSPredicate {
    /// Parses `format` with `arguments` for placeholders such as `%@`, `%K` and `%d`.
    ///
    /// A format with a syntax error results in a predicate that is never true and that every query
    /// rejects with the position of the error. See CS-89.
    public init(format: String, _ arguments: Any?...) {
      self.init(tree: PredicateTree(format: format, arguments: arguments))
    }

    /// Parses `format` with the arguments in a list.
    public init(format: String, argumentArray arguments: [Any]?) {
      self.init(tree: PredicateTree(format: format, arguments: arguments ?? []))
    }

    private init(tree: PredicateTree) {
      let made = FormatPredicate(tree)
      if let predicate = made as? Self {
        self = predicate
      } else if let compound = NSCompoundPredicate(andPredicateWithSubpredicates: [made]) as? Self {
        self = compound
      } else {
        preconditionFailure("\(Self.self) cannot be made from a format; use NSPredicate.")
      }
    }
  }
#endif
