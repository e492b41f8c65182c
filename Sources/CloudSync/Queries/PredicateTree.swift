package import Records

/// A parsed predicate with its arguments.
///
/// Foundation on Linux represents a predicate as a closure; a tree is a value that
/// can be printed, evaluated and converted to a query. See CS-71 to CS-73.
package indirect enum PredicateTree: Hashable, Sendable, Codable {
  /// Always, or never, true.
  case constant(Bool)
  /// One comparison.
  case comparison(PredicateComparison)
  /// All of these.
  case and([PredicateTree])
  /// One of these.
  case or([PredicateTree])
  /// True if the operand is false.
  case not(PredicateTree)
  /// A format with a syntax error; never true, and rejected by every query.
  case invalid(PredicateSyntaxError)
  /// A closure; rejected by every query.
  case block
}

/// A syntax error in a format string, with its position.
package struct PredicateSyntaxError: Error, Hashable, Sendable, Codable {
  /// The error.
  package var reason: String
  /// The number of characters before the error.
  package var position: Int

  /// Creates an error at `position`.
  package init(_ reason: String, at position: Int) {
    self.reason = reason
    self.position = position
  }

  /// The whole sentence, for an error message.
  package var sentence: String {
    "The predicate format cannot be read at character \(position): \(reason)."
  }
}

/// Two expressions and how they are compared.
package struct PredicateComparison: Hashable, Sendable, Codable {
  /// The comparison of two values.
  package enum Operator: String, Hashable, Sendable, Codable, CaseIterable {
    /// The same.
    case equals = "=="
    /// Not the same.
    case notEquals = "!="
    /// Smaller.
    case lessThan = "<"
    /// Smaller or the same.
    case lessThanOrEquals = "<="
    /// Larger.
    case greaterThan = ">"
    /// Larger or the same.
    case greaterThanOrEquals = ">="
    /// Within two bounds, both included.
    case between = "BETWEEN"
    /// One of a list, or a part of a text.
    case isIn = "IN"
    /// A list that holds a value, or a text with a part.
    case contains = "CONTAINS"
    /// Text that starts so.
    case beginsWith = "BEGINSWITH"
    /// Text that ends so.
    case endsWith = "ENDSWITH"
    /// Text of a shape with `?` and `*`.
    case like = "LIKE"
    /// Text that a regular expression matches as a whole.
    case matches = "MATCHES"
    /// Text, or a record, that has all the words of another one.
    case tokenMatches = "TOKENMATCHES"
  }

  /// Whether the left side is compared as a whole, or member by member.
  package enum Modifier: String, Hashable, Sendable, Codable {
    /// As a whole.
    case direct = ""
    /// One member must match.
    case any = "ANY"
    /// All members must match.
    case all = "ALL"
  }

  /// The differences that a comparison of texts ignores.
  package struct Options: OptionSet, Hashable, Sendable, Codable {
    /// One bit for each option.
    package var rawValue: UInt8
    /// Wraps the bits.
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    /// `[c]`: upper and lower case.
    package static let caseInsensitive = Options(rawValue: 1)
    /// `[d]`: accents.
    package static let diacriticInsensitive = Options(rawValue: 2)
    /// `[n]`: the text is compared as it is.
    package static let normalized = Options(rawValue: 4)
    /// `[l]`: by the rules of a language; compared like `[cd]`-free text here.
    package static let localeSensitive = Options(rawValue: 8)
  }

  /// The left side.
  package var left: PredicateOperand
  /// The comparison of the sides.
  package var operation: Operator
  /// The right side.
  package var right: PredicateOperand
  /// Whether the left side's members are compared.
  package var modifier: Modifier
  /// The differences to ignore.
  package var options: Options

  /// Compares `left` with `right`.
  package init(
    _ left: PredicateOperand, _ operation: Operator, _ right: PredicateOperand,
    modifier: Modifier = .direct, options: Options = []
  ) {
    self.left = left
    self.operation = operation
    self.right = right
    self.modifier = modifier
    self.options = options
  }
}

/// One side of a comparison.
package indirect enum PredicateOperand: Hashable, Sendable, Codable {
  /// The four operations of arithmetic, and powers.
  package enum Arithmetic: String, Hashable, Sendable, Codable, CaseIterable {
    /// The sum.
    case add = "+"
    /// The difference.
    case subtract = "-"
    /// The product.
    case multiply = "*"
    /// The quotient.
    case divide = "/"
    /// The power.
    case power = "**"
  }

  /// The member of a list that a subscript selects.
  package enum Member: Hashable, Sendable, Codable {
    /// `[FIRST]`.
    case first
    /// `[LAST]`.
    case last
    /// `[SIZE]`, the number of members.
    case size
    /// The member at a computed position, or a dictionary's value under a computed name.
    case at(PredicateOperand)
  }

  /// No value.
  case null
  /// A value that a field can hold; never a list.
  case value(FieldValue)
  /// A list.
  case list([PredicateOperand])
  /// An argument of a type that queries do not take; its members, when it is a collection.
  case foreign(type: String, text: String, members: [PredicateOperand]?)
  /// The value of a field, or of a path of names with dots.
  case key(String)
  /// The object that is tested.
  case itself
  /// A variable, `$name`.
  case variable(String)
  /// The result of a function of this name, with colons as in `lowercase:`.
  case function(String, [PredicateOperand])
  /// The result of a calculation.
  case arithmetic(Arithmetic, PredicateOperand, PredicateOperand)
  /// A member of a list.
  case member(PredicateOperand, Member)
}
