/// Finds the places of a source file that can be changed mechanically.
///
/// It knows tokens and brackets, not types: a change that does not compile is dropped later.
struct Mutator {
  private let path: String
  private let bytes: [UInt8]
  private let sourceLines: [Substring]
  private let tokens: [Token]
  private let blocks: [Block]
  private(set) var mutants: [Mutant] = []

  /// What an opening bracket begins.
  private struct Block {
    /// The index of its closing bracket.
    var end: Int
    /// Whether it contains statements.
    var isCode: Bool
    /// Whether it is the body of an initializer, whose assignments can't be left out.
    var isInitializer: Bool
    /// Whether its only statement may be its value.
    var mayHaveValue: Bool
  }

  private init(_ text: String, at path: String) {
    self.path = path
    bytes = Array(text.utf8)
    sourceLines = text.split(separator: "\n", omittingEmptySubsequences: false)
    tokens = SwiftTokens.tokens(of: text)
    blocks = Mutator.blocks(of: tokens)
  }

  /// All mutants of the file at `path`, in the order of its text.
  static func mutants(of text: String, at path: String) -> [Mutant] {
    var mutator = Mutator(text, at: path)
    for index in mutator.tokens.indices {
      mutator.changeOperator(index)
      mutator.changeConstant(index)
      mutator.changeConditions(index)
      mutator.returnEarly(index)
    }
    mutator.changeStatements()
    return mutator.mutants.sorted {
      ($0.range.lowerBound, $0.name) < ($1.range.lowerBound, $1.name)
    }
  }

  // MARK: Brackets

  private static let types: Set<String> = [
    "struct", "class", "enum", "extension", "protocol", "actor",
  ]

  /// The blocks that begin at the tokens with the same index; others have the end -1.
  private static func blocks(of tokens: [Token]) -> [Block] {
    var blocks = tokens.map { _ in
      Block(end: -1, isCode: false, isInitializer: false, mayHaveValue: false)
    }
    var open: [Int] = []
    for (index, token) in tokens.enumerated() {
      if token.kind == .opening {
        open.append(index)
        guard token.text == "{" else { continue }
        let head = head(of: index, in: tokens)
        blocks[index].isCode = types.isDisjoint(with: head)
        blocks[index].isInitializer = head.contains("init")
        blocks[index].mayHaveValue =
          head.contains("->") || head.isDisjoint(with: withoutValue.union(["func", "init"]))
      } else if token.kind == .closing, let start = open.popLast() {
        blocks[start].end = index
      }
    }
    return blocks
  }

  /// The words outside of brackets between the end of the code before a `{` and it.
  private static func head(of brace: Int, in tokens: [Token]) -> Set<String> {
    var words: Set<String> = []
    var depth = 0
    for token in tokens[..<brace].reversed() {
      if token.kind == .closing {
        if token.text == "}", depth == 0 { break }
        depth += 1
      } else if token.kind == .opening {
        guard depth > 0 else { break }
        depth -= 1
      } else if depth == 0, token.kind == .word || token.text == "->" {
        words.insert(token.text)
        if token.isFirst, starts.contains(token.text) { break }
      }
    }
    return words
  }

  /// Words that begin a statement with a block without a value.
  private static let withoutValue: Set<String> = [
    "if", "else", "guard", "for", "while", "do", "catch", "defer", "repeat",
  ]

  /// Words that begin a declaration or a statement with a block.
  private static let starts: Set<String> = types.union([
    "func", "init", "var", "let", "if", "guard", "for", "while", "switch", "do", "return", "case",
    "default", "private", "public", "package", "fileprivate", "static", "mutating", "try",
    "subscript",
  ])

  // MARK: Parts

  private func text(_ range: Range<Int>) -> String {
    String(decoding: bytes[range], as: UTF8.self)
  }

  private func range(_ first: Int, _ last: Int) -> Range<Int> {
    tokens[first].range.lowerBound..<tokens[last].range.upperBound
  }

  private mutating func add(
    _ kind: Mutant.Kind, _ first: Int, _ last: Int, _ replacement: String, _ change: String,
    operation: Mutant.Operation? = nil
  ) {
    let line = tokens[first].line
    let range = range(first, last)
    let lastLine = line + text(range).count { $0 == "\n" }
    mutants.append(
      Mutant(
        kind: kind, path: path, lines: line...lastLine, range: range, replacement: replacement,
        operation: operation, change: change,
        source: sourceLines[line - 1].trimmingPrefix { $0 == " " }.description))
  }

  // MARK: Expressions

