extension Character {
  /// The width on a terminal in columns: 0, 1 or 2.
  ///
  /// Emoji and wide East Asian letters take two columns; combining characters take none.
  package var displayWidth: Int {
    guard let first = unicodeScalars.first else { return 0 }
    if unicodeScalars.count > 1, unicodeScalars.contains("\u{FE0F}") { return 2 }
    if first.properties.isEmojiPresentation { return 2 }
    switch first.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control: return 0
    default: return Self.wide.contains { $0.contains(first.value) } ? 2 : 1
    }
  }

  /// The blocks of wide letters, from Unicode's East Asian Width (W and F).
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
    0xA000...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19,
    0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18CFF, 0x1AFF0...0x1B2FF,
    0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD,
  ]
}

extension StringProtocol {
  /// The width on a terminal in columns.
  package var displayWidth: Int { reduce(0) { $0 + $1.displayWidth } }

  /// Truncated to at most `width` columns, with an ellipsis.
  package func cut(to width: Int) -> String {
    guard displayWidth > width else { return String(self) }
    guard width > 0 else { return "" }
    var left = width - 1
    var kept = ""
    for character in self {
      left -= character.displayWidth
      guard left >= 0 else { break }
      kept.append(character)
    }
    return kept + "…"
  }
}
