/// What a world is like, drawn from its seed: swarm style, each world with faults of its own and
/// without others, so that rare meetings happen somewhere.
struct WorldOptions: Sendable {
  var deviceCount: Int
  var accountCount: Int
  var zoneCount: Int
  var recordsPerZone: Int
  /// The number of steps of the phase with faults.
  var steps: Int
  var network: NetworkRates
  var server: ServerRates
  /// The weights of the actions.
  var weights: [WorldAction: Int]
  /// The probability that a step is an action, instead of the next event that is due.
  var actionRate: Double

  /// The faults of messages.
  struct NetworkRates: Sendable {
    var loss: Double
    var answerLoss: Double
    var doubling: Double
    var pushLoss: Double
    /// The longest way of a message, in milliseconds.
    var longestDelay: Int
    /// The time after which a device stops waiting for an answer, in milliseconds.
    var timeout: Int
  }

  /// The faults and limits of the server.
  struct ServerRates: Sendable {
    var unavailable: Double
    var throttled: Double
    var refused: Double
    /// The probability that single items of a request fail.
    var partial: Double
    /// The longest time a device is asked to wait, in seconds.
    var longestRetryAfter: Int
    var itemLimit: Int
    var zonePage: Int
    var databasePage: Int
    /// The largest jump of the server's wall clock in either direction, in seconds.
    var clockJump: Int
  }

  /// The world that belongs to `random`'s seed.
  init(_ random: inout SeededRandom, shape: WorldShape) {
    self.init(drawing: &random, steps: shape.steps)
    for reduction in shape.reductions { reduction.apply(to: &self) }
  }

  private init(drawing random: inout SeededRandom, steps: Int) {
    deviceCount = random.number(in: 2...5)
    accountCount = random.number(in: 1...3)
    zoneCount = random.number(in: 1...3)
    recordsPerZone = random.number(in: 1...8)
    self.steps = steps
    // One world in ten is calm: what goes wrong there goes wrong without help.
    let isCalm = random.chance(0.1)
    network = NetworkRates(
      loss: Self.rate(&random, 0.3, isCalm), answerLoss: Self.rate(&random, 0.3, isCalm),
      doubling: Self.rate(&random, 0.5, isCalm), pushLoss: Self.rate(&random, 0.5, isCalm),
      longestDelay: random.pick([1, 50, 500, 5_000, 60_000, 3_600_000]),
      timeout: random.pick([1_000, 15_000, 60_000]))
    server = ServerRates(
      unavailable: Self.rate(&random, 0.2, isCalm), throttled: Self.rate(&random, 0.2, isCalm),
      refused: Self.rate(&random, 0.1, isCalm), partial: Self.rate(&random, 0.3, isCalm),
      longestRetryAfter: random.pick([1, 30, 600, 86_400]),
      itemLimit: random.pick([1, 2, 5, 100, 400]), zonePage: random.pick([1, 2, 5, 200]),
      databasePage: random.pick([1, 2, 200]),
      clockJump: random.chance(0.1) ? 1_000_000_000 : 0)
    actionRate = random.pick([0.01, 0.03, 0.1, 0.3])
    weights = [.edit: 30]
    weights[.delete] = random.pick([0, 2, 10, 20])
    weights[.manualFetch] = random.pick([0, 2, 5])
    weights[.manualSend] = random.pick([0, 2, 5])
    weights[.retryBlocked] = 2
    weights[.poke] = 2
    guard !isCalm else { return }
    let rare: [(WorldAction, Int)] = [
      (.deleteZone, 2), (.cancel, 5), (.crash, 10), (.offline, 5), (.account, 8),
      (.administration, 4), (.expiry, 8), (.serverRestart, 3), (.outage, 6), (.quota, 2),
    ]
    for (action, highest) in rare {
      weights[action] = random.chance(0.5) ? random.number(in: 1...highest) : 0
    }
  }

  /// One of `actions`, by the weights.
  func action(among actions: [WorldAction], _ random: inout SeededRandom) -> WorldAction {
    var choice = random.below(actions.reduce(0) { $0 + weights[$1, default: 0] })
    for action in actions {
      let weight = weights[action, default: 0]
      if choice < weight { return action }
      choice -= weight
    }
    return .edit
  }

  private static func rate(
    _ random: inout SeededRandom, _ highest: Double, _ isCalm: Bool
  ) -> Double {
    let rate = random.chance(0.5) ? random.fraction() * highest : 0
    return isCalm ? 0 : rate
  }
}

/// The kinds of actions of users and of the environment.
enum WorldAction: String, CaseIterable, Sendable {
  case edit, delete, deleteZone, manualFetch, manualSend, cancel, retryBlocked, crash, offline
  case account, administration, expiry, serverRestart, outage, quota
  /// The engine is called while the app handles an event; only in worlds of machines.
  case poke
}
