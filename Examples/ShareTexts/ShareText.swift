/// Pasted text made uniform, with the way back to the original.
///
/// Gone are variation selectors, zero-width and direction marks; all line ends are `\n`, all
/// blanks spaces, letters and digits of other widths and scripts plain ones, and
/// chat names of squares such as `:large_green_square:` the squares themselves.
struct ShareText: Sendable {
  /// The most scalars that are looked at.
  static let longest = 2_000_000

  /// The original text, with `\n` as its line ends.
  private let original: [Unicode.Scalar]
  /// The uniform text in UTF-16, in whose units regular expressions count.
  let units: [UInt16]
  /// For each unit of the uniform text its place in the original, and one more for the end.
  private let origins: [Int]

  /// Makes `text` uniform.
  ///
  /// - Throws: `ShareTextError.empty` or `.tooLong`.
  init(_ text: String) throws(ShareTextError) {
    guard text.unicodeScalars.count <= Self.longest else { throw .tooLong }
    var original: [Unicode.Scalar] = []
    var previous: Unicode.Scalar?
    for scalar in text.unicodeScalars {
      if scalar != "\n" || previous != "\r" { original.append(scalar == "\r" ? "\n" : scalar) }
      previous = scalar
    }
    var units: [UInt16] = []
    var origins: [Int] = []
    var index = 0
    while index < original.count {
      var uniform = Self.uniform(original[index])
      var length = 1
      let rest = original[(index + 1)...]
      if uniform == ":",
        let (name, square) = Self.chatNames.first(where: { rest.starts(with: $0.name) })
      {
        uniform = square
        length += name.count
      }
      for unit in uniform.map({ Array($0.utf16) }) ?? [] {
        units.append(unit)
        origins.append(index)
      }
      index += length
    }
    guard !units.allSatisfy(Self.isBlank) else { throw .empty }
    self.original = original
    self.units = units
    self.origins = origins + [original.count]
  }

  /// A part of the uniform text.
  func part(_ range: Range<Int>) -> String { String(decoding: units[range], as: UTF16.self) }

  /// The original text of a part of the uniform one, without blanks around it.
  func original(_ range: Range<Int>) -> String {
    guard let start = range.first(where: { !Self.isBlank(units[$0]) }),
      let end = range.last(where: { !Self.isBlank(units[$0]) })
    else { return "" }
    return String(String.UnicodeScalarView(original[origins[start]..<origins[end + 1]]))
  }

  /// The number of the line a place is in, from 1.
  func lineNumber(at index: Int) -> Int {
    1 + units[..<index].count { $0 == 0x0a }
  }

  /// The whole line, or lines, of a part.
  func line(of range: Range<Int>) -> Range<Int> {
    let start = (units[..<range.lowerBound].lastIndex(of: 0x0a) ?? -1) + 1
    return start..<lineEnd(at: range.upperBound)
  }

  /// The end of the line of `index`, or of the `count`th line from there.
  func lineEnd(at index: Int, lines count: Int = 1) -> Int {
    var end = index - 1
    for _ in 0..<count where end < units.count {
      end = units[(end + 1)...].firstIndex(of: 0x0a) ?? units.count
    }
    return end
  }

  private static func isBlank(_ unit: UInt16) -> Bool { unit == 0x20 || unit == 0x0a }

  /// The uniform scalar for one that is not; `nil` for what shows nothing.
  private static func uniform(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
    switch scalar.value {
    case 0x20...0x7e: return scalar
    case 0x0b, 0x0c, 0x85, 0x2028, 0x2029: return "\n"
    case 0x09: return " "
    case 0xff01...0xff5e: return Unicode.Scalar(scalar.value - 0xfee0)
    case 0x066b, 0x066c: return ","
    case 0x2044, 0x2215: return "/"
    default: break
    }
    let properties = scalar.properties
    if properties.isDefaultIgnorableCodePoint { return nil }
    if properties.generalCategory == .spaceSeparator { return " " }
    guard properties.numericType == .decimal, let digit = properties.numericValue else {
      return scalar
    }
    return Unicode.Scalar(0x30 + UInt8(digit))
  }

  private static let chatNames: [(name: String.UnicodeScalarView, square: Unicode.Scalar)] = [
    ("large_green_square:", "🟩"), ("large_yellow_square:", "🟨"), ("large_orange_square:", "🟧"),
    ("large_blue_square:", "🟦"), ("large_purple_square:", "🟪"), ("large_red_square:", "🟥"),
    ("black_large_square:", "⬛"), ("white_large_square:", "⬜"),
  ].map { (name: String, square: Unicode.Scalar) in (name.unicodeScalars, square) }
}
