/// Random numbers that a seed decides (the SplitMix64 generator), the same on every machine.
package struct SeededRandom {
  private var state: UInt64

  /// The numbers that belong to `seed`; neighbouring seeds give unrelated numbers.
  package init(seed: UInt64) {
    state = seed
    _ = next()
  }

  /// Any number.
  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
    return value ^ (value >> 31)
  }

  /// A number from 0 up to `bound`, which must be positive.
  package mutating func below(_ bound: Int) -> Int {
    Int(next().multipliedFullWidth(by: UInt64(bound)).high)
  }

  /// A number of `range`.
  package mutating func number(in range: ClosedRange<Int>) -> Int {
    range.lowerBound + below(range.count)
  }

  /// A fraction from 0 up to 1.
  package mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// Whether something of this probability happens.
  package mutating func chance(_ probability: Double) -> Bool {
    // A rate of zero draws nothing, so that shrinking a rate to zero removes its choices.
    probability > 0 && fraction() < probability
  }

  /// One of `choices`, which must not be empty.
  package mutating func pick<Choice>(_ choices: [Choice]) -> Choice {
    choices[below(choices.count)]
  }
}
