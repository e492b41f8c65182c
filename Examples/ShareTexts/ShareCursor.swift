/// A place in uniform text, and the small things that can be read there.
///
/// Every method that finds nothing leaves the cursor where it was.
struct ShareCursor: Sendable {
  private let text: [Unicode.Scalar]

  /// The place.
  var index: Int

  /// Where reading stops.
  let end: Int

  /// A cursor at the beginning of a part of `text`.
  init(_ text: [Unicode.Scalar], _ range: Range<Int>) {
    self.text = text
    index = range.lowerBound
    end = range.upperBound
  }

  /// A cursor that reads on from here, to the end of this line and `lines` - 1 more.
  func ahead(lines: Int) -> ShareCursor {
    var rest = lines
    var place = index
    while place < end {
      if text[place] == "\n" {
        rest -= 1
        if rest <= 0 { break }
      }
      place += 1
    }
    return ShareCursor(text, index..<place)
  }

  /// Reads something; if there is nothing, the cursor stays where it was.
  mutating func attempt<Found>(_ read: (inout ShareCursor) -> Found?) -> Found? {
    var ahead = self
    guard let found = read(&ahead) else { return nil }
    self = ahead
    return found
  }

  /// The scalar at the cursor; `nil` at the end.
  var next: Unicode.Scalar? { index < end ? text[index] : nil }

  /// Goes past blanks, with `lines` past line ends too, and past the marks of quoted lines there.
  mutating func skipBlanks(lines: Bool = false) {
    var isAtLineStart = false
    while let next {
      if lines, next == "\n" {
        isAtLineStart = true
      } else if next != " ", !(isAtLineStart && next == ">") {
        return
      }
      index += 1
    }
  }

  /// Goes past `word` in any case, which has to end there unless it is a sign; a blank in it stands
  /// for any number of blanks.
  mutating func take(_ word: String) -> Bool {
    var place = index
    for expected in word.unicodeScalars {
      if expected == " ", place < end, text[place] == " " {
        while place < end, text[place] == " " { place += 1 }
        continue
      }
      guard place < end, text[place].lowercasedASCII == expected.lowercasedASCII else {
        return false
      }
      place += 1
    }
    if let last = word.unicodeScalars.last, last.isLetterASCII, place < end,
      text[place].isLetterASCII
    {
      return false
    }
    index = place
    return true
  }

  /// Reads digits as a number; more than nine of them are none.
  mutating func number() -> Int? {
    var place = index
    var value = 0
    while place < end, let digit = text[place].digit {
      guard place - index < 9 else { return nil }
      value = value * 10 + digit
      place += 1
    }
    guard place > index else { return nil }
    index = place
    return value
  }

  /// Reads a puzzle's number: an optional `#`, then digits, grouped in threes by commas, points,
  /// apostrophes or blanks as people's languages do it.
  mutating func puzzleNumber() -> Int? {
    attempt { cursor in
      cursor.skipBlanks()
      if cursor.take("#") || cursor.take("№") || cursor.take("no.") { cursor.skipBlanks() }
      let first = cursor.index
      guard var value = cursor.number() else { return nil }
      guard cursor.index - first <= 3 else { return value }
      while let group = cursor.groupOfThree(), value < 1_000_000 { value = value * 1_000 + group }
      return value
    }
  }

  private mutating func groupOfThree() -> Int? {
    attempt { cursor in
      guard let separator = cursor.next, ",.'’ ".unicodeScalars.contains(separator) else {
        return nil
      }
      cursor.index += 1
      let first = cursor.index
      guard let value = cursor.number(), cursor.index - first == 3, cursor.next?.value != 0x20e3,
        // "Wordle 123 456/6" is no grouped number: a slash makes it an outcome.
        !(separator == " " && cursor.next == "/")
      else { return nil }
      return value
    }
  }

  /// Reads an outcome such as `4/6` or `X/6`.
  mutating func outcome() -> ShareOutcome? {
    attempt { cursor in
      cursor.skipBlanks()
      let used = cursor.number()
      guard used != nil || cursor.take("x") || cursor.take("-") else { return nil }
      cursor.skipBlanks()
      guard cursor.take("/") else { return nil }
      cursor.skipBlanks()
      return cursor.number().map { ShareOutcome(used: used, limit: $0) }
    }
  }

  /// Reads a time such as `0:47` or `1:02:03`, in seconds.
  mutating func duration() -> Int? {
    attempt { cursor in
      guard var seconds = cursor.number(), cursor.next == ":" else { return nil }
      var parts = 0
      while cursor.next == ":" {
        cursor.index += 1
        let first = cursor.index
        guard let part = cursor.number(), cursor.index - first == 2, part < 60, seconds < 100_000
        else { return nil }
        seconds = seconds * 60 + part
        parts += 1
      }
      return parts <= 2 ? seconds : nil
    }
  }

  /// Reads a date: `2026-11-03`, `9.7.2024` (day first) or `11/3/2026` (month first).
  mutating func day() -> PuzzleDay? {
    attempt { cursor in
      guard let first = cursor.number(), let separator = cursor.next,
        "-./".unicodeScalars.contains(separator)
      else { return nil }
      cursor.index += 1
      guard let second = cursor.number(), cursor.next == separator else { return nil }
      cursor.index += 1
      guard let third = cursor.number() else { return nil }
      return switch separator {
      case "-": PuzzleDay(first, second, third)
      case ".": PuzzleDay(third, second, first)
      default: PuzzleDay(third, first, second)
      }
    }
  }

  /// Reads a date such as `Nov 3, 2026`.
  mutating func namedDay() -> PuzzleDay? {
    attempt { cursor in
      let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
      ]
      let name = cursor.word().lowercased().prefix(3)
      cursor.skipBlanks()
      guard let month = months.firstIndex(of: String(name)), let day = cursor.number() else {
        return nil
      }
      _ = cursor.take(",")
      cursor.skipBlanks()
      return cursor.number().flatMap { PuzzleDay($0, month + 1, day) }
    }
  }

  /// Reads the letters at the cursor.
  mutating func word() -> String {
    var word = String.UnicodeScalarView()
    while let next, next.isLetterASCII {
      word.append(next)
      index += 1
    }
    return String(word)
  }

  /// The first thing `read` finds at or after the cursor; the cursor goes behind it.
  mutating func find<Found>(_ read: (inout ShareCursor) -> Found?) -> Found? {
    var place = self
    while place.index < end {
      let isInsideNumber =
        place.index > 0 && place.index > index && text[place.index - 1].digit != nil
        && text[place.index].digit != nil
      let start = place.index
      if !isInsideNumber, let found = read(&place) {
        index = place.index
        return found
      }
      place.index = start + 1
    }
    return nil
  }
}

/// What stands before the slash, and behind it.
struct ShareOutcome: Hashable, Sendable {
  /// The attempts used; `nil` for an X.
  var used: Int?
  /// The attempts allowed.
  var limit: Int
}

extension Unicode.Scalar {
  /// Whether this is one of the letters A to Z in either case.
  var isLetterASCII: Bool {
    (0x41...0x5a).contains(value) || (0x61...0x7a).contains(value)
  }

  /// The digit's value; `nil` for other scalars.
  var digit: Int? {
    (0x30...0x39).contains(value) ? Int(value - 0x30) : nil
  }

  fileprivate var lowercasedASCII: Unicode.Scalar {
    guard (0x41...0x5a).contains(value), let lower = Unicode.Scalar(value + 0x20) else {
      return self
    }
    return lower
  }
}
