import Records

extension PredicateParser {
  /// The part as an expression; mutating as `tree` is.
  mutating func expression(_ node: Node) throws -> PredicateOperand {
    switch node {
    case .expression(let expression): return expression
    case .predicate: throw fault("a value is expected where a comparison ends")
    }
  }

  /// Reads the rule `sum := product { (+|-) product }`.
  mutating func sum() throws -> Node {
    try chain(["+": .add, "-": .subtract]) { try $0.product() }
  }

  /// Reads the rule `product := power { (*|/) power }`.
  private mutating func product() throws -> Node {
    try chain(["*": .multiply, "/": .divide]) { try $0.power() }
  }

  /// Reads the rule `power := signed { ** signed }`.
  private mutating func power() throws -> Node {
    try chain(["**": .power]) { try $0.signed() }
  }

  private mutating func chain(
    _ signs: [String: PredicateOperand.Arithmetic],
    _ operand: (inout PredicateParser) throws -> Node
  ) throws -> Node {
    var left = try operand(&self)
    var length = 0
    while case .symbol(let sign) = token, let operation = signs[sign] {
      length += 1
      try countOperation(length, "a calculation is too long")
      let first = try expression(left)
      try advance()
      let second = try expression(try operand(&self))
      left = .expression(.arithmetic(operation, first, second))
    }
    return left
  }

  /// Reads the rule `signed := (-|+) signed | member`.
  private mutating func signed() throws -> Node {
    let isNegative = token == .symbol("-")
    guard isNegative || token == .symbol("+") else { return try member() }
    try advance()
    if isNegative, case .number(let digits) = token {
      try advance()
      return .expression(try number("-" + digits))
    }
    let value = try nested { try $0.expression(try $0.signed()) }
    guard isNegative else { return .expression(value) }
    return .expression(.arithmetic(.subtract, .value(.int64(0)), value))
  }

  /// Reads the rule `member := primary { [ index ] | . name }`.
  private mutating func member() throws -> Node {
    var node = try primary()
    var length = 0
    while true {
      guard token == .symbol("[") || token == .symbol(".") else { return node }
      length += 1
      let base = try expression(node)
      if try take(.symbol(".")) {
        guard length <= PredicateParser.chainLimit else { throw fault("a path is too long") }
        guard case .name(let name) = token, case .key(let path) = base else {
          throw fault("a dot only joins the names of a path")
        }
        try advance()
        node = .expression(.key(path + "." + name))
      } else {
        try countOperation(length, "a path is too long")
        try advance()
        node = .expression(.member(base, try index()))
        try require("]")
      }
    }
  }

  private mutating func index() throws -> PredicateOperand.Member {
    if case .name(let name) = token {
      let members: [String: PredicateOperand.Member] = [
        "FIRST": .first, "LAST": .last, "SIZE": .size,
      ]
      if let member = members[name.uppercased()] {
        try advance()
        return member
      }
    }
    return .at(
      try nested { try $0.expression(try $0.sum()) })
  }

  private mutating func primary() throws -> Node {
    let start = token
    switch start {
    case .symbol("("):
      try advance()
      let node = try or()
      try require(")")
      return node
    case .symbol("{"):
      try advance()
      return .expression(.list(try expressions(until: "}")))
    case .keyword(let word): return .expression(try constant(word))
    case .text(let text):
      try advance()
      return .expression(.value(.string(text)))
    case .number(let digits):
      let value = try number(digits)
      try advance()
      return .expression(value)
    case .variable(let name):
      try advance()
      return .expression(.variable(name))
    case .placeholder(let letters):
      let value = try substituted(letters)
      try advance()
      return .expression(value)
    case .name(let name):
      let start = position
      try advance()
      if token == .symbol("(") { return .expression(try function(name, at: start)) }
      guard !name.contains(":") else {
        throw PredicateSyntaxError("\"(\" is missing behind the function \(name)", at: start)
      }
      return .expression(.key(name))
    case .end, .symbol: throw fault("a value is missing before \(start.summary)")
    }
  }

