import Foundation
import SimulationSupport
import VerificationSupport

/// Kills processes while they write, again and again on the same files.
struct Kills {
  /// The longest time that a process may write, in microseconds.
  private static let lifetime = 60_000
  /// The number of kills before a new folder: old files take long to open.
  private static let killsPerFolder = 40
  private let options: Options

  init(_ options: Options) { self.options = options }

  /// Runs all processes; returns whether nothing was lost.
  func run() throws -> Bool {
    let count = max(2, (options.kills + Kills.killsPerFolder - 1) / Kills.killsPerFolder)
    var killed = 0
    var isGood = true
    for (index, role) in ["store", "server"].enumerated() {
      let cases = stride(from: index, to: count, by: 2).map { number in
        ProcessCase(
          role: role, story: "folder \(number)",
          detail: (
            seed: UInt64(number),
            kills: options.kills * (number + 1) / count - options.kills * number / count
          ))
      }
      let tally = try ProcessTally.of(cases, jobs: options.seeds.jobs) { each, files, tally in
        try Kills.run(files, each.detail.kills, SeededRandom(seed: each.detail.seed))
        tally.killed = files.killed
      }
      tally.report("kills (\(role)): \(tally.killed) processes killed")
      killed += tally.killed
      isGood = isGood && tally.violations.isEmpty
    }
    return isGood && killed >= options.kills
  }

  private static func run(_ files: ProcessFiles, _ kills: Int, _ choices: SeededRandom) throws {
    var random = choices
    // A process that ended by itself before it was killed does not count.
    var round = 0
    while files.killed < kills, round < kills * 2 + 10 {
      try files.run(killAfter: random.below(lifetime))
      round += 1
      if round % 8 == 0 { files.look() }
    }
    files.look()
  }
}
