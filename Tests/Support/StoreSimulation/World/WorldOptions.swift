import LoopbackServer
import SimulationSupport

/// What a world is like as a whole.
struct WorldOptions: CustomStringConvertible {
  /// How many steps the time with faults takes.
  let steps: Int
  /// Whether engines work by themselves and pushes are followed.
  let isAutomatic: Bool
  /// Whether pushes arrive.
  let hasPushes: Bool
  /// Whether the accounts share something.
  let isShared: Bool
  /// How coarse the devices' wall clocks are, in seconds: coarse ones make equal dates.
  let clockGrain: Double
  /// How likely a step brings a fault of the server.
  let faultRate: Double
  /// What the server takes at once.
  let limits: ServerLimits

  init(_ random: inout SeededRandom, isShareable: Bool, isShort: Bool) {
    steps = random.number(in: isShort ? 8...24 : 20...80)
    isAutomatic = random.chance(0.4)
    hasPushes = random.chance(0.8)
    isShared = isShareable && random.chance(0.6)
    clockGrain = random.pick([0.001, 60, 600, 600])
    faultRate = random.pick([0, 0.15, 0.3, 0.6])
    var limits = ServerLimits()
    if random.chance(0.5) { limits.zoneChangesPage = random.number(in: 1...5) }
    if random.chance(0.2) { limits.itemsPerRequest = random.number(in: 2...6) }
    if random.chance(0.15) {
      limits.throttle = ServerLimits.Throttle(
        requests: random.number(in: 5...20), seconds: Double(random.number(in: 2...20)))
    }
    self.limits = limits
  }

  var description: String {
    "\(steps) steps, \(isAutomatic ? "automatic" : "by hand"), "
      + "\(hasPushes ? "pushes" : "no pushes"), \(isShared ? "shared, " : "")"
      + "clocks of \(clockGrain) s, faults \(faultRate), "
      + "pages of \(limits.zoneChangesPage), \(limits.itemsPerRequest) items a request"
      + (limits.throttle.map { ", throttled to \($0.requests) in \($0.seconds) s" } ?? "")
  }
}
