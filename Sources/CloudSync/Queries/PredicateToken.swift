/// A token of a format string.
enum PredicateToken: Hashable {
  /// A word of the language, in any case.
  case keyword(PredicateKeyword)
  /// A name, or names with dots between; with colons it names a function.
  case name(String)
  /// A variable without its `$`.
  case variable(String)
  /// A text without its quotes.
  case text(String)
  /// A number as it is written.
  case number(String)
  /// A place for an argument, by the letters after the percent sign.
  case placeholder(String)
  /// A sign.
  case symbol(String)
  /// Nothing more.
  case end

  /// The token in an error message; texts are not shown.
  var summary: String {
    switch self {
    case .keyword(let word): word.rawValue
    case .name(let name): "\"\(name)\""
    case .variable(let name): "$\(name)"
    case .text: "a text"
    case .number: "a number"
    case .placeholder(let letters): "%\(letters)"
    case .symbol(let sign): "\"\(sign)\""
    case .end: "the end"
    }
  }
}

/// The words that mean something in a format string unless a `#` stands before them.
enum PredicateKeyword: String, Hashable, CaseIterable {
  case and = "AND"
  case or = "OR"
  case not = "NOT"
  case any = "ANY"
  case some = "SOME"
  case all = "ALL"
  case none = "NONE"
  case isIn = "IN"
  case between = "BETWEEN"
  case contains = "CONTAINS"
  case beginsWith = "BEGINSWITH"
  case endsWith = "ENDSWITH"
  case like = "LIKE"
  case matches = "MATCHES"
  case tokenMatches = "TOKENMATCHES"
  case truePredicate = "TRUEPREDICATE"
  case falsePredicate = "FALSEPREDICATE"
  case yes = "YES"
  case no = "NO"
  case `true` = "TRUE"
  case `false` = "FALSE"
  case null = "NULL"
  case `nil` = "NIL"
  case itself = "SELF"

  /// The word that `name` is in any case.
  init?(_ name: some StringProtocol) {
    guard name.utf8.count <= 14 else { return nil }
    self.init(rawValue: name.uppercased())
  }
}
