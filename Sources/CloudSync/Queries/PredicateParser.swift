import Records

/// A parser of format strings, in one pass without backtracking.
struct PredicateParser {
  /// A part of a format; the content of parentheses can be either, depending on what follows.
  enum Node {
    case predicate(PredicateTree)
    case expression(PredicateOperand)
  }

  /// The maximum nesting depth, so that no format can exhaust the stack.
  static let depthLimit = 64
  /// The maximum number of operations in sequence without parentheses.
  static let chainLimit = 128
  /// The maximum number of calculations and members of a format: each may be an operand of the
  /// next.
  static let operationLimit = 512

  private var lexer: PredicateLexer
  private var arguments: ArraySlice<Any?>
  private var depth = 0
  /// The largest depth so far.
  private var deepest = 0
  private var operations = 0

  /// The current token.
  private(set) var token = PredicateToken.end
  /// The position of the current token.
  private(set) var position = 0

  /// Reads `format`, with `arguments` for its placeholders.
  init(_ format: String, arguments: [Any?]) throws {
    lexer = PredicateLexer(format)
    self.arguments = arguments[...]
    try advance()
  }

  /// The whole format.
  mutating func predicate() throws -> PredicateTree {
    let tree = try tree(try or())
    guard token == .end else { throw fault("\(token.summary) does not belong here") }
    try checkWritten(tree)
    return tree
  }

  /// Throws if the text of the predicate could not be parsed again: the text has
  /// parentheses that a format may omit, at most two more for each level.
  private func checkWritten(_ tree: PredicateTree) throws {
    guard deepest > PredicateParser.depthLimit / 4 else { return }
    do {
      var parser = try PredicateParser(tree.format, arguments: [])
      _ = try parser.or()
    } catch let error as PredicateSyntaxError {
      // Values that no format can hold are no matter of depth.
      if error.reason == PredicateParser.tooDeep { throw fault(PredicateParser.tooDeep) }
    }
  }

  private static let tooDeep = "parts are nested too deeply"

  // MARK: Tokens

  /// Advances to the next token.
  mutating func advance() throws {
    token = try lexer.next()
    position = lexer.position
  }

  /// Advances if the token is `expected`.
  mutating func take(_ expected: PredicateToken) throws -> Bool {
    guard token == expected else { return false }
    try advance()
    return true
  }

  /// Advances past `symbol`; throws if it is not the current token.
  mutating func require(_ symbol: String) throws {
    guard try take(.symbol(symbol)) else {
      throw fault("\"\(symbol)\" is missing before \(token.summary)")
    }
  }

  /// The error at the current token.
  func fault(_ reason: String) -> PredicateSyntaxError {
    PredicateSyntaxError(reason, at: position)
  }

  /// The next argument.
  mutating func argument(for letters: String) throws -> Any? {
    guard let argument = arguments.popFirst() else {
      throw fault("%\(letters) has no argument")
    }
    return argument
  }

  /// Parses something one level deeper.
  mutating func nested<Result>(_ body: (inout PredicateParser) throws -> Result) throws -> Result {
    depth += 1
    defer { depth -= 1 }
    deepest = max(deepest, depth)
    guard depth <= PredicateParser.depthLimit else { throw fault(PredicateParser.tooDeep) }
    return try body(&self)
  }

  /// Counts an operation that holds what was parsed before it.
  mutating func countOperation(_ length: Int, _ tooMany: String) throws {
    operations += 1
    guard length <= PredicateParser.chainLimit, operations <= PredicateParser.operationLimit else {
      throw fault(tooMany)
    }
  }

  // MARK: Compounds

  /// Reads the rule `or := and { OR and }`.
  mutating func or() throws -> Node {
    try nested { parser in
      let first = try parser.and()
      guard parser.isOr else { return first }
      var parts = [try parser.tree(first)]
      while parser.isOr {
        try parser.advance()
        parts.append(try parser.tree(try parser.and()))
      }
      return .predicate(.or(parts))
    }
  }