  private mutating func constant(_ word: PredicateKeyword) throws -> PredicateOperand {
    let value: PredicateOperand
    switch word {
    case .yes, .true: value = .value(.int64(1))
    case .no, .false: value = .value(.int64(0))
    case .null, .nil: value = .null
    case .itself: value = .itself
    case .and, .or, .not, .any, .some, .all, .none, .isIn, .between, .contains, .beginsWith,
      .endsWith, .like, .matches, .tokenMatches, .truePredicate, .falsePredicate:
      throw fault(
        "a value is missing before \(word.rawValue); write #\(word.rawValue) for a field so named")
    }
    try advance()
    return value
  }

  /// Expressions separated by commas, after the opening symbol.
  private mutating func expressions(until end: String) throws -> [PredicateOperand] {
    if try take(.symbol(end)) { return [] }
    var expressions: [PredicateOperand] = []
    repeat {
      expressions.append(
        try nested { try $0.expression(try $0.sum()) })
    } while try take(.symbol(","))
    try require(end)
    return expressions
  }

  private mutating func function(_ name: String, at start: Int) throws -> PredicateOperand {
    try advance()
    var name = name
    var arguments = try expressions(until: ")")
    switch name.uppercased() {
    case "CAST":
      guard arguments.count == 2, let seconds = arguments[0].number,
        [.value(.string("NSDate")), .value(.string("Date"))].contains(arguments[1])
      else { throw PredicateSyntaxError("CAST only converts seconds to dates", at: start) }
      return .value(.date(Timestamp(secondsSinceReferenceDate: seconds)))
    case "FUNCTION":
      guard arguments.count >= 2, case .value(.string(let selector)) = arguments[1] else {
        throw PredicateSyntaxError("FUNCTION needs a value and a function's name", at: start)
      }
      name = selector
      arguments.remove(at: 1)
    default: break
    }
    guard PredicateFunction.isKnown(name) else {
      throw PredicateSyntaxError("there is no function \(name)", at: start)
    }
    guard let canonical = PredicateFunction.canonical(name, count: arguments.count) else {
      throw PredicateSyntaxError(
        "the function \(name) does not take \(arguments.count) arguments", at: start)
    }
    return .function(canonical, arguments)
  }

  /// The value of a placeholder.
  private mutating func substituted(_ letters: String) throws -> PredicateOperand {
    let argument = PredicateOperand(argument: try argument(for: letters))
    switch letters.last {
    case "@", "s", "S": return argument
    case "K":
      guard case .value(.string(let name)) = argument, !name.isEmpty else {
        throw fault("the argument for %K is not a name")
      }
      return .key(name)
    default:
      guard let number = argument.number else {
        throw fault("the argument for %\(letters) is not a number")
      }
      let isFloating = letters.last.map { "fFeEgGaA".contains($0) } ?? false
      return isFloating ? .value(.double(number)) : argument
    }
  }

  /// The number that is written so; one too large for 64 bits becomes a floating-point number.
  private func number(_ digits: String) throws -> PredicateOperand {
    let isNegative = digits.hasPrefix("-")
    let plain = isNegative ? String(digits.dropFirst()) : digits
    let radix = ["0x": 16, "0b": 2, "0o": 8][plain.prefix(2).lowercased()]
    if let radix {
      let text = (isNegative ? "-" : "") + plain.dropFirst(2)
      guard let value = Int64(text, radix: radix) else { throw fault("a number cannot be read") }
      return .value(.int64(value))
    }
    if let value = Int64(digits) { return .value(.int64(value)) }
    guard let value = Double(digits.hasSuffix(".") ? digits + "0" : digits) else {
      throw fault("a number cannot be read")
    }
    // Infinity has no digits: the predicate's text would name a key of that name instead.
    guard value.isFinite else { throw fault("a number is too large") }
    return .value(.double(value))
  }
}
