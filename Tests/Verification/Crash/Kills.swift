import Foundation
import SimulationSupport
import VerificationSupport

/// Kills real processes while they write, again and again on the same files.
struct Kills {
  /// How long a process may write, in microseconds.
  private static let lifetime = 60_000
  /// Old files make slow openings: that many kills, and a new folder.
  private static let killsPerSite = 40
  private let options: Options

  init(_ options: Options) { self.options = options }

  /// Answers whether nothing was lost.
  func run() async -> Bool {
    let sites = max(2, (options.kills + Kills.killsPerSite - 1) / Kills.killsPerSite)
    let kills = options.kills
    let results = await atOnce(options.jobs, of: sites) { number -> Result in
      let share = kills * (number + 1) / sites - kills * number / sites
      return Kills.run(number, kills: share)
    }
    let violations = results.flatMap(\.violations)
    for role in ["store", "server"] {
      let own = results.filter { $0.role == role }
      conclude(
        "kills (\(role)): \(own.reduce(0) { $0 + $1.kills }) processes killed, "
          + "\(own.reduce(0) { $0 + $1.acknowledged }) changes acknowledged, "
          + "\(own.reduce(0) { $0 + $1.violations.count }) violations")
    }
    for violation in violations.prefix(10) { say("  " + violation) }
    return violations.isEmpty && results.reduce(0) { $0 + $1.kills } >= kills
  }

  private static func run(_ number: Int, kills: Int) -> Result {
    var result = Result(role: number % 2 == 0 ? "store" : "server")
    do {
      let site = try Site(result.role)
      var random = SeededRandom(seed: UInt64(number))
      // One that ended by itself before it was killed does not count.
      var round = 0
      while site.killed < kills, round < kills * 2 + 10 {
        try site.run(killAfter: random.below(lifetime))
        round += 1
        if round % 8 == 0 { site.look() }
      }
      site.look()
      result.kills = site.killed
      result.acknowledged = site.acknowledged.count
      result.violations = site.violations.map { "site \(number): \($0)" }
    } catch {
      result.violations.append("no child can be run: \(error)")
    }
    return result
  }

  private struct Result: Sendable {
    var role: String
    var kills = 0
    var acknowledged = 0
    var violations: [String] = []
  }
}
