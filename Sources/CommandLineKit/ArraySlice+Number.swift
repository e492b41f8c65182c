extension ArraySlice<String> {
  /// Reads the next word as the value of `option`, an integer in `range`.
  ///
  /// Throws if it is missing or not such a number.
  package mutating func takeNumber<Number: FixedWidthInteger>(
    for option: String, in range: ClosedRange<Number>
  ) throws(UsageError) -> Number {
    guard let number = popFirst().flatMap({ Number($0) }), range.contains(number) else {
      throw UsageError("\(option) needs a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }
}
