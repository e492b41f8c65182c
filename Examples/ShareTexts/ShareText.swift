/// Pasted text made uniform, scalar by scalar, with the way back to the original.
///
/// Gone are variation selectors, zero-width and direction marks; all line ends are `\n`, all
/// blanks spaces, letters and digits of other widths and scripts plain ones, and
/// chat names of squares such as `:large_green_square:` the squares themselves.
struct ShareText: Sendable {
  /// The most scalars that are looked at.
  static let longest = 2_000_000

  private let original: [Unicode.Scalar]

  /// The uniform text.
  let scalars: [Unicode.Scalar]

  /// For each scalar of the uniform text its place in the original, and one more for the end.
  private let origins: [Int]

  /// Makes `text` uniform.
  ///
  /// - Throws: `ShareTextError.empty` or `.tooLong`.
  init(_ text: String) throws(ShareTextError) {
    guard text.utf8.count <= Self.longest * 4 else { throw .tooLong }
    let original = Array(text.unicodeScalars)
    guard original.count <= Self.longest else { throw .tooLong }
    var scalars: [Unicode.Scalar] = []
    var origins: [Int] = []
    var index = 0
    while index < original.count {
      let start = index
      let scalar = original[index]
      index += 1
      if scalar == "\r" {
        if index < original.count, original[index] == "\n" { index += 1 }
        scalars.append("\n")
      } else if scalar == ":", let (square, end) = Self.chatName(in: original, at: index) {
        scalars.append(square)
        index = end
      } else if let uniform = Self.uniform(scalar) {
        scalars.append(uniform)
      } else {
        continue
      }
      origins.append(start)
    }
    guard scalars.contains(where: { $0 != " " && $0 != "\n" }) else { throw .empty }
    self.original = original
    self.scalars = scalars
    self.origins = origins + [original.count]
  }

  /// The original text of a part of the uniform one, with `\n` as its line ends and without
  /// blanks around it.
  func original(_ range: Range<Int>) -> String {
    var end = range.upperBound
    while end > range.lowerBound, [" ", "\n"].contains(scalars[end - 1]) { end -= 1 }
    var start = range.lowerBound
    while start < end, [" ", "\n"].contains(scalars[start]) { start += 1 }
    guard start < end else { return "" }
    var text = String.UnicodeScalarView()
    for index in origins[start]..<origins[end] {
      let scalar = original[index]
      guard scalar != "\r" else {
        let isPair = index + 1 < original.count && original[index + 1] == "\n"
        if !isPair { text.append("\n") }
        continue
      }
      text.append(scalar)
    }
    while let last = text.last, Self.uniform(last).map({ $0 == " " || $0 == "\n" }) == true {
      text.removeLast()
    }
    return String(text)
  }

  /// The number of the line a place is in, from 1.
  func line(at index: Int) -> Int {
    1 + scalars[..<index].count { $0 == "\n" }
  }

  /// The uniform scalar for one that is not; `nil` for what shows nothing.
  private static func uniform(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
    switch scalar.value {
    case 0x0b, 0x0c, 0x85, 0x2028, 0x2029: "\n"
    case 0x09, 0xa0, 0x1680, 0x2000...0x200a, 0x202f, 0x205f, 0x3000: " "
    case 0xfe00...0xfe0f, 0x200b...0x200f, 0x202a...0x202e, 0x2060...0x206f, 0xfeff, 0xad: nil
    case 0xff01...0xff5e: Unicode.Scalar(scalar.value - 0xfee0)
    // Arabic, Persian and Hindi digits, those of the mathematical alphabets, and fraction slashes.
    case 0x0660...0x0669, 0x06f0...0x06f9, 0x0966...0x096f:
      Unicode.Scalar(0x30 + Self.digit(scalar.value))
    case 0x1d7ce...0x1d7ff: Unicode.Scalar(0x30 + (scalar.value - 0x1d7ce) % 10)
    case 0x066b, 0x066c: ","
    case 0x2044, 0x2215: "/"
    default: scalar
    }
  }

  private static func digit(_ value: UInt32) -> UInt32 {
    value < 0x06f0 ? value - 0x0660 : value < 0x0966 ? value - 0x06f0 : value - 0x0966
  }

  private static let chatNames: [(name: String, square: Unicode.Scalar)] = [
    ("large_green_square:", "🟩"), ("large_yellow_square:", "🟨"), ("large_orange_square:", "🟧"),
    ("large_blue_square:", "🟦"), ("large_purple_square:", "🟪"), ("large_red_square:", "🟥"),
    ("black_large_square:", "⬛"), ("white_large_square:", "⬜"),
  ]

  private static func chatName(
    in text: [Unicode.Scalar], at index: Int
  ) -> (square: Unicode.Scalar, end: Int)? {
    for (name, square) in chatNames where text[index...].starts(with: name.unicodeScalars) {
      return (square, index + name.unicodeScalars.count)
    }
    return nil
  }
}
