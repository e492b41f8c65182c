import CloudSyncTesting
import Foundation

/// Kills real processes while they write, again and again on the same files.
struct Kills {
  private let options: Options

  init(_ options: Options) { self.options = options }

  /// Answers whether nothing was lost.
  func run() async -> Bool {
    let sites = 16
    let rounds = (options.kills + sites - 1) / sites
    let results = await atOnce(options.jobs, of: sites) { number -> Result in
      var result = Result()
      do {
        let site = try Site(number % 2 == 0 ? "store" : "server")
        var random = SeededRandom(seed: UInt64(number))
        // One that ended by itself before it was killed does not count.
        var round = 0
        while site.killed < rounds, round < rounds * 3 {
          try site.run(round: round, killAfter: random.below(20_000))
          round += 1
          if round % 8 == 0 { site.look() }
        }
        site.look()
        result.kills = site.killed
        result.acknowledged = site.acknowledged.count
        result.violations = site.violations
      } catch {
        result.violations.append("no child can be run: \(error)")
      }
      return result
    }
    let violations = results.flatMap(\.violations)
    let kills = results.reduce(0) { $0 + $1.kills }
    print(
      "kills: \(kills) processes killed, \(results.reduce(0) { $0 + $1.acknowledged }) changes "
        + "acknowledged, \(violations.count) violations")
    for violation in violations.prefix(10) { print("  " + violation) }
    return violations.isEmpty && kills >= options.kills
  }

  private struct Result: Sendable {
    var kills = 0
    var acknowledged = 0
    var violations: [String] = []
  }
}
