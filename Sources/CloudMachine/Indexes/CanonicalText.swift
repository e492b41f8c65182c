/// Tells whether the order of a text is that of its bytes.
enum CanonicalText {
  /// Whether `text` is known to be in Unicode's normalization form C, in which the order of texts
  /// is the order of their bytes.
  ///
  /// The answer is `false` for some texts in that form: those with characters that may combine with
  /// the one before them, and with characters that this version of Unicode does not know.
  static func isCanonical(_ text: String) -> Bool {
    // Of the scalars below 0x300, in UTF-8 below 0xcc 0x80, none combines.
    if text.utf8.allSatisfy({ $0 < 0xcc }) { return true }
    var last: UInt8 = 0
    for scalar in text.unicodeScalars {
      if scalar.value < 0x300 {
        last = 0
        continue
      }
      let properties = scalar.properties
      let rank = properties.canonicalCombiningClass.rawValue
      if properties.generalCategory == .unassigned || properties.isFullCompositionExclusion
        || (rank != 0 && last > rank) || mayCombine(scalar)
      {
        return false
      }
      last = rank
    }
    return true
  }

  /// Whether a scalar may combine with one before it.
  ///
  /// Source: the second members of the canonical decompositions in UnicodeData.txt, version 16,
  /// and the jamo of Hangul; the ranges contain others, too.
  private static func mayCombine(_ scalar: Unicode.Scalar) -> Bool {
    combining.contains { $0.contains(scalar.value) }
  }

  private static let combining: [ClosedRange<UInt32>] = [
    0x300...0x345, 0x653...0x655, 0x93c...0x93c, 0x9be...0x9d7, 0xb3e...0xb57, 0xbbe...0xbd7,
    0xc56...0xc56, 0xcc2...0xcd6, 0xd3e...0xd57, 0xdca...0xddf, 0x102e...0x102e,
    0x1161...0x1175, 0x11a8...0x11c2, 0x1b35...0x1b35, 0x3099...0x309a, 0x110ba...0x11930,
    0x16100...0x1613f, 0x16d40...0x16d7f,
  ]
}
