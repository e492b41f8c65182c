/// The query parameters of a request; each name is known and occurs once.
///
/// Unknown parameters are rejected: a misspelled parameter would otherwise be ignored silently.
struct ControlQuery {
  private var values: [String: String] = [:]

  /// Parses the query string; `nil` means that there is none.
  init(_ text: String?, knowing names: Set<String>) throws(HTTPRefusal) {
    guard let text, !text.isEmpty else { return }
    for pair in text.utf8.split(separator: 0x26, omittingEmptySubsequences: false) {
      guard let equals = pair.firstIndex(of: 0x3D) else {
        throw HTTPRefusal(400, "a parameter needs a name, an equals sign and a value")
      }
      guard let name = QueryItems.decoded(pair[..<equals]),
        let value = QueryItems.decoded(pair[pair.index(after: equals)...])
      else { throw HTTPRefusal(400, "a parameter is not valid percent-encoded UTF-8") }
      guard names.contains(name) else {
        let known = names.sorted().joined(separator: ", ")
        throw HTTPRefusal(
          400,
          names.isEmpty
            ? "this endpoint takes no parameters" : "this endpoint takes these parameters: \(known)"
        )
      }
      guard values.updateValue(value, forKey: name) == nil else {
        throw HTTPRefusal(400, "the parameter '\(name)' occurs twice")
      }
    }
  }

  /// The parameter called `name`; `nil` when it is not there.
  func optionalText(_ name: String) -> String? { values[name] }

  /// The parameter called `name`, which must be there.
  func text(_ name: String) throws(HTTPRefusal) -> String {
    guard let value = values[name], !value.isEmpty else {
      throw HTTPRefusal(400, "the parameter '\(name)' is missing")
    }
    return value
  }

  /// Whether the parameter called `name` says `true`; `false` when it is not there.
  func flag(_ name: String) throws(HTTPRefusal) -> Bool {
    guard let text = values[name] else { return false }
    guard let flag = Bool(text) else { throw HTTPRefusal(400, "'\(name)' must be true or false") }
    return flag
  }

  /// The whole number called `name`, within `range`.
  func count<Number: FixedWidthInteger>(
    _ name: String, in range: ClosedRange<Number>, or other: Number
  ) throws(HTTPRefusal) -> Number {
    guard let text = values[name] else { return other }
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Number(text),
      range.contains(number)
    else {
      throw HTTPRefusal(
        400, "'\(name)' must be a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// The word called `name`, one of those that `Word` has.
  func word<Word: CaseIterable>(
    _ name: String, or other: Word, spelled: (Word) -> String
  ) throws(HTTPRefusal) -> Word {
    try values[name].map { (text) throws(HTTPRefusal) in
      try Word.named(text, in: name, spelled: spelled)
    } ?? other
  }
}
