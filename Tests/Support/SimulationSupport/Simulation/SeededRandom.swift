/// Random numbers that a seed decides (the SplitMix64 generator), the same on every machine.
///
/// They can be recorded as a tape, and come from a tape again: then a choice that is missing is the
/// benign one, so that a tape may be cut anywhere.
package struct SeededRandom: Sendable {
  /// The source of the next number.
  private enum Source {
    case seed
    case recorder(ChoiceTape)
    case player(ChoiceTape.Player)
  }

  private var state: UInt64
  private var source = Source.seed

  /// The numbers that belong to `seed`; neighbouring seeds give unrelated numbers.
  package init(seed: UInt64) {
    state = seed
    _ = draw()
  }

  /// The same numbers, recorded.
  package init(recording seed: UInt64) {
    self.init(seed: seed)
    source = .recorder(ChoiceTape())
  }

  /// The choices on `tape`.
  package init(playing tape: ChoiceTape) {
    self.init(seed: 0)
    source = .player(ChoiceTape.Player(tape))
  }

  /// The recorded choices so far; `nil` without a recording.
  package var tape: ChoiceTape? {
    guard case .recorder(let tape) = source else { return nil }
    return tape
  }

  /// Starts the choices of the next step.
  package mutating func beginStep(isHealing: Bool) {
    switch source {
    case .seed: break
    case .recorder(var tape):
      source = .seed
      tape.beginStep(isHealing: isHealing)
      source = .recorder(tape)
    case .player(var player):
      player.beginStep(isHealing: isHealing)
      source = .player(player)
    }
  }

  private mutating func draw() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
    return value ^ (value >> 31)
  }

  /// The next choice; `nil` for the benign one.
  private mutating func choose() -> UInt64? {
    switch source {
    case .seed: return draw()
    case .recorder(var tape):
      let value = draw()
      source = .seed  // So that the tape is not copied.
      tape.note(value)
      source = .recorder(tape)
      return value
    case .player(var player):
      let value = player.next()
      source = .player(player)
      return value
    }
  }

  /// Any number; 0 is the benign choice.
  package mutating func next() -> UInt64 { choose() ?? 0 }

  /// A number from 0 up to `bound`, which must be positive; 0 is the benign choice.
  package mutating func below(_ bound: Int) -> Int {
    Int(next().multipliedFullWidth(by: UInt64(bound)).high)
  }

  /// A number of `range`.
  package mutating func number(in range: ClosedRange<Int>) -> Int {
    range.lowerBound + below(range.count)
  }

  /// A fraction from 0 up to 1.
  package mutating func fraction() -> Double { Self.fraction(next()) }

  private static func fraction(_ number: UInt64) -> Double { Double(number >> 11) * 0x1p-53 }

  /// Whether something of this probability happens; that it does not is the benign choice.
  package mutating func chance(_ probability: Double) -> Bool {
    // A rate of zero draws nothing, so that shrinking a rate to zero removes its choices.
    guard probability > 0, let number = choose() else { return false }
    return Self.fraction(number) < probability
  }

  /// One of `choices`, which must not be empty.
  package mutating func pick<Choice>(_ choices: [Choice]) -> Choice {
    choices[below(choices.count)]
  }
}
