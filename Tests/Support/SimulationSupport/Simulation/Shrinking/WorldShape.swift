/// The differences of a world from the one that its seed describes.
package struct WorldShape: Hashable, Sendable {
  /// The number of steps in which faults happen.
  var steps: Int
  /// The parts that are removed, in the order in which they were.
  var reductions: [WorldReduction] = []
  /// A number that changes the choices of a world of engines; 0 for the choices of the seed.
  var variation: UInt64 = 0
  /// The choices of a world of machines; `nil` for those of the seed.
  var tape: ChoiceTape?
  /// Whether the choices of a world of machines are recorded.
  var recordsChoices = false

  init(steps: Int) { self.steps = steps }

  func lacks(_ reduction: WorldReduction) -> Bool { reductions.contains(reduction) }

  /// The generator of the world of `seed`.
  func choices(of seed: UInt64) -> SeededRandom {
    if let tape { return SeededRandom(playing: tape) }
    return recordsChoices ? SeededRandom(recording: seed) : SeededRandom(seed: seed)
  }
}

/// A part that can be removed from a world.
enum WorldReduction: String, CaseIterable, Sendable {
  case fewerDevices, oneAccount, oneZone, oneRecord
  case loss, answerLoss, doubling, pushLoss, delay
  case unavailable, throttled, refused, partial, clockJumps
  // Kinds of actions.
  case crash, offline, account, administration, expiry, serverRestart, outage, quota
  case cancel, deleteZone, delete, manualFetch, manualSend
  // Parts that only worlds of engines have.
  case diskFaults, serverFile, powerCuts, delegateFaults, pauses, scopes, sharing, names

  /// Removes the part from `options`.
  func apply(to options: inout WorldOptions) {
    switch self {
    case .fewerDevices: options.deviceCount = max(1, options.deviceCount - 1)
    case .oneAccount: options.accountCount = 1
    case .oneZone: options.zoneCount = 1
    case .oneRecord: options.recordsPerZone = max(1, options.recordsPerZone / 2)
    case .loss: options.network.loss = 0
    case .answerLoss: options.network.answerLoss = 0
    case .doubling: options.network.doubling = 0
    case .pushLoss: options.network.pushLoss = 0
    case .delay: options.network.longestDelay = 1
    case .unavailable: options.server.unavailable = 0
    case .throttled: options.server.throttled = 0
    case .refused: options.server.refused = 0
    case .partial: options.server.partial = 0
    case .clockJumps: options.server.clockJump = 0
    case .crash, .offline, .account, .administration, .expiry, .serverRestart, .outage, .quota,
      .cancel, .deleteZone, .delete, .manualFetch, .manualSend:
      if let action = WorldAction(rawValue: rawValue) { options.weights[action] = 0 }
    case .diskFaults, .serverFile, .powerCuts, .delegateFaults, .pauses, .scopes, .sharing, .names:
      break
    }
  }

  /// The number of times that the part can be removed.
  var limit: Int { self == .fewerDevices || self == .oneRecord ? 4 : 1 }
}
