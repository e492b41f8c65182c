/// Divides a format string into tokens.
struct PredicateLexer {
  private let scalars: [Unicode.Scalar]
  private var index = 0

  /// The position of the next token.
  private(set) var position = 0

  /// Creates a lexer of `format`.
  init(_ format: String) { scalars = Array(format.unicodeScalars) }

  /// The symbols, each before its own prefixes.
  private static let symbols: [[Unicode.Scalar]] = [
    "==", "=<", "=>", "=", "!=", "!", "<>", "<=", "<", ">=", ">", "&&", "||", "(", ")", "{", "}",
    "[", "]", ",", "+", "-", "**", "*", "/", ".",
  ].map { Array($0.unicodeScalars) }

  /// The next token; `end` at the end of the format.
  mutating func next() throws -> PredicateToken {
    while let scalar = peek(), scalar.properties.isWhitespace { index += 1 }
    position = index
    guard let scalar = peek() else { return .end }
    switch scalar {
    case "\"", "'":
      index += 1
      return .text(try text(until: scalar))
    case "%":
      index += 1
      return .placeholder(try placeholder())
    case "$":
      index += 1
      guard let name = name(), !name.isEmpty else { throw fault("a name must follow $") }
      return .variable(name)
    case "0"..."9": return .number(try number())
    case ".":
      if let digit = peek(1), ("0"..."9").contains(digit) { return .number(try number()) }
    default: break
    }
    if PredicateLexer.startsName(scalar) || scalar == "#" || scalar == "@" { return try path() }
    for symbol in PredicateLexer.symbols where scalars[index...].starts(with: symbol) {
      index += symbol.count
      return .symbol(symbol.map { String($0) }.joined())
    }
    throw fault("\"\(scalar)\" means nothing here")
  }

  private func fault(_ reason: String) -> PredicateSyntaxError {
    PredicateSyntaxError(reason, at: index)
  }

  private func peek(_ offset: Int = 0) -> Unicode.Scalar? {
    scalars.indices.contains(index + offset) ? scalars[index + offset] : nil
  }

  private static func startsName(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "_" || scalar.properties.isAlphabetic
  }

  private static func continuesName(_ scalar: Unicode.Scalar) -> Bool {
    startsName(scalar) || ("0"..."9").contains(scalar) || scalar == "$" || scalar == ":"
  }

  private mutating func name() -> String? {
    guard let first = peek(), PredicateLexer.startsName(first) else { return nil }
    var name = String.UnicodeScalarView()
    while let scalar = peek(), PredicateLexer.continuesName(scalar) {
      name.append(scalar)
      index += 1
    }
    return String(name)
  }

  /// Names with dots between; `#` before a name makes a keyword a name, `@` asks for a statistic.
  private mutating func path() throws -> PredicateToken {
    var names: [String] = []
    var isEscaped = false
    while true {
      var prefix = ""
      if peek() == "#" {
        isEscaped = true
        index += 1
      } else if peek() == "@" {
        prefix = "@"
        index += 1
      }
      guard let name = name() else { throw fault("a name is missing") }
      names.append(prefix + name)
      guard peek() == ".", let next = peek(1),
        PredicateLexer.startsName(next) || next == "#" || next == "@"
      else { break }
      index += 1
    }
    if names.count == 1, !isEscaped, let keyword = PredicateKeyword(names[0]) {
      return .keyword(keyword)
    }
    if names.count > 1, !isEscaped, PredicateKeyword(names[0]) == .itself { names.removeFirst() }
    return .name(names.joined(separator: "."))
  }

  private mutating func text(until quote: Unicode.Scalar) throws -> String {
    let start = index - 1
    var text = String.UnicodeScalarView()
    while let scalar = peek() {
      index += 1
      if scalar == quote { return String(text) }
      text.append(scalar == "\\" ? try escaped() : scalar)
    }
    throw PredicateSyntaxError("the text that starts here has no end", at: start)
  }

  private mutating func escaped() throws -> Unicode.Scalar {
    guard let scalar = peek() else { throw fault("the text ends inside an escape") }
    index += 1
    switch scalar {
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "u", "x":
      var value: UInt32 = 0
      var digits = 0
      while digits < (scalar == "u" ? 4 : 2), let digit = peek(),
        let number = Character(digit).hexDigitValue
      {
        value = value * 16 + UInt32(number)
        digits += 1
        index += 1
      }
      guard digits > 0, let decoded = Unicode.Scalar(value) else {
        throw fault("the escape \\\(scalar) names no character")
      }
      return decoded
    default: return scalar
    }
  }

  private mutating func placeholder() throws -> String {
    var letters = ""
    while let scalar = peek(), letters.count < 3 {
      letters.unicodeScalars.append(scalar)
      index += 1
      if "hlqztj".unicodeScalars.contains(scalar) { continue }
      if "@KdDiuUxXoOfFeEgGaAcCsS".unicodeScalars.contains(scalar) { return letters }
      break
    }
    throw PredicateSyntaxError(
      "%\(letters) is not a placeholder; use %@, %K, %d or %f", at: position)
  }

  private mutating func number() throws -> String {
    var number = ""
    func isDigit(_ scalar: Unicode.Scalar?) -> Bool {
      scalar.map { ("0"..."9").contains($0) } ?? false
    }
    func take(_ count: Int, _ index: inout Int) {
      for _ in 0..<count {
        number.unicodeScalars.append(scalars[index])
        index += 1
      }
    }
    if peek() == "0", let mark = peek(1), "xXbBoO".unicodeScalars.contains(mark) {
      take(2, &index)
      while let scalar = peek(), Character(scalar).isHexDigit, scalar.isASCII { take(1, &index) }
    } else {
      while isDigit(peek()) { take(1, &index) }
      if peek() == "." {
        take(1, &index)
        while isDigit(peek()) { take(1, &index) }
      }
      if peek() == "e" || peek() == "E" {
        let signed = peek(1) == "-" || peek(1) == "+"
        if isDigit(peek(signed ? 2 : 1)) {
          take(signed ? 2 : 1, &index)
          while isDigit(peek()) { take(1, &index) }
        }
      }
    }
    if let scalar = peek(), PredicateLexer.startsName(scalar) {
      throw fault("a name directly follows a number")
    }
    return number
  }
}
