import Records

/// The words of a text for full-text search, without case and diacritics.
///
/// A word is a run of letters, digits and marks; an ideograph is one by itself.
/// Rules: CS-71 to CS-90.
enum TextTokens {
  /// Words too common to search for.
  static let stopWords: Set<String> = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it",
    "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these",
    "they", "this", "to", "was", "will", "with",
  ]

  /// The words of `text`, in order.
  static func all(in text: String) -> [String] {
    // Most long texts are ASCII, where a character is a byte.
    if text.utf8.allSatisfy({ $0 < 0x80 }) {
      return text.lowercased().utf8.split { !$0.isLetterOrDigit }.map { String(Substring($0)) }
    }
    var words: [String] = []
    var word = ""
    func end() {
      if !word.isEmpty { words.append(word) }
      word = ""
    }
    for character in text.lowercased() {
      guard character.isLetter || character.isNumber else {
        end()
        continue
      }
      let isWord = character.unicodeScalars.first?.properties.isIdeographic ?? false
      if isWord { end() }
      for scalar in character.unicodeScalars { append(scalar, to: &word) }
      if isWord { end() }
    }
    end()
    return words
  }

  /// The words of `text` to search for, each once.
  static func wanted(in text: String) -> Set<String> {
    Set(all(in: text)).subtracting(stopWords)
  }

  private static func append(_ scalar: Unicode.Scalar, to word: inout String) {
    // Combining marks of Latin, Greek and Cyrillic letters.
    if (0x300...0x36f).contains(scalar.value) { return }
    word.unicodeScalars.append(scalar.isASCII ? scalar : plainLetters[scalar] ?? scalar)
  }

  /// The letters without diacritics, by those with them, of the scripts in which they are common.
  ///
  /// Derived from the Unicode names: the part before " WITH " is the name of the plain letter.
  private static let plainLetters: [Unicode.Scalar: Unicode.Scalar] = {
    // Cyrillic letters whose names do not contain their marks.
    var letters: [Unicode.Scalar: Unicode.Scalar] = [
      "\u{439}": "\u{438}", "\u{451}": "\u{435}", "\u{450}": "\u{435}", "\u{45d}": "\u{438}",
      "\u{457}": "\u{456}", "\u{453}": "\u{433}", "\u{45c}": "\u{43a}", "\u{45e}": "\u{443}",
    ]
    var plain: [Substring: Unicode.Scalar] = [:]
    let plainRanges = [0x61...0x7a, 0xe6...0xe6, 0x3b1...0x3c9, 0x430...0x45f, 0x4d9...0x4e9]
    for scalar in plainRanges.joined().compactMap({ Unicode.Scalar(UInt32($0)) }) {
      if let name = scalar.properties.name { plain[name[...]] = scalar }
    }
    // Latin, Greek and Cyrillic, with their extensions.
    let ranges = [
      0xe0...0x52f, 0x1d00...0x1fff, 0x2c60...0x2c7f, 0xa640...0xa7ff, 0xab30...0xab6f,
      0x1df00...0x1dfff,
    ]
    for scalar in ranges.joined().compactMap({ Unicode.Scalar(UInt32($0)) }) {
      guard letters[scalar] == nil, let name = scalar.properties.name,
        let end = name.firstRange(of: " WITH ")?.lowerBound, let base = plain[name[..<end]]
      else { continue }
      letters[scalar] = base
    }
    return letters
  }()
}

extension UInt8 {
  fileprivate var isLetterOrDigit: Bool {
    (0x61...0x7a).contains(self) || (0x30...0x39).contains(self)
  }
}
