import Records

/// The sharing of a world: one account shares its zones, the others are participants.
///
/// A third of the worlds have it. Its choices come from a generator of their own, so that worlds
/// without shares do not depend on it.
struct SharingOptions: Sendable {
  /// The account whose zones are shared, counted from 1.
  static let owner = 1

  /// How many of each zone's records are a tree that is shared as a hierarchy; 0 for a zone that is
  /// shared as a whole.
  var treeSizes: [Int]
  /// The probability that an action concerns sharing.
  var rate: Double
  /// Whether the first shares reach participants before anything goes wrong on the network.
  var startsQuietly: Bool
  /// The probability that a device runs an engine on its shared database.
  var guestRate: Double
  /// The generator of the world's further choices about shares.
  var random: SeededRandom

  /// The options of the world of `seed`, which is given two accounts and two devices at least;
  /// `nil` for a world without shares.
  init?(seed: UInt64, shape: WorldShape, options: inout WorldOptions) {
    var random = SeededRandom(seed: seed ^ 0x5368_6172_6573)
    guard random.chance(1.0 / 3), !shape.lacks(.sharing) else { return nil }
    options.accountCount = max(2, options.accountCount)
    options.deviceCount = max(2, options.deviceCount)
    treeSizes = []
    for _ in 0..<options.zoneCount {
      let count = options.recordsPerZone
      let isTree = count > 1 && random.chance(0.5)
      treeSizes.append(isTree ? random.number(in: 1...count - 1) : 0)
    }
    rate = random.pick([0.05, 0.1, 0.2])
    guestRate = random.pick([0.3, 0.8])
    // Twice the engines take twice the steps.
    options.steps *= 2
    options.actionRate = min(0.1, max(0.05, options.actionRate))
    startsQuietly = random.chance(0.7)
    if startsQuietly { Self.soften(&options) }
    self.random = random
  }

  /// Lets more requests through, so that participants get to read and to write meanwhile.
  private static func soften(_ options: inout WorldOptions) {
    options.network.longestDelay = min(500, options.network.longestDelay)
    options.network.loss /= 5
    options.network.answerLoss /= 5
    options.server.unavailable /= 5
    options.server.throttled /= 5
    options.server.refused /= 5
  }
}