  private var isOr: Bool { token == .keyword(.or) || token == .symbol("||") }
  private var isAnd: Bool { token == .keyword(.and) || token == .symbol("&&") }

  /// Reads the rule `and := not { AND not }`.
  private mutating func and() throws -> Node {
    let first = try not()
    guard isAnd else { return first }
    var parts = [try tree(first)]
    while isAnd {
      try advance()
      parts.append(try tree(try not()))
    }
    return .predicate(.and(parts))
  }

  /// Reads the rule `not := NOT not | comparison`.
  private mutating func not() throws -> Node {
    guard token == .keyword(.not) || token == .symbol("!") else { return try comparison() }
    try advance()
    return try nested { .predicate(.not(try $0.tree(try $0.not()))) }
  }

  /// The part as a predicate.
  ///
  /// Mutating only so that the part is parsed before the position of an error is looked at.
  mutating func tree(_ node: Node) throws -> PredicateTree {
    switch node {
    case .predicate(let tree): return tree
    case .expression: throw fault("a comparison such as == is missing before \(token.summary)")
    }
  }

  // MARK: Comparisons

  /// Reads the rule `comparison := [ANY|SOME|ALL|NONE] expression operator [options] expression`.
  private mutating func comparison() throws -> Node {
    if try take(.keyword(.truePredicate)) { return .predicate(.constant(true)) }
    if try take(.keyword(.falsePredicate)) { return .predicate(.constant(false)) }
    var modifier: PredicateComparison.Modifier?
    let isNone = token == .keyword(.none)
    if token == .keyword(.any) || token == .keyword(.some) || isNone { modifier = .any }
    if token == .keyword(.all) { modifier = .all }
    if modifier != nil { try advance() }
    let left = try sum()
    guard let operation = comparisonOperator else {
      if modifier == nil { return left }
      throw fault("a comparison such as == is missing before \(token.summary)")
    }
    let leftExpression = try expression(left)
    try advance()
    let options = try options()
    let right = try expression(try sum())
    let tree = PredicateTree.comparison(
      PredicateComparison(
        leftExpression, operation, right, modifier: modifier ?? .direct, options: options))
    return .predicate(isNone ? .not(tree) : tree)
  }

  private var comparisonOperator: PredicateComparison.Operator? {
    switch token {
    case .symbol("=="), .symbol("="): .equals
    case .symbol("!="), .symbol("<>"): .notEquals
    case .symbol("<"): .lessThan
    case .symbol("<="), .symbol("=<"): .lessThanOrEquals
    case .symbol(">"): .greaterThan
    case .symbol(">="), .symbol("=>"): .greaterThanOrEquals
    case .keyword(let word): PredicateComparison.Operator(rawValue: word.rawValue)
    case .name, .variable, .text, .number, .placeholder, .symbol, .end: nil
    }
  }

  private mutating func options() throws -> PredicateComparison.Options {
    guard try take(.symbol("[")) else { return [] }
    guard case .name(let letters) = token else { throw fault("the options in [] are missing") }
    var options: PredicateComparison.Options = []
    for letter in letters.lowercased() {
      guard let option = PredicateComparison.Options.letters.first(where: { $0.1 == letter })
      else { throw fault("[\(letter)] is not an option; use c, d, n or l") }
      options.insert(option.0)
    }
    try advance()
    try require("]")
    return options
  }
}

extension PredicateTree {
  /// Parses `format` with `arguments` for its placeholders; a syntax error results in `invalid`.
  package init(format: String, arguments: [Any?]) {
    do {
      var parser = try PredicateParser(format, arguments: arguments)
      self = try parser.predicate()
    } catch {
      self = .invalid(error as? PredicateSyntaxError ?? PredicateSyntaxError("\(error)", at: 0))
    }
  }
}
