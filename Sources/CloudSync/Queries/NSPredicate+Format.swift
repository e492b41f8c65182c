#if !canImport(Darwin)
  public import Foundation

  /// A predicate that can be made from a format string.
  ///
  /// A protocol because only its initialisers may answer with another class than the one asked;
  /// Foundation's own initialisers of these names are marked unavailable on Linux, so these win.
  public protocol CKFormattable {}

  extension NSPredicate: CKFormattable {}

  extension CKFormattable where Self: NSPredicate {
    /// Reads `format` and puts `arguments` in the place of `%@`, `%K`, `%d` and their kin.
    ///
    /// A format that cannot be read makes a predicate that is never true, and that every query
    /// refuses with a sentence that says where the mistake is. See CS-89.
    public init(format: String, _ arguments: Any?...) {
      self.init(tree: PredicateTree(format: format, arguments: arguments))
    }

    /// The same, with the arguments in a list.
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
