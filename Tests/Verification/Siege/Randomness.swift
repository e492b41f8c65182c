/// Random numbers that a seed decides: the same siege again for the same seed.
struct Randomness: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }

  /// One of the numbers from 0 up to `bound`, which is at least 1.
  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(max(1, bound))) }

  /// Whether something that happens `percent` times in a hundred happens now.
  mutating func happens(_ percent: Int) -> Bool { below(100) < percent }

  /// One of `choices`, which are not empty.
  mutating func pick<Choice>(_ choices: [Choice]) -> Choice { choices[below(choices.count)] }

  /// Any bytes.
  mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: next() >> 11) }
  }

  /// `bytes` with some of them changed, removed, doubled or put in.
  mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0...below(4) {
      guard !bytes.isEmpty else { break }
      let place = below(bytes.count)
      switch below(6) {
      case 0: bytes[place] = UInt8(truncatingIfNeeded: next())
      case 1: bytes[place] ^= UInt8(1 << below(8))
      case 2: bytes.remove(at: place)
      case 3: bytes.insert(pick([0, 9, 10, 13, 32, 34, 37, 44, 58, 91, 92, 123, 255]), at: place)
      case 4:
        let end = min(bytes.count, place + 1 + below(16))
        bytes.insert(contentsOf: Array(bytes[place..<end]), at: place)
      default: bytes.removeSubrange(place..<min(bytes.count, place + 1 + below(16)))
      }
    }
    return bytes
  }
}
