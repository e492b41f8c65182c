import Foundation

/// Comparisons of texts that the standard library lacks.
enum PredicateText {
  /// The words that a search ignores; see CS-73.
  static let stopWords: Set<String> = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it",
    "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these",
    "they", "this", "to", "was", "will", "with",
  ]

  /// The words of a text that a search considers.
  static func tokens(_ text: String) -> [String] {
    words(text).filter { !stopWords.contains($0) }
  }

  /// The words of a text: lower case, without accents.
  static func words(_ text: String) -> [String] {
    text.folding(
      options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil
    ).split { !$0.isLetter && !$0.isNumber }.map(String.init)
  }

  /// Whether `text` has `part` in it, byte for byte; no text has the empty part.
  static func contains(_ text: String, _ part: String) -> Bool {
    let (text, part) = (Array(text.utf8), Array(part.utf8))
    guard let first = part.first, part.count <= text.count else { return false }
    return (0...(text.count - part.count)).contains { start in
      text[start] == first && text[start..<(start + part.count)].elementsEqual(part)
    }
  }

  /// Whether `text` has the shape `pattern`: `?` is one character, `*` any number, `\` quotes.
  static func matches(_ text: String, like pattern: String) -> Bool {
    enum Shape { case one, many, exactly(Character) }
    var shapes: [Shape] = []
    var isQuoted = false
    for character in pattern {
      if isQuoted {
        shapes.append(.exactly(character))
        isQuoted = false
      } else if character == "\\" {
        isQuoted = true
      } else {
        shapes.append(character == "?" ? .one : character == "*" ? .many : .exactly(character))
      }
    }
    let characters = Array(text)
    var (index, shape) = (0, 0)
    var retry: (index: Int, shape: Int)?
    while index < characters.count {
      if shape < shapes.count {
        switch shapes[shape] {
        case .many:
          shape += 1
          retry = (index, shape)
          continue
        case .one:
          (index, shape) = (index + 1, shape + 1)
          continue
        case .exactly(let character):
          if character == characters[index] {
            (index, shape) = (index + 1, shape + 1)
            continue
          }
        }
      }
      guard let last = retry else { return false }
      retry = (last.index + 1, last.shape)
      (index, shape) = (last.index + 1, last.shape)
    }
    return shapes[shape...].allSatisfy { if case .many = $0 { true } else { false } }
  }

  /// Whether the regular expression `expression` matches all of `text`; a broken one never does.
  static func matches(
    _ text: String, expression: String, _ options: PredicateComparison.Options
  ) -> Bool {
    let (text, expression) =
      options.contains(.diacriticInsensitive)
      ? (
        text.folding(options: .diacriticInsensitive, locale: nil),
        expression.folding(options: .diacriticInsensitive, locale: nil)
      ) : (text, expression)
    guard
      let compiled = try? NSRegularExpression(
        pattern: "\\A(?:\(expression))\\z",
        options: options.contains(.caseInsensitive) ? .caseInsensitive : [])
    else { return false }
    let range = NSRange(location: 0, length: text.utf16.count)
    return compiled.firstMatch(in: text, options: [], range: range) != nil
  }
}
