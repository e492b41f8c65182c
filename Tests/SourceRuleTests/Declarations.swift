/// Words that may stand between a declaration's first word and its keyword.
private let modifiers: Set<String> = [
  "public", "package", "internal", "private", "fileprivate", "open", "static", "class", "final",
  "mutating", "nonmutating", "nonisolated", "isolated", "indirect", "override", "convenience",
  "required", "lazy", "weak", "unowned", "consuming", "borrowing", "dynamic", "prefix", "postfix",
  "infix", "distributed",
]

/// Words that name a kind of declaration.
let declarationKeywords: Set<String> = [
  "func", "var", "let", "struct", "enum", "class", "actor", "protocol", "extension", "typealias",
  "associatedtype", "init", "subscript", "case", "operator", "macro", "precedencegroup",
]

/// Words that continue a signature on a new line.
private let continuations: Set<String> = [
  "where", "throws", "rethrows", "async", "-", "{", "&", ":", "<", ">", ",",
]

extension SourceFile {
  /// The bracket that closes the one at `open`.
  func closing(of open: Int) -> Int? {
    var depth = 0
    for index in open..<tokens.count {
      switch tokens[index].text {
      case "(", "[", "{": depth += 1
      case ")", "]", "}":
        depth -= 1
        if depth == 0 { return index }
      default: break
      }
    }
    return nil
  }

  /// The bracket that opens what closes at `close`.
  func opening(of close: Int) -> Int? {
    var depth = 0
    for index in stride(from: close, through: 0, by: -1) {
      switch tokens[index].text {
      case ")", "]", "}": depth += 1
      case "(", "[", "{":
        depth -= 1
        if depth == 0 { return index }
      default: break
      }
    }
    return nil
  }

  /// Whether the word at `index` is a keyword here, and not a member's or an argument's name.
  func isKeyword(at index: Int) -> Bool {
    if index > 0, tokens[index - 1].text == "." { return false }
    guard index + 1 < tokens.count else { return true }
    return tokens[index + 1].text != ":" || tokens[index].text == "default"
  }

  /// The first token of the declaration whose keyword or modifier is at `index`.
  func start(ofDeclarationAt index: Int) -> Int {
    var start = index
    while start > 0 {
      var word = start - 1
      if tokens[word].text == ")", let open = opening(of: word), open > 0 { word = open - 1 }
      let isAttribute = word > 0 && tokens[word - 1].text == "@"
      if isAttribute {
        start = word - 1
      } else if modifiers.contains(tokens[word].text), isKeyword(at: word) {
        start = word
      } else {
        break
      }
    }
    return start
  }

  /// The keyword of the declaration whose modifier is at `index`; `nil` when it is none.
  func keyword(ofDeclarationAt index: Int) -> Int? {
    var index = index
    while index < tokens.count {
      let text = tokens[index].text
      let next = index + 1 < tokens.count ? tokens[index + 1].text : ""
      if text == "class", modifiers.contains(next) || declarationKeywords.contains(next) {
        index += 1
      } else if declarationKeywords.contains(text) {
        return index
      } else if text == "@" {
        index += 2
        if index < tokens.count, tokens[index].text == "(" {
          index = (closing(of: index) ?? tokens.count) + 1
        }
      } else if modifiers.contains(text) {
        index += 1
        if next == "(" { index = (closing(of: index) ?? tokens.count) + 1 }
      } else {
        return nil
      }
    }
    return nil
  }

  /// The braces of what is declared with the keyword at `index`; `nil` for a mere requirement,
  /// a stored property or anything else without a body.
  func body(ofDeclarationAt index: Int) -> ClosedRange<Int>? {
    let isProperty = tokens[index].text == "var"
    var position = index + 1
    while position < tokens.count {
      let token = tokens[position]
      let previous = tokens[position - 1]
      if token.line > previous.line, position > index + 1, !continuations.contains(token.text),
        ![",", "&", ":", "where"].contains(previous.text)
      {
        return nil
      }
      switch token.text {
      case "(", "[":
        guard let close = closing(of: position) else { return nil }
        position = close
      case "{": return closing(of: position).map { position...$0 }
      case ")", "]", "}": return nil
      case "=" where isProperty: return nil
      case "in" where isProperty: return nil
      default: break
      }
      position += 1
    }
    return nil
  }
}
