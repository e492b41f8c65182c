import CommandLineKit
import VerificationSupport

/// What the command line asks for.
struct Options {
  /// What to run, in this order.
  var programmes = Programme.allCases
  /// The scenarios of the state store in `images`; the server has a part of them.
  var seeds: SeedOptions
  /// How many times more scenarios the state store has: the server's cost a hundred times as much.
  static let serverShare = 40
  /// How many processes are killed.
  var kills = 2_000
  /// How many edits of several bytes are made in `damage`.
  var edits = 1_000_000

  /// Reads the arguments after the command's name.
  init(_ arguments: inout Arguments) throws(UsageError) {
    seeds = try SeedOptions(&arguments, count: 300, most: 1_000_000)
    kills = try arguments.number("kills", in: 1...1_000_000) ?? kills
    edits = try arguments.number("edits", in: 1...1_000_000_000) ?? edits
    var named: [Programme] = []
    while let word = arguments.word() {
      guard let programme = Programme(rawValue: word) else {
        throw UsageError("there is no programme \(printable(word))")
      }
      named.append(programme)
    }
    try arguments.end()
    if !named.isEmpty { programmes = named }
    if seeds.endsAtViolation, named.isEmpty || named.contains(where: { !$0.hasScenarios }) {
      throw UsageError("--until-violation is for images and failures, which have scenarios")
    }
  }
}
