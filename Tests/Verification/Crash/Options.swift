import CommandLineKit
import VerificationSupport

/// The options of the command.
struct Options {
  /// The modes to run, in this order.
  var modes = CrashMode.allCases
  /// The scenarios of the state store in `images`; the server has a part of them.
  var seeds: SeedOptions
  /// The number of processes to kill.
  var kills = 2_000
  /// The number of random edits in `damage`.
  var edits = 1_000_000

  /// Reads the arguments after the command's name.
  init(_ arguments: inout Arguments) throws(UsageError) {
    seeds = try SeedOptions(&arguments, count: 300, most: 1_000_000)
    kills = try arguments.number("kills", in: 1...1_000_000) ?? kills
    edits = try arguments.number("edits", in: 1...1_000_000_000) ?? edits
    var named: [CrashMode] = []
    while let word = arguments.word() {
      guard let mode = CrashMode(rawValue: word) else {
        throw UsageError("there is no mode \(printable(word))")
      }
      named.append(mode)
    }
    try arguments.end()
    if !named.isEmpty { modes = named }
    if seeds.endsAtViolation, named.isEmpty || named.contains(where: { !$0.hasScenarios }) {
      throw UsageError("--until-violation is for images and failures, which have scenarios")
    }
  }
}
