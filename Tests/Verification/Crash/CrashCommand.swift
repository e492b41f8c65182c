import CommandLineKit
import Foundation
import SQLite
import SimulationSupport
package import VerificationSupport

/// The command `crash` of the verification tool.
package let crashCommand: any VerificationCommand.Type = CrashCommand.self

/// Cuts the power, damages bytes and kills processes, and says what was found.
enum CrashCommand: VerificationCommand {
  static let name = "crash"
  static let summary = "power cuts, damaged bytes and killed processes"
  static let usage = """
    usage: cloudsync-verify crash [MODE...] [--seeds N] [--from S] [--kills N] [--edits N] [--jobs J]
           cloudsync-verify crash images|failures... --until-violation [--seeds N] [--from S]

    Modes, all of them when none is named:
      images    cuts the power behind every call of a simulated disk, and opens what is left
      failures  has every call of a simulated disk fail, once and for ever
      damage    changes bits, lengths and sectors of what is stored; nothing of it may go unseen
      kills     kills processes that write, and looks for what they said was safe
      calls     kills processes in the midst of a system call, or has the call fail (with strace)
      limits    fills a small disk (as root), and gives processes short files and few descriptors
    --seeds N   how many scenarios (300)
    --from S    the first one (0)
    --kills N   how many processes are killed (2000)
    --edits N   how many edits of several bytes (1000000)
    --jobs J    how much runs at once, 1 to 256 (one for each core)
    --until-violation  end at the first scenario that loses something; it is said before it begins
    Ends with 0 when nothing was lost, 1 when something was, 2 for a wrong command line.
    """

  static func run(_ arguments: inout Arguments) async throws -> Bool {
    SQLiteLibrary.countNoMemory()
    let options = try Options(&arguments)
    if options.seeds.endsAtViolation {
      return await options.seeds.runUntilViolation { seed in
        for mode in options.modes {
          if let violation = await mode.play(seed).violations.first { return violation }
        }
        return nil
      }
    }
    var isGood = true
    for mode in options.modes {
      isGood = try await mode.run(options) && isGood
    }
    return isGood
  }

  static func runChild(_ words: [String]) async -> Int32? {
    guard words.first == "child" else { return nil }
    guard words.count == 5, let role = ProcessRole(rawValue: words[1]),
      let round = Int(words[3]), let limit = Int(words[4])
    else { return 2 }
    let folder = URL(fileURLWithPath: words[2])
    do {
      try await role.write(in: folder, round: round, limit: limit)
      return 0
    } catch {
      return 1
    }
  }
}
