/// A small generator whose numbers follow from its seed, the same on every machine.
package struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  /// The numbers that belong to a seed.
  package init(seed: UInt64) { state = seed }

  /// The next number.
  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
    return value ^ (value >> 31)
  }

  /// A number from 0 to `count` - 1.
  package mutating func below(_ count: Int) -> Int { Int(next() % UInt64(count)) }

  /// True once in `count` times, on average.
  package mutating func once(in count: Int) -> Bool { below(count) == 0 }

  /// One of `choices`, which are not empty.
  package mutating func one<Choice>(of choices: [Choice]) -> Choice {
    choices[below(choices.count)]
  }

  /// So many values, from 0 to `most`.
  package mutating func some<Value>(
    _ most: Int, _ make: (inout SeededGenerator) -> Value
  ) -> [Value] {
    var values: [Value] = []
    for _ in 0..<below(most + 1) { values.append(make(&self)) }
    return values
  }

  /// A value, or none once in three times.
  package mutating func maybe<Value>(_ make: (inout SeededGenerator) -> Value) -> Value? {
    once(in: 3) ? nil : make(&self)
  }
}
