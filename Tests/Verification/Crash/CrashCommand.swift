import CommandLineKit
import Foundation
import SimulationSupport
package import VerificationSupport

/// The command `crash` of the verification tool.
package let crashCommand: any VerificationCommand.Type = CrashCommand.self

/// Cuts the power, damages bytes and kills processes, and says what was found.
enum CrashCommand: VerificationCommand {
  static let name = "crash"
  static let summary = "power cuts, damaged bytes and killed processes"
  static let usage = helpText(PackageResources.help_txt)

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
