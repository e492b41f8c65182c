import CommandLineKit
import Foundation
import VerificationSupport

/// What the command line asks for.
struct Options {
  /// What to run, in this order.
  var programmes = Programme.allCases
  /// How many scenarios the state store has in `images`; the server has a part of it.
  var seeds = 300
  /// How many times more scenarios the state store has: the server's cost a hundred times as much.
  static let serverShare = 40
  /// The first of them.
  var first: UInt64 = 0
  /// How many processes are killed.
  var kills = 2_000
  /// How many edits of several bytes are made in `damage`.
  var edits = 1_000_000
  /// How many things run at once.
  var jobs = ProcessInfo.processInfo.activeProcessorCount
  /// Whether to end at the first scenario that loses something; `images` and `failures` only.
  var endsAtViolation = false

  /// Reads the arguments after the command's name.
  init(_ arguments: inout Arguments) throws(UsageError) {
    seeds = try arguments.number("seeds", in: 1...1_000_000) ?? seeds
    first = try arguments.seed("from") ?? first
    kills = try arguments.number("kills", in: 1...1_000_000) ?? kills
    edits = try arguments.number("edits", in: 1...1_000_000_000) ?? edits
    jobs = try arguments.number("jobs", in: 1...64) ?? jobs
    endsAtViolation = arguments.flag("until-violation")
    var named: [Programme] = []
    while let word = arguments.word() {
      guard let programme = Programme(rawValue: word) else {
        throw UsageError("there is no programme \(printable(word))")
      }
      named.append(programme)
    }
    try arguments.end()
    if !named.isEmpty { programmes = named }
    if endsAtViolation, named.isEmpty || named.contains(where: { !$0.hasScenarios }) {
      throw UsageError("--until-violation is for images and failures, which have scenarios")
    }
  }
}