  private static let operators: [String: (kind: Mutant.Kind, to: String)] = [
    "<": (.boundary, "<="), "<=": (.boundary, "<"), ">": (.boundary, ">="),
    ">=": (.boundary, ">"), "==": (.comparison, "!="), "!=": (.comparison, "=="),
    "&&": (.logic, "||"), "||": (.logic, "&&"), "+": (.arithmetic, "-"), "-": (.arithmetic, "+"),
  ]

  private mutating func changeOperator(_ index: Int) {
    let token = tokens[index]
    guard token.isBinary, let (kind, to) = Self.operators[token.text],
      tokens[max(0, index - 1)].text != "func"
    else { return }
    let (precedence, operand, result) =
      switch kind {
      case .boundary: ("ComparisonPrecedence", "Comparable", "Bool")
      case .comparison: ("ComparisonPrecedence", "Equatable", "Bool")
      case .logic:
        ("Logical\(token.text == "&&" ? "Conjunction" : "Disjunction")Precedence", "", "Bool")
      default: ("AdditionPrecedence", "AdditiveArithmetic", "T")
      }
    add(
      kind, index, index, Mutant.operatorName, "\(token.text) to \(to)",
      operation: Mutant.Operation(
        from: token.text, to: to, precedence: precedence, operand: operand, result: result))
  }

  private mutating func changeConstant(_ index: Int) {
    let token = tokens[index]
    let before = index > 0 ? tokens[index - 1].text : ""
    guard ![".", "case"].contains(before),
      !sourceLines[token.line - 1].contains(/^\s*(@|case )/)
    else { return }
    if token.text == "true" || token.text == "false" {
      let not = token.text == "true" ? "!" : ""
      add(
        .constant, index, index, "\(not)\(Mutant.condition)",
        "\(token.text) to \(token.text == "true" ? "false" : "true")")
    }
    guard token.kind == .number, let value = Int(token.text.replacing("_", with: "")),
      value < 1 << 30,
      tokens[max(0, index - 4)..<min(tokens.count, index + 5)]
        .count(where: { $0.kind == .number }) < 3
    else { return }
    let other = text(token.range) + " + 1"
    add(
      .constant, index, index, "(\(Mutant.condition) ? \(other) : \(token.text))",
      "\(token.text) to \(value + 1)")
  }

  // MARK: Conditions

  private mutating func changeConditions(_ index: Int) {
    let word = tokens[index]
    guard word.kind == .word, ["if", "guard", "while"].contains(word.text),
      index + 1 < tokens.count
    else { return }
    var (first, place) = (index + 1, index + 1)
    while place < tokens.count {
      let token = tokens[place]
      let isEnd = token.text == "{" || (word.text == "guard" && token.text == "else")
      if isEnd || token.text == "," {
        changeClause(first, place - 1, isGuard: word.text == "guard")
        first = place + 1
      }
      if isEnd { return }
      if token.kind == .opening {
        guard blocks[place].end > place else { return }
        place = blocks[place].end
      } else if token.kind == .closing {
        return
      }
      place += 1
    }
  }

  private mutating func changeClause(_ first: Int, _ last: Int, isGuard: Bool) {
    guard first <= last, !["let", "var", "case", "#"].contains(tokens[first].text) else { return }
    let clause = text(range(first, last))
    add(
      .condition, first, last, "(\(clause)) != \(Mutant.condition)", "negated: \(brief(clause))")
    if isGuard {
      // The condition comes first, so that it shows that the place is executed; `try` may not
      // stand behind an operator.
      let mayStandBehind = !tokens[first...last].contains { ["try", "await"].contains($0.text) }
      add(
        .guardRemoved, first, last,
        mayStandBehind
          ? "\(Mutant.condition) || (\(clause))" : "(\(clause)) || \(Mutant.condition)",
        "guard removed: \(brief(clause))")
    }
  }

  private func brief(_ text: String) -> String {
    let words = text.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
    return words.count > 60 ? words.prefix(60) + "..." : words
  }

  /// A function without a result returns before its first statement.
  private mutating func returnEarly(_ index: Int) {
    guard tokens[index].text == "func", tokens[index].kind == .word else { return }
    var place = index + 1
    while place < tokens.count, tokens[place].text != "{" {
      if ["->", "}", "var", "func", "some"].contains(tokens[place].text) { return }
      place =
        tokens[place].kind == .opening && blocks[place].end > place ? blocks[place].end : place
      place += 1
    }
    guard place + 1 < tokens.count, blocks[place].end > place + 1 else { return }
    add(
      .earlyReturn, place, place, "{ if \(Mutant.condition) { return };",
      "\(tokens[index + 1].text) returns at once")
  }

