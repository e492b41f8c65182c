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
    if scalar.isASCII {
      word.unicodeScalars.append(scalar)
      return
    }
    // Combining marks of Latin, Greek and Cyrillic letters.
    if (0x300...0x36f).contains(scalar.value) { return }
    word.unicodeScalars.append(base(of: scalar))
  }

  /// The letter without diacritics.
  ///
  /// Derived from the Unicode name: the part before " WITH " is the name of the plain letter.
  private static func base(of scalar: Unicode.Scalar) -> Unicode.Scalar {
    if let base = cyrillic[scalar] { return base }
    guard let words = scalar.properties.name?.split(separator: " "),
      let with = words.firstIndex(of: "WITH")
    else { return scalar }
    return plainLetters[words[..<with].joined(separator: " ")] ?? scalar
  }

  /// Cyrillic letters whose names do not contain their marks.
  private static let cyrillic: [Unicode.Scalar: Unicode.Scalar] = [
    "\u{439}": "\u{438}", "\u{451}": "\u{435}", "\u{450}": "\u{435}", "\u{45d}": "\u{438}",
    "\u{457}": "\u{456}", "\u{453}": "\u{433}", "\u{45c}": "\u{43a}", "\u{45e}": "\u{443}",
  ]

  /// Small letters by name, of the scripts in which marks are common.
  private static let plainLetters: [String: Unicode.Scalar] = {
    var letters: [String: Unicode.Scalar] = [:]
    for value in [0x61...0x7a, 0xe6...0xe6, 0x3b1...0x3c9, 0x430...0x45f, 0x4d9...0x4e9].joined() {
      guard let scalar = Unicode.Scalar(UInt32(value)), let name = scalar.properties.name else {
        continue
      }
      letters[name] = scalar
    }
    return letters
  }()
}
