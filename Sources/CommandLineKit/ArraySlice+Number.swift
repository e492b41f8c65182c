extension ArraySlice<String> {
  /// Takes the next word as the value of `option`, a whole number of `range`.
  ///
  /// Throws when there is none, or when it is no such number.
  package mutating func takeNumber<Number: FixedWidthInteger>(
    for option: String, in range: ClosedRange<Number>
  ) throws(UsageError) -> Number {
    guard let number = popFirst().flatMap({ Number($0) }), range.contains(number) else {
      throw UsageError("\(option) needs a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }
}