  // MARK: Statements

  /// Words that begin what is no statement, or one that can't be left out.
  private static let fixed: Set<String> = [
    "let", "var", "func", "if", "guard", "for", "while", "switch", "case", "default", "do", "catch",
    "else", "repeat", "struct", "class", "enum", "extension", "import", "public", "private",
    "package", "internal", "fileprivate", "static", "init", "deinit", "typealias", "where", "get",
    "set", "willSet", "didSet", "in", "lazy", "mutating", "nonisolated", "indirect", "super",
    "actor",
    "subscript", "final", "override", "assert", "assertionFailure", "precondition",
    "preconditionFailure", "fatalError", "protocol", "async", "weak", "unowned", "_read", "yield",
  ]

  private mutating func changeStatements() {
    for (start, block) in blocks.enumerated() where block.isCode && block.end > start {
      var previous: ClosedRange<Int>?
      var place = start + 1
      while place < block.end {
        let end = statementEnd(from: place, before: block.end)
        let statement = place...end
        let isValue = block.mayHaveValue && place == start + 1 && end == block.end - 1
        let isFree = !isValue && isRemovable(statement, in: block)
        if isFree {
          let whole = text(range(place, end))
          add(
            .statementRemoved, place, end, "if !\(Mutant.condition) { \(whole) }",
            "removed: \(brief(whole))")
          if let previous, areNeighbours(previous, statement) { swap(previous, statement) }
        }
        previous = isFree ? statement : nil
        place = end + 1
      }
    }
  }

  /// The index of the last token of the statement that begins at `first`.
  private func statementEnd(from first: Int, before end: Int) -> Int {
    var last = first
    while true {
      if tokens[last].kind == .opening, blocks[last].end > last { last = blocks[last].end }
      guard last + 1 < end else { return min(last, end - 1) }
      let (token, next) = (tokens[last], tokens[last + 1])
      let goesOn =
        token.isBinary || token.text == "," || token.text == "="
        || (next.kind == .operation && next.text != "!" && next.text != "-" && next.text != "&")
        || ["?", ":"].contains(next.text)
        || ["else", "catch", "where", "as", "is", "in"].contains(next.text)
      if next.text == ";" || (next.isFirst && !goesOn) { return last }
      last += 1
    }
  }

  private func isRemovable(_ statement: ClosedRange<Int>, in block: Block) -> Bool {
    let first = tokens[statement.lowerBound]
    guard first.isFirst, first.kind == .word, !Self.fixed.contains(first.text),
      !(block.isInitializer && tokens[statement].contains { $0.text == "=" })
    else { return false }
    let next = statement.lowerBound + 1
    return !(first.text == "return" && statement.count > 1)
      && !(next <= statement.upperBound && tokens[next].text == ":")
  }

  /// Words that begin a statement whose order to others matters to the compiler.
  private static let ends: Set<String> = ["return", "throw", "break", "continue", "defer"]

  private func areNeighbours(_ first: ClosedRange<Int>, _ second: ClosedRange<Int>) -> Bool {
    tokens[second.lowerBound].line <= tokens[first.upperBound].line + 1
      && Self.ends.isDisjoint(
        with: [tokens[first.lowerBound].text, tokens[second.lowerBound].text])
      && !areIndependent(first, second)
  }

  /// Whether both statements assign plain values to different properties, so that their order does
  /// not matter.
  private func areIndependent(_ first: ClosedRange<Int>, _ second: ClosedRange<Int>) -> Bool {
    func assignment(_ statement: ClosedRange<Int>) -> (target: [String], value: [String])? {
      let words = tokens[statement].map(\.text)
      guard !tokens[statement].contains(where: { $0.kind == .opening }),
        let sign = words.firstIndex(of: "=")
      else { return nil }
      return (Array(words[..<sign]), Array(words[sign...]))
    }
    guard let one = assignment(first), let other = assignment(second) else { return false }
    let names = Set([one.target.last, other.target.last])
    return one.target != other.target
      && names.isDisjoint(with: one.value.map(Optional.some) + other.value.map(Optional.some))
  }

  private mutating func swap(_ first: ClosedRange<Int>, _ second: ClosedRange<Int>) {
    let one = text(range(first.lowerBound, first.upperBound))
    let other = text(range(second.lowerBound, second.upperBound))
    add(
      .statementsSwapped, first.lowerBound, second.upperBound,
      "if \(Mutant.condition) { \(other); \(one) } else { \(one)\n\(other) }",
      "swapped: \(brief(one)); \(brief(other))")
  }
}
