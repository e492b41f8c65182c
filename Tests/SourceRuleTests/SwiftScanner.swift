/// One word, symbol or string literal of a Swift source.
struct Token: Equatable {
  /// The text; a literal keeps its quotes.
  var text: String
  /// The line it starts on, from 1.
  var line: Int

  /// Whether it is a string literal.
  var isLiteral: Bool { text.hasSuffix("\"") || text.hasSuffix("\"#") }

  /// The content of a literal, without quotes; `nil` for other tokens.
  var literal: String? {
    guard isLiteral else { return nil }
    return text.trimmingPrefix { $0 == "#" || $0 == "\"" }.description
      .reversedTrimming { $0 == "#" || $0 == "\"" }
  }
}

extension String {
  fileprivate func reversedTrimming(_ unwanted: (Character) -> Bool) -> String {
    var text = self
    while let last = text.last, unwanted(last) { text.removeLast() }
    return text
  }
}

/// The kind of a comment.
enum CommentKind: Equatable {
  /// `///` or `/** */`: documentation.
  case documentation
  /// Any other comment.
  case plain
}

/// Splits Swift source into tokens and comments, so that no rule ever mistakes the one for the
/// other, nor the contents of a string for code.
///
/// Understands nested block comments, raw and multi-line strings, code inside interpolations, and
/// regex literals of one line. Not a parser: a slash that could be both a division and a regex
/// literal is told apart by what stands before it.
struct SwiftScanner {
  private(set) var tokens: [Token] = []
  /// Comment text by line, from 1.
  private(set) var comments: [Int: String] = [:]
  private(set) var commentKinds: [Int: CommentKind] = [:]
  /// The lines that start inside a multi-line string.
  private(set) var literalLines: Set<Int> = []

  private let bytes: [UInt8]
  private var position = 0
  private var line = 1

  init(_ text: String) {
    bytes = Array(text.utf8)
    if text.hasPrefix("#!") { skipLine() }
    scan(untilParenthesisCloses: false)
  }

  private func byte(_ offset: Int = 0) -> UInt8 {
    let index = position + offset
    return index < bytes.count ? bytes[index] : 0
  }

  private func starts(with text: StaticString) -> Bool {
    text.withUTF8Buffer { wanted in
      position + wanted.count <= bytes.count
        && wanted.indices.allSatisfy { bytes[position + $0] == wanted[$0] }
    }
  }

  private mutating func advance() {
    if byte() == UInt8(ascii: "\n") { line += 1 }
    position += 1
  }

  private mutating func skipLine() {
    while position < bytes.count, byte() != UInt8(ascii: "\n") { position += 1 }
  }

  private func text(from start: Int) -> String {
    String(decoding: bytes[start..<min(position, bytes.count)], as: UTF8.self)
  }

  private mutating func scan(untilParenthesisCloses: Bool) {
    var depth = 0
    while position < bytes.count {
      let next = byte()
      if starts(with: "//") {
        scanLineComment()
      } else if starts(with: "/*") {
        scanBlockComment()
      } else if let hashes = hashesBeforeQuote() {
        scanString(hashes: hashes)
      } else if let length = regexLength() {
        tokens.append(Token(text: "/regex/", line: line))
        position += length
      } else if isWord(next) || next == UInt8(ascii: "`") {
        scanWord()
      } else if next == UInt8(ascii: " ") || next == UInt8(ascii: "\t")
        || next == UInt8(ascii: "\r") || next == UInt8(ascii: "\n")
      {
        advance()
      } else {
        tokens.append(Token(text: String(UnicodeScalar(next)), line: line))
        advance()
        if next == UInt8(ascii: "(") { depth += 1 }
        if next == UInt8(ascii: ")") {
          depth -= 1
          if untilParenthesisCloses, depth == 0 { return }
        }
      }
    }
  }

  private func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
      true
    default: false
    }
  }

  private mutating func scanWord() {
    let start = position
    if byte() == UInt8(ascii: "`") {
      position += 1
      while isWord(byte()) { position += 1 }
      position += 1
    } else {
      while isWord(byte()) { position += 1 }
    }
    tokens.append(Token(text: text(from: start), line: line))
  }

  private mutating func note(_ comment: String, _ kind: CommentKind) {
    comments[line, default: ""] += comment
    commentKinds[line] = kind
  }

  private mutating func scanLineComment() {
    let start = position
    let kind: CommentKind =
      starts(with: "///") && !starts(with: "////") ? .documentation : .plain
    skipLine()
    note(text(from: start), kind)
  }

  private mutating func scanBlockComment() {
    let kind: CommentKind = starts(with: "/**") ? .documentation : .plain
    var depth = 0
    var start = position
    repeat {
      if starts(with: "/*") {
        depth += 1
        position += 2
      } else if starts(with: "*/") {
        depth -= 1
        position += 2
      } else if byte() == UInt8(ascii: "\n") {
        note(text(from: start), kind)
        advance()
        start = position
      } else {
        position += 1
      }
    } while depth > 0 && position < bytes.count
    note(text(from: start), kind)
  }

  /// The number of `#` before a quote here; `nil` if no string starts here.
  private func hashesBeforeQuote() -> Int? {
    var hashes = 0
    while byte(hashes) == UInt8(ascii: "#") { hashes += 1 }
    return byte(hashes) == UInt8(ascii: "\"") ? hashes : nil
  }

  /// The length of the regex literal that starts here; `nil` if none does.
  private func regexLength() -> Int? {
    let hasHash = starts(with: "#/")
    guard hasHash || byte() == UInt8(ascii: "/") else { return nil }
    let before = tokens.last?.text ?? "("
    let next = byte(hasHash ? 2 : 1)
    guard hasHash || next != UInt8(ascii: " ") && next != UInt8(ascii: ")"),
      ["(", "[", "{", ",", "=", ":", "return", "in", "!", "|", "&"].contains(before)
    else { return nil }
    var length = hasHash ? 2 : 1
    while byte(length) != 0, byte(length) != UInt8(ascii: "\n") {
      if byte(length) == UInt8(ascii: "\\") {
        length += 1
      } else if byte(length) == UInt8(ascii: "/"), !hasHash || hashesFollow(length + 1, count: 1) {
        return length + (hasHash ? 2 : 1)
      }
      length += 1
    }
    return nil
  }

  private func hashesFollow(_ offset: Int, count: Int) -> Bool {
    (0..<count).allSatisfy { byte(offset + $0) == UInt8(ascii: "#") }
  }

  private mutating func scanString(hashes: Int) {
    let start = position
    let index = tokens.count
    tokens.append(Token(text: "", line: line))
    position += hashes
    let isMultiline = starts(with: "\"\"\"")
    let quotes = isMultiline ? 3 : 1
    position += quotes
    while position < bytes.count {
      if byte() == UInt8(ascii: "\n") {
        guard isMultiline else { break }
        advance()
        literalLines.insert(line)
      } else if byte() == UInt8(ascii: "\\"), hashesFollow(1, count: hashes) {
        position += 1 + hashes
        if byte() == UInt8(ascii: "(") {
          scan(untilParenthesisCloses: true)
        } else if byte() != UInt8(ascii: "\n") {
          position += 1
        }
      } else if isMultiline ? starts(with: "\"\"\"") : byte() == UInt8(ascii: "\""),
        hashesFollow(quotes, count: hashes)
      {
        position += quotes + hashes
        break
      } else {
        position += 1
      }
    }
    tokens[index].text = text(from: start)
  }
}
