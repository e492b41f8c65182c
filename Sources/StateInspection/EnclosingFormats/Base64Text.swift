/// Base64, of which as much is read as there is.
enum Base64Text {
  /// How bytes that may be or hold a state begin when they are written so: a state, a binary
  /// property list, JSON, XML.
  private static let starts = ["Q1NZTk", "YnBsaXN0", "ey", "PD94bWw", "PHBsaXN0"]

  /// Whether it is worth to decode the text.
  static func isCandidate(_ text: some Sequence<UInt8>) -> Bool {
    let start = Array(text.lazy.filter { !$0.isSpace }.prefix(8))
    return starts.contains { start.starts(with: $0.utf8) }
  }

  /// The bytes of the text up to the first character that does not belong there.
  static func decode(_ text: some Sequence<UInt8>) -> (bytes: [UInt8], isWhole: Bool) {
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    var count = 0
    var digits = 0
    var padding = 0
    for character in text where !character.isSpace {
      if character == UInt8(ascii: "=") {
        padding += 1
        continue
      }
      guard padding == 0, let value = value(of: character) else { return (bytes, false) }
      bits = bits << 6 | UInt32(value)
      count += 6
      digits += 1
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    let missing = (4 - digits % 4) % 4
    return (bytes, missing != 3 && (padding == missing || padding == 0))
  }

  private static func value(of character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
    case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
