/// A piece of Swift source text.
struct Token: Hashable, Sendable {
  /// The kinds of tokens.
  enum Kind: Hashable, Sendable {
    case word
    case number
    /// A string or regular expression with its delimiters and interpolations.
    case literal
    /// A run of operator characters.
    case operation
    case opening
    case closing
    /// A comma, a colon, a semicolon, an attribute's or a directive's sign.
    case other
  }

  let kind: Kind
  let text: String
  /// The place in the UTF-8 bytes of the file.
  let range: Range<Int>
  /// The number of its first line, from 1.
  let line: Int
  /// Whether it is the first on its line.
  let isFirst: Bool
  /// Whether white space stands before it, and behind it.
  let hasSpaceBefore: Bool
  let hasSpaceBehind: Bool

  /// Whether it is a binary operator.
  var isBinary: Bool { kind == .operation && hasSpaceBefore && hasSpaceBehind }
}

/// Splits a file into tokens; comments, and code for other platforms, are left out.
struct SwiftTokens {
  private let bytes: [UInt8]
  private var place = 0
  private var line = 1
  private var isFirst = true
  /// Whether the code of each enclosing `#if` is left out.
  private var directives: [Bool] = []
  private var tokens: [Token] = []

  /// The words in a condition that is false where the tests run.
  private static let foreign = [
    "Darwin", "ObjectiveC", "PostgreSQL", "Musl", "Android", "Windows", "WASI", "AppleCloudKit",
    "os(macOS)", "os(iOS)", "Bionic",
  ]

  private init(_ text: String) { bytes = Array(text.utf8) }

  /// The tokens of `text`.
  static func tokens(of text: String) -> [Token] {
    var reader = SwiftTokens(text)
    while reader.place < reader.bytes.count { reader.readNext() }
    return reader.tokens
  }

  private func byte(_ offset: Int = 0) -> UInt8 {
    place + offset < bytes.count && place + offset >= 0 ? bytes[place + offset] : 0
  }

  private func has(_ text: String) -> Bool { bytes[place...].starts(with: text.utf8) }

  private mutating func readNext() {
    switch byte() {
    case UInt8(ascii: "\n"):
      (line, isFirst) = (line + 1, true)
      place += 1
    case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): place += 1
    case UInt8(ascii: "/") where has("//"): skip { $0 != UInt8(ascii: "\n") }
    case UInt8(ascii: "/") where has("/*"): skipComment()
    case UInt8(ascii: "#") where isFirst && (has("#if ") || has("#else") || has("#end")):
      readDirective()
    case let byte: add(byte)
    }
  }

  private mutating func add(_ first: UInt8) {
    let start = place
    let (startLine, wasFirst) = (line, isFirst)
    let kind = readToken(first)
    isFirst = false
    guard !directives.contains(true) else { return }
    let isSpace = { (byte: UInt8) in byte <= 32 }
    tokens.append(
      Token(
        kind: kind, text: String(decoding: bytes[start..<place], as: UTF8.self),
        range: start..<place, line: startLine, isFirst: wasFirst,
        hasSpaceBefore: start == 0 || isSpace(bytes[start - 1]), hasSpaceBehind: isSpace(byte())))
  }

  /// Moves past the token that begins with `first`.
  private mutating func readToken(_ first: UInt8) -> Token.Kind {
    switch first {
    case UInt8(ascii: "\""):
      skipString(hashes: 0)
      return .literal
    case UInt8(ascii: "#") where hashesBeforeString != nil:
      let hashes = hashesBeforeString ?? 0
      place += hashes
      skipString(hashes: hashes)
      return .literal
    case UInt8(ascii: "/") where byte(1) > 32 && byte(-1) <= 32 || has("/") && byte(-1) == 40:
      place += 1
      while place < bytes.count, byte() != UInt8(ascii: "/"), byte() != UInt8(ascii: "\n") {
        place += byte() == UInt8(ascii: "\\") ? 2 : 1
      }
      place += 1
      return .literal
    case UInt8(ascii: "0")...UInt8(ascii: "9"):
      skip { SwiftTokens.isWord($0) }
      if byte() == UInt8(ascii: "."), (48...57).contains(byte(1)) {
        place += 1
        skip { SwiftTokens.isWord($0) }
      }
      return .number
    case _ where SwiftTokens.isWord(first) || first == UInt8(ascii: "`"):
      skip { SwiftTokens.isWord($0) || $0 == UInt8(ascii: "`") }
      return .word
    case _ where "([{".utf8.contains(first):
      place += 1
      return .opening
    case _ where ")]}".utf8.contains(first):
      place += 1
      return .closing
    case _ where SwiftTokens.isOperator(first):
      skip { SwiftTokens.isOperator($0) }
      return .operation
    default:
      place += 1
      return .other
    }
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...90, 97...122, UInt8(ascii: "_"), UInt8(ascii: "$"), 128...: true
    default: false
    }
  }

  private static func isOperator(_ byte: UInt8) -> Bool { "/=-+!*%<>&|^~?.".utf8.contains(byte) }

  private mutating func skip(while condition: (UInt8) -> Bool) {
    while place < bytes.count, condition(byte()) { place += 1 }
  }

  private mutating func skipComment() {
    var depth = 0
    repeat {
      if has("/*") {
        (depth, place) = (depth + 1, place + 2)
      } else if has("*/") {
        (depth, place) = (depth - 1, place + 2)
      } else {
        if byte() == UInt8(ascii: "\n") { line += 1 }
        place += 1
      }
    } while depth > 0 && place < bytes.count
  }

  /// The number of `#` before a raw string that begins here.
  private var hashesBeforeString: Int? {
    var count = 0
    while byte(count) == UInt8(ascii: "#") { count += 1 }
    return byte(count) == UInt8(ascii: "\"") ? count : nil
  }

  /// Moves past a string that begins at its quotation mark.
  private mutating func skipString(hashes: Int) {
    let quote = has("\"\"\"") ? "\"\"\"" : "\""
    let end = quote + String(repeating: "#", count: hashes)
    let escape = "\\" + String(repeating: "#", count: hashes)
    place += quote.utf8.count
    while place < bytes.count, !has(end) {
      if has(escape + "(") {
        place += escape.utf8.count
        skipInterpolation()
      } else if has(escape) {
        place += escape.utf8.count + 1
      } else {
        if byte() == UInt8(ascii: "\n") { line += 1 }
        place += 1
      }
    }
    place += end.utf8.count
  }

  private mutating func skipInterpolation() {
    var depth = 0
    repeat {
      switch byte() {
      case UInt8(ascii: "("): (depth, place) = (depth + 1, place + 1)
      case UInt8(ascii: ")"): (depth, place) = (depth - 1, place + 1)
      case UInt8(ascii: "\""): skipString(hashes: 0)
      case UInt8(ascii: "\n"): (line, place) = (line + 1, place + 1)
      default: place += 1
      }
    } while depth > 0 && place < bytes.count
  }

  private mutating func readDirective() {
    let start = place
    skip { $0 != UInt8(ascii: "\n") }
    let text = String(decoding: bytes[start..<place], as: UTF8.self)
    let isForeign = Self.foreign.contains { text.contains($0) && !text.contains("!") }
    if text.hasPrefix("#if ") {
      directives.append(isForeign)
    } else if let last = directives.popLast(), !text.hasPrefix("#end") {
      directives.append(text.hasPrefix("#elseif") ? isForeign : !last && !isForeign)
    }
  }
}
